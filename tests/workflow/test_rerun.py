"""The jobs that run again after an edit, as in the table of docs/architecture.md, and that make the same bytes."""

import copy
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from densevse.config.load import merge
from tests.cases import first_now
from tests.projects import ANOTHER_RATE, ROOT, SMALL, SMALL_ROUNDS, Project, job_counts
from tests.system.newcomer.toy import TOY
from tests.system.torture.trial import tables

TABLE = "results/tables/scenes.md"


def changed(finished: Project, values: dict, before: dict = SMALL) -> dict[str, int]:
    """The jobs that a run would start under another configuration; the old one is restored."""
    finished.configure(values)
    try:
        return finished.planned(TABLE)
    finally:
        finished.configure(before)


@contextmanager
def edit_of(finished: Project, file: str, old: str = "", new: str = "\nEDITED = True\n") -> Iterator[None]:
    """`old` becomes `new` in a file, or `new` is added to it; the edit is taken back."""
    path = finished.folder / file
    text, status = (path.read_text(), path.stat()) if path.exists() else ("", None)
    assert old in text, f"{file} does not hold {old!r}"
    path.write_text(text.replace(old, new, 1) if old else text + new)
    try:
        yield
    finally:
        if status:
            path.write_text(text)
            os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
        else:
            path.unlink()


def edited(finished: Project, *edit: str) -> dict[str, int]:
    """The jobs that a run would start after an edit."""
    with edit_of(finished, *edit):
        return finished.planned(TABLE)


def test_a_finished_run_has_nothing_to_do(finished):
    """Though its folder was moved and copied, and a module touched."""
    (finished.folder / "densevse/methods/vse.py").touch()
    assert finished.planned(TABLE) == {}


def test_a_learning_rate_reruns_training_and_what_follows(finished):
    assert changed(finished, ANOTHER_RATE) == {"train": 2, "retrieve": 2, "table": 1}


def test_a_parameter_of_one_variant_reruns_that_variant_only(finished):
    values = copy.deepcopy(SMALL)
    values["methods"]["vse"]["variants"] = {"vsepp": {"parameters": {"margin": 0.123}}}
    assert changed(finished, values) == {"train": 1, "retrieve": 1, "table": 1}


def test_a_networks_input_reruns_its_features_and_what_follows(finished):
    values = copy.deepcopy(SMALL)
    values["networks"] = {"scenes_net": {"size": 48}}
    assert changed(finished, values) == {"extract_features": 1, **TRAINING}


def test_a_title_reruns_only_the_table(finished):
    values = copy.deepcopy(SMALL)
    values["methods"]["vse"]["title"] = "Another name"
    assert changed(finished, values) == {"table": 1}


def test_another_data_sets_key_and_a_path_that_nothing_asks_for_rerun_nothing(finished):
    unused = {"word_vectors": {"glove": {"local": "/nowhere/glove.txt"}}}
    values = merge(SMALL, {"datasets": {"coco": {"minimum_word_count": 17}}, **unused})
    assert changed(finished, values) == {}


PUBLISHED = (ROOT / "config/published/vse.csv").read_text().splitlines()[0] + "\n"
NEW_FIELD = '    anything: int = Field(default=3, ge=1, description="what no code reads yet")\n'
NO_EFFECT = {
    "a comment in a module": ("snakeproof/logs.py", "", "\n# A comment.\n"),
    "the runner": ("workflow/scripts/job.py", "", "\nEDITED = True\n"),
    "a docstring": ("densevse/methods/vse.py", '"""VSE (', '"""The VSE ('),
    "formatting": ("densevse/methods/parts.py", "\n\n\ndef ", "\n\n\n\n\ndef "),
    "a schema of a new artifact": ("densevse/artifacts/schemas/anything.py", "", "ANYTHING = 1\n"),
    "published figures of another paper": ("config/published/another.csv", "", PUBLISHED),
    "a choice in a settings type": (
        "densevse/config/networks.py",
        '["probability", "class"]',
        '["probability", "class", "x"]',
    ),
    "a field of Training": ("densevse/config/training.py", "    batch_size: int", f"{NEW_FIELD}    batch_size: int"),
    "a field of Network": ("densevse/config/networks.py", "    batch_size: int", f"{NEW_FIELD}    batch_size: int"),
    "a field of Regions": ("densevse/config/networks.py", "    detections: int", f"{NEW_FIELD}    detections: int"),
    "a field of Dataset": ("densevse/config/datasets.py", "    shards: int", f"{NEW_FIELD}    shards: int"),
    "a licence": ("config/datasets/scenes.yaml", "licence: that", "licence: now that"),
    "a note in a network": ("config/networks/alexnet.yaml", "  note: only the", "  note: still only the"),
    "code of another stage": ("densevse/language/corenlp.py", "", "\nEDITED = True\n"),
    "code of another method": ("densevse/methods/hm_lstm.py", "", "\nEDITED = True\n"),
    "code of another reader": ("densevse/datasets/coco.py", "", "\nEDITED = True\n"),
    "code of another view": ("densevse/vision/views/grid.py", "", "\nEDITED = True\n"),
    "code of another structure": ("densevse/data/structures/trees.py", "", "\nEDITED = True\n"),
    "another architecture": ("densevse/vision/architectures/torchvision_classifiers.py", "", "\nEDITED = True\n"),
}
TRAINING = {"train": 2, "retrieve": 2, "table": 1}


def test_what_changes_no_result_reruns_nothing(finished):
    """All of it together, as a plan takes seconds."""
    with ExitStack() as edits:
        for edit in NO_EFFECT.values():
            edits.enter_context(edit_of(finished, *edit))
        assert finished.planned(TABLE) == {}


def test_an_equation_reruns_the_jobs_that_reach_it_and_those_after_them(finished):
    assert edited(finished, "densevse/methods/vse.py") == TRAINING
    assert edited(finished, "densevse/methods/parts.py") == TRAINING
    assert set(edited(finished, "densevse/report/results.py")) == {"table"}


def test_an_edited_stage_reruns_itself_and_those_after_it(finished):
    planned = edited(finished, "densevse/vision/extract.py")
    assert planned == {"extract_features": 1, **TRAINING}
    assert edited(finished, "densevse/vision/views/whole.py") == planned
    assert edited(finished, "densevse/data/structures/words.py") == TRAINING


def test_a_new_option_of_a_reader_and_a_new_parameter_of_a_method_rerun_their_jobs(finished):
    """They are given whole, so that none can be dropped in silence; fields of our own entries are listed."""
    reader = edited(finished, "densevse/config/readers.py", "    size: int", f"{NEW_FIELD}    size: int")
    assert {"make_scenes", "read_dataset"} <= reader.keys()
    method = edited(
        finished, "densevse/methods/parameters/vse.py", "    dimension: Length", f"{NEW_FIELD}    dimension: Length"
    )
    assert method == TRAINING


@pytest.mark.long
def test_a_changed_default_reruns_the_jobs_that_use_it(finished):
    file = "densevse/methods/parameters/vse.py"
    assert (
        edited(finished, file, "dropout: float = Field(default=0.0", "dropout: float = Field(default=0.1") == TRAINING
    )
    # Dimension is set for this data set, so that its default is used by no job; the table's foot names it.
    smaller = edited(finished, file, "dimension: Length = Field(default=1024", "dimension: Length = Field(default=512")
    assert smaller == {"table": 1}


def test_a_method_added_by_the_readme_s_steps_trains_itself_only(finished):
    """And stands in the tables that list it."""
    for name, text in TOY.items():
        (finished.folder / name).write_text(text)
    try:
        assert finished.planned(TABLE) == {}
        values = copy.deepcopy(SMALL)
        values["tables"]["scenes"]["measure"].append("toy")
        assert changed(finished, values) == {"train": 1, "retrieve": 1, "table": 1}
    finally:
        for name in TOY:
            (finished.folder / name).unlink()


def test_one_round_more_later_trains_one_round_more_only(finished_rounds):
    more = copy.deepcopy(SMALL_ROUNDS)
    more["methods"]["hm_lstm"]["datasets"]["scenes"]["rounds"] += [["phrases"]]
    planned = changed(finished_rounds, more, SMALL_ROUNDS)
    assert planned == {"correspond": 1, "train_round": 1, "retrieve": 1, "table": 1}


ABSENT = {
    "weights": ("/nowhere/none.pth", {"networks": {"scenes_net": {"local": "/nowhere/none.pth"}}}),
    "another network": (
        "networks.squeezenet1_0.local: /nowhere/none.pth is not there",
        {
            "networks": {"squeezenet1_0": {"local": "/nowhere/none.pth"}},
            "datasets": {"scenes": {"networks": {"whole": "squeezenet1_0"}}},
        },
    ),
    "a source": ("datasets.scenes.local.scenes: /nowhere", {"datasets": {"scenes": {"local": {"scenes": "/nowhere"}}}}),
    "a file among results that no rule makes": (
        "datasets.scenes.local.scenes: results/scenes/scene.zip",
        {"datasets": {"scenes": {"local": {"scenes": "results/scenes/scene.zip"}}}},
    ),
    "a file among downloads that no rule makes": (
        "datasets.scenes.local.scenes: resources/scenes/scene.zip",
        {"datasets": {"scenes": {"local": {"scenes": "resources/scenes/scene.zip"}}}},
    ),
}


@pytest.mark.parametrize("what", first_now(ABSENT))
def test_a_path_that_is_not_there_is_named_though_its_outputs_are(finished, what):
    """Snakemake would drop the jobs that read it, and leave the old results under the new name."""
    message, changes = ABSENT[what]
    finished.configure(merge(SMALL, changes))
    try:
        status, text = finished.plan(TABLE)
    finally:
        finished.configure(SMALL)
    assert status != 0
    assert message in text
    assert "is not there" in text


def test_a_round_that_the_method_does_not_have_is_refused(finished_rounds):
    status, text = finished_rounds.plan("results/scenes/models/hm_lstm/seed0/round9/model.safetensors")
    assert status != 0
    assert "hm_lstm has the rounds 0 to 2 on scenes, and no round 9" in text


def test_neither_cores_nor_shards_change_a_byte_of_a_table(finished_rounds, make_project):
    in_three = copy.deepcopy(SMALL_ROUNDS)
    in_three["datasets"]["scenes"]["shards"] = 3
    project = make_project(in_three)
    names = [f"results/tables/{name}" for name in tables(finished_rounds) if name.endswith(".md")]
    jobs = job_counts(project.run("--cores=1", *names).stdout)
    assert (jobs["extract_features"], jobs["extract_regions"], jobs["parse_by_grammar"]) == (3, 3, 3)
    assert tables(project) == tables(finished_rounds)
