"""Given rows as entries of the configuration: their forms, and the mistakes that are reported by their path."""

import re
from pathlib import Path

import pytest

from densevse.config.load import load
from densevse.config.sources import own_paths
from snakeproof.errors import InputError

CONFIG = Path(__file__).parents[2] / "config"
LEFT = "methods.mine.given.similarity: it is required for vectors"
VECTORS = {"images": "i.npy", "sentences": "s.npy", "similarity": "dot"}


def row(**values):
    return load(CONFIG, {"methods": {"mine": values}}).given_rows()["mine"]


def test_a_file_alone_is_that_of_one_seed_and_several_are_those_of_several():
    assert row(given={"scores": "a.npy"}).given.files(0) == {"scores": "a.npy"}
    several = row(given={**VECTORS, "images": ["a.npy", "b.npy"], "sentences": ["c.npy", "d.npy"]}).given
    assert several.seeds == [0, 1]
    assert several.files(1) == {"images": "b.npy", "sentences": "d.npy"}


def test_a_data_set_may_have_files_of_its_own():
    found = row(given={"scores": "a.npy"}, datasets={"coco": {"given": {**VECTORS, "image_ids": "ids.txt"}}})
    assert found.dataset_files("flickr8k").files(0) == {"scores": "a.npy"}
    assert found.dataset_files("coco").files(0) == {"images": "i.npy", "sentences": "s.npy", "image_ids": "ids.txt"}
    paths = [
        ("mine.given.scores", "a.npy"),
        ("mine.datasets.coco.given.images", "i.npy"),
        ("mine.datasets.coco.given.image_ids", "ids.txt"),
    ]
    assert set(paths) < set(own_paths(found, "mine"))


def write_files(folder, **contents):
    for name, content in contents.items():
        Path(folder, f"{name}.npy").write_bytes(content)


@pytest.mark.parametrize(
    "files",
    [
        {"scores": ["a.npy", "b.npy", "c.npy"]},
        {"scores": ["a.npy", "missing.npy", "missing2.npy"]},
        {"i2t": ["a.npy", "a.npy"], "t2i": ["b.npy", "c.npy"]},
        {**VECTORS, "images": ["a.npy"] * 3, "sentences": ["a.npy", "b.npy", "c.npy"]},
        {**VECTORS, "images": ["a.npy", "copy.npy"], "sentences": ["b.npy", "c.npy"]},
    ],
)
def test_seeds_of_which_one_file_differs_are_different(tmp_path, monkeypatch, files):
    monkeypatch.chdir(tmp_path)
    write_files(tmp_path, a=b"one", copy=b"one", b=b"two", c=b"three")
    assert row(given=files).given.seeds == list(
        range(len(files.get("scores") or files.get("t2i") or files["sentences"]))
    )


@pytest.mark.parametrize(
    ("files", "which"),
    [
        ({"scores": ["a.npy", "a.npy", "a.npy"]}, "0 and 1"),
        ({"scores": ["a.npy", "b.npy", "copy.npy"]}, "0 and 2"),
        ({"scores": ["missing.npy", "b.npy", "./missing.npy"]}, "0 and 2"),
        ({"i2t": ["a.npy", "copy.npy"], "t2i": ["b.npy", "b.npy"]}, "0 and 1"),
        ({**VECTORS, "images": ["c.npy", "a.npy", "copy.npy"], "sentences": ["c.npy", "b.npy", "b.npy"]}, "1 and 2"),
    ],
)
def test_seeds_with_the_same_contents_are_refused(tmp_path, monkeypatch, files, which):
    monkeypatch.chdir(tmp_path)
    write_files(tmp_path, a=b"one", copy=b"one", b=b"two", c=b"three")
    for where, values in (
        ("given", {"given": files}),
        ("datasets.coco.given", {"given": VECTORS, "datasets": {"coco": {"given": files}}}),
    ):
        with pytest.raises(InputError, match=rf"methods\.mine\.{where}: seeds {which} have the same contents: "):
            row(**values)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"given": {}}, "methods.mine.given: found no matrix; give scores, or i2t and t2i, or images and sentences"),
        ({"given": {"scores": "a.npy", "i2t": "b.npy"}}, "methods.mine.given: found scores and i2t; give"),
        ({"given": {"i2t": "b.npy"}}, "methods.mine.given: found i2t; give"),
        ({"given": {"scores": []}}, "methods.mine.given.scores: List should have at least 1 item"),
        ({"given": {"scores": "https://x.org/a.npy"}}, "methods.mine.given.scores.0: 'https://x.org/a.npy' is an"),
        ({"given": {"scoress": "a.npy"}}, "methods.mine.given.scoress: there is no such key; is 'scores' meant?"),
        ({"given": VECTORS | {"sentences": ["a.npy", "b.npy"]}}, "given.sentences: as many files are needed"),
        ({"given": VECTORS | {"similarity": None}}, LEFT),
        ({"given": {"scores": "a.npy", "similarity": "dot"}}, LEFT),
        ({"given": VECTORS | {"unscored": "nan"}}, "methods.mine.given.unscored: with vectors every pair has a score"),
        ({"given": VECTORS | {"copies": 0}}, "methods.mine.given.copies: Input should be greater"),
        ({"given": VECTORS, "views": ["whole"]}, "methods.mine.views: there is no such key"),
        ({"given": VECTORS, "datasets": {"x": {"given": VECTORS}}}, "methods.mine.datasets: no 'x'; known: coco"),
        ({"title": "Mine"}, "a new one needs the keys title, model, views, training, or given"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_by_its_path(values, message):
    with pytest.raises(InputError, match=re.escape(message)):
        row(**values)


def test_a_given_row_has_a_name_of_its_own():
    with pytest.raises(InputError, match="methods: vsepp and vsepp would share"):
        load(CONFIG, {"methods": {"vsepp": {"given": VECTORS}}})
