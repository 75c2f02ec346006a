"""The user's files: spelled in another way, missing, replaced by older ones, and their names; and downloads."""

import copy
import functools
import http.server
import json
import os
import shutil
import threading
from contextlib import contextmanager
from random import Random

import pytest
import torch
import torchvision

from tests.cases import first_now
from tests.projects import Project, without_power_over_permissions
from tests.system.newcomer.mornings import add_photographs, configuration

IMAGES, WORDS = "results/mine/images.parquet", "results/mine/vocabulary/words.parquet"
FEATURES = "results/mine/features/squeezenet1_0/whole/0-of-1.parquet"
VECTORS = "results/mine/vocabulary/vectors-mine.parquet"
TARGETS = (FEATURES, VECTORS)
TEXTS = {"read_dataset": 1, "tokenize_captions": 1, "count_words": 1, "pick_word_vectors": 1}


def settings() -> dict:
    values = configuration()
    values["datasets"]["mine"]["networks"] = {"whole": "squeezenet1_0"}
    values["networks"] = {"squeezenet1_0": {"local": "mine/squeezenet.pth"}}
    values["word_vectors"] = {"mine": {"format": "glove", "local": "mine/vectors.txt", "dimension": 2}}
    values["datasets"]["mine"]["word_vectors"] = "mine"
    return values


@pytest.fixture(scope="module")
def project(make_project):
    """A finished project with a user's photographs, sentences, weights and word vectors."""
    project, random = make_project(settings()), Random(0)
    folder = project.folder / "mine"
    for part in ("photographs", "texts"):
        (folder / part).mkdir(parents=True)
    (folder / "texts/sentences.txt").touch()
    for split in ("train", "val", "test"):
        add_photographs(folder, split, 4, random)
    torch.manual_seed(0)
    torch.save(torchvision.models.squeezenet1_0().state_dict(), folder / "squeezenet.pth")
    (folder / "vectors.txt").write_text("a 1 2\nstands 3 4\n")
    project.run(*TARGETS)
    return project


def planned(project: Project, values: dict) -> dict[str, int]:
    project.configure(values)
    try:
        return project.planned(*TARGETS)
    finally:
        project.configure(settings())


def refusal(project: Project, values: dict, *targets: str) -> str:
    project.configure(values)
    try:
        status, text = project.plan(*targets or TARGETS)
    finally:
        project.configure(settings())
    assert status != 0, text
    return text


def with_paths(
    images: str = "mine/photographs", weights: str = "mine/squeezenet.pth", vectors: str = "mine/vectors.txt"
):
    values = settings()
    values["datasets"]["mine"]["local"]["images"] = images
    values["networks"]["squeezenet1_0"]["local"] = weights
    values["word_vectors"]["mine"]["local"] = vectors
    return values


@pytest.mark.parametrize("spelling", first_now(["nowhere/..//mine/./{}", "/{here}//mine/{}"]))
def test_another_spelling_of_the_same_path_runs_nothing_again(project, spelling):
    names = [spelling.format(name, here=project.folder) for name in ("photographs", "squeezenet.pth", "vectors.txt")]
    assert planned(project, with_paths(f"{names[0]}/", *names[1:])) == {}


def test_a_missing_path_is_refused_by_its_key_after_a_finished_run(project):
    for key, values in {
        "networks.squeezenet1_0.local": with_paths(weights="/nowhere//none.pth"),
        "datasets.mine.local.images": with_paths(images="/x/../none/./"),
        "word_vectors.mine.local": with_paths(vectors="a//none"),
    }.items():
        text = refusal(project, values)
        assert f"{key}: " in text
        assert "is not there" in text


def test_a_folder_that_holds_the_results_is_refused(project):
    assert "datasets.mine.local.images: . contains" in refusal(project, with_paths(images="."))


@contextmanager
def replaced(project: Project, name: str, content: bytes):
    """Another file, dated long ago, in the place of one; and it again."""
    path, kept = project.folder / "mine" / name, project.folder / "kept"
    path.rename(kept)
    path.write_bytes(content)
    os.utime(path, (10**9, 10**9))
    yield
    kept.replace(path)


REPLACED = {
    "a photograph": ("photographs/0.jpg", {**TEXTS, "extract_features": 1}),
    "a sentence": ("texts/sentences.txt", {**TEXTS, "extract_features": 1}),
    "weights": ("squeezenet.pth", {"extract_features": 1}),
    "word vectors": ("vectors.txt", {"pick_word_vectors": 1}),
}


@pytest.mark.parametrize("what", first_now(REPLACED))
def test_a_file_that_an_older_one_replaces_runs_again_what_reads_it(project, what):
    name, jobs = REPLACED[what]
    content = (project.folder / "mine" / name).read_bytes()
    with replaced(project, name, content[:-1] + b"?"):
        assert project.planned(*TARGETS) == jobs


def test_a_file_that_is_touched_copied_or_dated_in_the_future_runs_nothing_again(project):
    for name, _ in REPLACED.values():
        path = project.folder / "mine" / name
        shutil.copy(path, project.folder / "copy")
        (project.folder / "copy").replace(path)
        os.utime(path, (2**32, 2**32))
    (project.folder / "mine/photographs/.DS_Store").touch()
    assert project.planned(*TARGETS) == {}


@pytest.fixture
def copy_of(project, tmp_path):
    return project.copy(tmp_path / "copy", settings())


@pytest.mark.long
def test_features_are_computed_again_only_for_other_photographs(copy_of):
    """Snakemake's own comparison of small files is off, as it is for the tables of large data sets."""
    features, log = (copy_of.folder / name for name in (FEATURES, "results/logs/extract_features"))
    sentences, photograph = copy_of.folder / "mine/texts/sentences.txt", copy_of.folder / "mine/photographs/0.jpg"

    def inode_after(edit) -> int:
        edit()
        done = copy_of.run("--max-checksum-file-size=0", *TARGETS)
        assert "whole features of mine" in done.stdout
        assert copy_of.planned(*TARGETS) == {}
        assert not (copy_of.folder / "results/.aside").exists()
        return features.stat().st_ino

    first = features.stat().st_ino
    text = sentences.read_text()
    assert inode_after(lambda: sentences.write_text(text.replace("stands", "sits"))) == first
    assert "Nothing to compute" in next(log.iterdir()).read_text()
    assert inode_after(lambda: shutil.copy(photograph.with_name("1.jpg"), photograph)) != first
    assert "Nothing to compute" not in next(log.iterdir()).read_text()


@pytest.mark.long
def test_without_what_is_kept_in_snakemake_s_folder_nothing_runs_again(project):
    shutil.rmtree(project.folder / ".snakemake")
    assert project.planned(*TARGETS) == {}


def test_names_in_a_folder_may_be_anything(project):
    strays = [project.folder / "mine/texts" / name for name in ("{old}.txt", "{dataset}", "it's a & b.txt")]
    for path in strays:
        path.write_text("stray")
    assert "read_dataset" in project.planned(*TARGETS)
    for path in strays:
        path.unlink()


def test_a_key_that_stands_twice_in_a_file_is_refused(project):
    text = json.dumps(settings())
    (project.folder / "test.yaml").write_text(f'{text[:-1]},\n\t"tables": {{}}}}')
    try:
        status, output = project.plan(*TARGETS)
        assert status != 0
        assert "test.yaml: the key 'tables' occurs twice, in lines 1 and 2" in output
        (project.folder / "test.yaml").write_text("datasets:\n  mine:\n    shards: 1\n\ndatasets: {}\n")
        status, output = project.plan(*TARGETS)
        assert status != 0
        assert "test.yaml: the key 'datasets' occurs twice, in lines 1 and 5" in output
    finally:
        project.configure(settings())


@pytest.mark.long
def test_results_may_lie_in_a_folder_whose_name_is_parted(project):
    values = copy.deepcopy(settings())
    values["results"] = "my results, it's"
    project.configure(values)
    try:
        project.run(f"my results, it's/{IMAGES.partition('/')[2]}")
    finally:
        project.configure(settings())


OBTAINED = "resources/flickr8k/texts.zip"


@pytest.fixture
def address(tmp_path):
    """The address of a folder, tmp_path/served, on this machine."""
    (tmp_path / "served").mkdir()
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=tmp_path / "served")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.long
@pytest.mark.skipif(not (os.geteuid() or shutil.which("setpriv")), reason="root may write everywhere; no setpriv here")
def test_a_download_outlives_delete_all_output_and_is_obtained_anew_on_purpose(make_project, tmp_path, address):
    served = tmp_path / "served/texts.zip"
    served.write_bytes(b"first")
    unknown = dict.fromkeys(("size", "md5", "sha256", "sha1", "manual"))
    source = {**unknown, "file": "texts.zip", "url": f"{address}/texts.zip"}
    project = make_project({"datasets": {"flickr8k": {"sources": {"text": source}}}})
    path = project.folder / OBTAINED
    project.run(OBTAINED)
    assert path.stat().st_mode & 0o222 == 0

    served.write_bytes(b"second")
    done = project.run("--delete-all-output", OBTAINED, through=without_power_over_permissions)
    assert "Skipping write-protected file" in done.stdout
    assert path.read_bytes() == b"first"

    path.chmod(0o644)
    path.unlink()
    record = path.with_name("texts.zip.obtained.json")
    refused = project.run(OBTAINED, check=False)
    assert refused.returncode
    assert record.name in refused.stdout
    record.unlink()
    project.run(OBTAINED)
    assert path.read_bytes() == b"second"
