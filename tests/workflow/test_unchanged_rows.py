"""Edits that change no row of a data set end in the same table, and train nothing again.

Each used to end every later run with an error, as a table compared its copies of the settings of all ancestors.
"""

import csv
import shutil
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
import pytest

from snakeproof.seals import verify_file
from tests.projects import Project

SPLITS = {"train": 24, "val": 8, "test": 8}
NAMES = [f"{split}{number}.png" for split, count in SPLITS.items() for number in range(count)]
TABLE, NUMBERS, MODEL = "results/tables/mine.md", "results/tables/mine.csv", "results/mine/models/vse/seed0/round0"
FEATURES = "results/mine/features/scenes_net/whole/00-of-01.parquet"

pytestmark = pytest.mark.long


def settings(network: dict | None = None, images: str = "photographs", dataset: dict | None = None, **options) -> dict:
    mine = {
        "title": "Mine",
        "reader": "pairs",
        "options": {"image": "file", "sentence": "text", "split": "split", **options},
        "local": {"images": images, "pairs": "pairs.csv"},
        "networks": {"whole": "scenes_net"},
        "parser": "grammar",
        "word_vectors": None,
        **(dataset or {}),
    }
    sizes = {"dimension": 8, "word_dimension": 8}
    method = {"parameters": sizes, "rounds": [["main"]], "phases": {"main": {"epochs": 1}}}
    return {
        "datasets": {"mine": mine},
        "methods": {"vse": {"datasets": {"mine": method}}},
        "tables": {"mine": {"title": "Mine", "measure": ["vse"], "sections": [{"dataset": "mine"}]}},
        "networks": {"scenes_net": network or {}},
    }


def write_pairs(project: Project, quoting: int = csv.QUOTE_MINIMAL, delimiter: str = ",") -> None:
    with open(project.folder / "pairs.csv", "w", newline="") as file:
        rows = csv.writer(file, quoting=quoting, delimiter=delimiter)
        rows.writerow(["file", "text", "split"])
        for number, name in enumerate(NAMES):
            split = next(split for split in SPLITS if name.startswith(split))
            rows.writerow([name, f"a {('red', 'blue')[number % 2]} thing number {number}", split])


def write_picture(path: Path, number: int) -> None:
    cv2.imwrite(str(path), np.random.default_rng(number).integers(0, 256, (64, 64, 3), np.uint8))


@pytest.fixture(scope="module")
def made(make_project):
    project = make_project(settings())
    (project.folder / "photographs").mkdir()
    for number, name in enumerate(NAMES):
        write_picture(project.folder / "photographs" / name, number)
    write_pairs(project)
    project.run(TABLE)
    return project


def add_photograph(project: Project) -> None:
    write_picture(project.folder / "photographs/of_no_split.png", 99)


def quote_everything(project: Project) -> None:
    write_pairs(project, csv.QUOTE_ALL)


def zip_photographs(project: Project) -> None:
    shutil.make_archive(str(project.folder / "zipped"), "zip", project.folder / "photographs")
    project.configure(settings(images="zipped.zip"))


def configure(**changes) -> Callable[[Project], None]:
    return lambda project: project.configure(settings(**changes))


def add_option(project: Project) -> None:
    """As after an upgrade whose reader has one more option with a default."""
    path = project.folder / "densevse/config/readers.py"
    text, place = path.read_text(), '    format: Literal["csv", "json_lines", "parquet"] | None = Field(\n'
    assert text.count(place) == 1
    path.write_text(text.replace(place, f"    added_since: bool = False\n{place}"))


EDITS = {
    "photograph": (add_photograph, True),
    "quoting": (quote_everything, True),
    "zip": (zip_photographs, True),
    "format": (configure(format="csv"), True),
    "delimiter": (configure(delimiter=","), True),
    "known_unreadable": (configure(dataset={"known_unreadable": ["of_no_split.png"]}), True),
    "only_available": (configure(dataset={"only_available": True}), True),
    "batch_size": (configure(network={"batch_size": 192}), False),
    "option": (add_option, True),
}


@pytest.mark.parametrize(("edit", "reads_again"), EDITS.values(), ids=EDITS)
def test_an_edit_without_effect_ends_in_the_same_table(made, tmp_path, edit, reads_again):
    project = made.copy(tmp_path / "project", settings())
    before = (project.folder / NUMBERS).read_bytes(), verify_file(project.folder / MODEL / "model.safetensors")
    trained = (project.folder / MODEL / "model.safetensors").stat().st_ino
    edit(project)
    assert ("read_dataset" in project.planned(TABLE)) is reads_again
    project.run(TABLE)
    if edit is EDITS["batch_size"][0] and verify_file(project.folder / FEATURES) != verify_file(made.folder / FEATURES):
        pytest.skip("with another batch size the vectors have other last bits on this processor")
    after = (project.folder / NUMBERS).read_bytes(), verify_file(project.folder / MODEL / "model.safetensors")
    assert after == before
    assert (project.folder / MODEL / "model.safetensors").stat().st_ino == trained
    assert project.planned(TABLE) == {}
