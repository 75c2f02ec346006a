"""The actions of a newcomer on four mornings: refused mistakes, reruns, and the table's contents.

A morning is a generator that yields what was just done; each step asserts its expected result.
"""

import copy
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random

import numpy as np
import pandas as pd
import torch
import torchvision
from PIL import Image

from densevse.config.load import merge
from tests.projects import ANOTHER_RATE, SMALL, Project, job_counts
from tests.system.newcomer.toy import TOY

TRAINING = {"train": 2, "retrieve": 2, "table": 1}
SCENES = "results/tables/scenes.md"


def refused(project: Project, table: str, message: str) -> None:
    """Both a dry run and a run end with this message, and change no table."""
    before = contents(project)
    status, text = project.plan(table)
    done = project.run(table, check=False)
    assert status
    assert done.returncode
    assert message in text
    assert message in done.stdout
    assert contents(project) == before


def runs(project: Project, table: str, jobs: dict[str, int]) -> None:
    """Exactly these jobs run, and then nothing is left to do."""
    assert job_counts(project.run(table).stdout) == jobs
    assert project.planned(table) == {}


def contents(project: Project) -> dict[str, bytes]:
    """Name -> bytes of every table."""
    return {path.name: path.read_bytes() for path in (project.folder / "results/tables").glob("*")}


def metrics(project: Project, table: str) -> dict[str, list[float]]:
    """Variant -> recalls of a table's measured rows."""
    rows = pd.read_parquet((project.folder / table).with_suffix(".parquet"))
    rows = rows[rows["kind"] == "measured"].set_index("variant")
    return {name: row.tolist() for name, row in rows.filter(regex=r"_r\d+$|rsum$").iterrows()}


# --- a data set of one's own -----------------------------------------------------------------------------------------

TABLE = "results/tables/mine.md"
THINGS = ("dog", "cat", "house", "boat", "tree")


def own_data_set(project: Project, seed: int) -> Iterator[str]:
    """A newcomer's own photographs and sentences, as in docs/data_sets.md, with a mistake first."""
    random, folder = Random(seed), project.folder / "mine"
    for part in ("photographs", "texts"):
        (folder / part).mkdir(parents=True)
    (folder / "texts/sentences.txt").touch()
    for split, count in (("train", 16), ("val", 4), ("test", 4)):
        add_photographs(folder, split, count, random)
    torch.save(torchvision.models.squeezenet1_0().state_dict(), folder / "squeezenet.pth")
    right = configuration()
    path, value, message = random.choice(MISTAKES)
    wrong = copy.deepcopy(right)
    place = wrong
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    project.configure(wrong)
    refused(project, TABLE, message)
    yield f"a mistake was refused: {message}"

    project.configure(right)
    first = {"read_dataset": 1, "tokenize_captions": 1, "count_words": 1, "extract_features": 1, **TRAINING}
    assert project.planned(TABLE) == {**first, "choose_precision": 1}
    yield "the plan was looked at"

    runs(project, TABLE, {**first, "choose_precision": 1})
    text = (project.folder / TABLE).read_text()
    assert "# My photographs" in text
    assert "16 training images that can be read; 4 ranked" in text
    assert "network of whole: squeezenet1_0" in text
    yield "the table was made"

    add_photographs(folder, "train", 3, random)
    runs(project, TABLE, first)
    assert "19 training images that can be read; 4 ranked" in (project.folder / TABLE).read_text()
    yield "three photographs more"

    sentences = folder / "texts/sentences.txt"
    sentences.write_text(sentences.read_text().replace("stands", "stood"))
    runs(project, TABLE, first)
    words = pd.read_parquet(project.folder / "results/mine/vocabulary/words.parquet")["word"].tolist()
    assert "stood" in words
    assert "stands" not in words
    yield "another word in the sentences"


def five_commands(project: Project, seed: int) -> Iterator[str]:
    """A table of 60 photographs of one's own in an empty folder without network: each command is printed before."""
    random, folder = Random(seed), project.folder.parent / f"stranger-{seed}"
    (folder / "photographs").mkdir(parents=True)
    rows = ["filename,caption"]
    for number in range(60):
        noise = np.random.default_rng(random.randrange(2**32)).integers(0, 255, (48, 64, 3), dtype=np.uint8)
        Image.fromarray(noise).save(folder / f"photographs/{number}.jpg")
        rows += [f"{number}.jpg,a {random.choice(THINGS)} stands at place {number % 7}" for _ in range(5)]
    (folder / "captions.csv").write_text("\n".join(rows))
    torch.save(torchvision.models.squeezenet1_0().state_dict(), folder / "squeezenet1_0.pth")

    told = typed("densevse new photographs captions.csv --weights squeezenet1_0.pth", folder, project)
    plan, run, show = (line.strip() for line in told.partition("Next:\n")[2].splitlines())
    assert "60 photographs (48 train, 6 val, 6 test), 300 sentences." in told
    assert "First write there the mean and std of your weights" in told
    typed("sed -i 's/write the mean of.*/[.5, .5, .5]/; s/write the std of.*/[.2, .2, .2]/' mine.yaml", folder, project)
    yield "a configuration was written"

    costs = typed(plan, folder, project)
    assert "core minutes" in costs
    assert "assumed" not in costs
    assert "To download" not in costs
    yield "the plan was looked at"

    typed(run, folder, project)
    table = typed(show, folder, project)
    assert "mine: 48 training images that can be read; 6 ranked." in table
    assert "network of whole: squeezenet1_0" in table
    yield "the table was made"


def typed(command: str, folder: Path, project: Project) -> str:
    """What a command prints in a folder, where no address can be reached; raises if it fails."""
    nowhere = dict.fromkeys(("http_proxy", "https_proxy"), "http://127.0.0.1:9")
    environment = {**os.environ, **nowhere, "PYTHONPATH": str(project.folder)}
    command = re.sub("^densevse", f"{shlex.quote(sys.executable)} -m densevse", command)
    done = subprocess.run(command, shell=True, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


def add_photographs(folder: Path, split: str, count: int, random: Random) -> None:
    """Photographs of noise, each with two sentences; files that are there already are written on."""
    begin = len(list((folder / "photographs").iterdir()))
    for number in range(begin, begin + count):
        noise = np.random.default_rng(random.randrange(2**32)).integers(0, 255, (48, 64, 3), dtype=np.uint8)
        Image.fromarray(noise).save(folder / f"photographs/{number}.jpg")
        with open(folder / "texts/sentences.txt", "a") as file:
            file.writelines(f"{number}.jpg#{i}\tA {random.choice(THINGS)} stands here .\n" for i in range(2))
        with open(folder / f"texts/{split}.txt", "a") as file:
            file.write(f"{number}.jpg\n")


def configuration() -> dict:
    dataset = {
        "title": "My photographs",
        "reader": "flickr",
        "local": {"images": "mine/photographs", "text": "mine/texts"},
        "options": {"captions": "sentences.txt", "splits": {s: f"{s}.txt" for s in ("train", "val", "test")}},
        "networks": {"whole": "squeezenet1_0"},
        "word_vectors": None,
    }
    table = {"title": "My photographs", "sections": [{"dataset": "mine"}], "measure": ["vse", "vsepp"]}
    small = copy.deepcopy(SMALL["methods"]["vse"])
    small["datasets"]["mine"] = small["datasets"].pop("scenes")
    small["variants"]["vsepp"]["datasets"]["mine"] = small["variants"]["vsepp"]["datasets"].pop("scenes")
    return {
        "datasets": {"mine": dataset},
        "tables": {"mine": table},
        "networks": {"squeezenet1_0": {"local": "mine/squeezenet.pth"}},
        "methods": {"vse": small},
    }


MISTAKES = (
    (("datasets", "mine", "locals"), {}, "datasets.mine.locals"),
    (("datasets", "mine", "local", "text"), "mine/text", "datasets.mine.local.text: mine/text is not there"),
    (("networks", "squeezenet1_0", "local"), "net.pth", "networks.squeezenet1_0.local: net.pth is not there"),
    (("datasets", "mine", "networks", "whole"), "squeezenet", "datasets.mine.networks.whole: no 'squeezenet'"),
    (("datasets", "mine", "reader"), "flicker", "datasets.mine.reader"),
    (("tables", "mine", "measure"), ["vse++"], "tables.mine.measure"),
)


# --- a new method ----------------------------------------------------------------------------------------------------


def new_method(project: Project, seed: int) -> Iterator[str]:
    """A newcomer's own method, by the steps of docs/methods.md, in a project whose table of scenes is made."""
    before = metrics(project, SCENES)
    for name, text in TOY.items():
        (project.folder / name).write_text(text)
    assert project.planned(SCENES) == {}
    yield "a method that no table lists reruns nothing"

    listed = merge(SMALL, {"tables": {"scenes": {"measure": [*SMALL["tables"]["scenes"]["measure"], "toy"]}}})
    project.configure(listed)
    runs(project, SCENES, {"train": 1, "retrieve": 1, "table": 1})
    after = metrics(project, SCENES)
    assert after.keys() == {*before, "toy"}
    assert {name: after[name] for name in before} == before
    yield "it stands in the table, and the other rows are as they were"

    value = Random(seed).choice((-1, "0.2", None, float("nan")))
    project.configure(merge(listed, {"methods": {"toy": {"parameters": {"margin": value}}}}))
    refused(project, SCENES, "methods.toy.parameters.margin")
    project.configure(listed)
    yield "a margin that cannot be was refused"

    path = project.folder / "densevse/methods/toy.py"
    path.write_text(path.read_text().replace("functional.normalize(self.image", "functional.tanh(self.image"))
    runs(project, SCENES, {"train": 1, "retrieve": 1, "table": 1})
    again = metrics(project, SCENES)
    assert {name: again[name] for name in before} == before
    yield "another equation reran the method alone"


# --- a changed configuration -----------------------------------------------------------------------------------------

MISSING = {"networks": {"scenes_net": {"local": "weights.pth"}}}
CHANGES = (
    ({"methods": {"vse": {"title": "Mine"}}}, {"table": 1}, "| Mine "),
    (ANOTHER_RATE, TRAINING, "| VSE++ "),
    ({"datasets": {"scenes": {"seeds": [3]}}}, TRAINING, "- Scenes, seed 3: vse, vsepp."),
    ({"datasets": {"scenes": {"shards": 2}}}, {"extract_features": 2, **TRAINING}, "| VSE++ "),
    ({"tables": {"scenes": {"measure": ["vse"]}}}, {"table": 1}, "- Scenes, seed 0: vse."),
)


def changed_configuration(project: Project, seed: int) -> Iterator[str]:
    """Changes after a finished run, in an order drawn from the seed; the first table comes back in the end."""
    first = contents(project)
    project.configure(merge(SMALL, MISSING))
    refused(project, SCENES, "networks.scenes_net.local: weights.pth is not there")
    yield "weights that are not there were refused, and the table stands"

    for change, jobs, said in Random(seed).sample(CHANGES, len(CHANGES)):
        project.configure(merge(SMALL, change))
        runs(project, SCENES, jobs)
        assert said in (project.folder / SCENES).read_text()
        yield f"{json.dumps(change)}: {jobs}"
        project.configure(SMALL)
        project.run(SCENES)
        assert contents(project) == first
        yield "the first configuration again: the first table, byte for byte"
