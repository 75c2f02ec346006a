"""What files hold of their making is compared with today's plan."""

import os

import numpy as np
import pyarrow.parquet as pq
import pytest
from safetensors.numpy import load_file, save_file

from densevse.artifacts import schema
from densevse.artifacts.adoption import BYTES, CODE, AdoptableJob, compare
from densevse.artifacts.identity import Identity
from densevse.artifacts.lineage import lineage, made_from, metadata
from densevse.artifacts.schemas.sentences import WORDS
from densevse.artifacts.seals import sealed, verified
from densevse.runtime.errors import InputError

IMAGES, TOKENS, WORDS_FILE = (f"results/scenes/{name}.parquet" for name in ("images", "tokens", "words"))
MODEL, PHOTOGRAPHS = "results/scenes/model.safetensors", "resources/scenes.zip"
SETTINGS = {"network": "vgg19", "layers": ["fc7"], "seed": 1}
GIVEN = {"network": {"layers": ["fc7"], "batch_size": 8}, "seed": 1, "threads": 2}


def words(path, *names, made=None, of=None):
    rows = [{"word": name, "index": number, "count": 1} for number, name in enumerate(names)]
    schema.write(rows, WORDS, path, made or lineage({}), of)


@pytest.fixture
def job(tmp_path, monkeypatch):
    """A job whose outputs agree with the plan."""
    monkeypatch.chdir(tmp_path)
    words(IMAGES, "a")
    words(TOKENS, "b", made=lineage({}, {"images": IMAGES}))
    made = lineage(SETTINGS, {"tokens": TOKENS})
    words(WORDS_FILE, "c", made=made, of=Identity("scenes", seed=1))
    with sealed(MODEL) as temporary:
        save_file({"w": np.arange(6.0)}, temporary, metadata(made))
    wildcards = {"network": "vgg19", "dataset": "scenes", "seed": "1"}
    return AdoptableJob([TOKENS, PHOTOGRAPHS], [WORDS_FILE, MODEL], wildcards, GIVEN)


def test_what_could_not_be_compared_is_listed(job):
    assert compare(job) == [CODE, "network.batch_size", "threads", PHOTOGRAPHS]


@pytest.mark.parametrize(
    ("given", "wildcards", "inputs", "message"),
    [
        ({"network": {"layers": ["fc6"]}}, {}, [TOKENS], r"network\.layers: the plan says \[.fc6.\], found \[.fc7.\]"),
        ({}, {"network": "alexnet"}, [TOKENS], "network: the plan says alexnet, found vgg19"),
        ({}, {"seed": "2"}, [TOKENS], "seed: the plan says 2, found 1"),
        ({}, {"dataset": "coco"}, [TOKENS], "dataset: the plan says coco, found scenes"),
        ({}, {}, [IMAGES], r"was made from scenes/tokens\.parquet, which is no input today"),
        (
            {},
            {},
            [TOKENS, "results/scenes/boxes.parquet"],
            r"was not made from scenes/boxes\.parquet, which is an input",
        ),
    ],
)
def test_what_disagrees_is_named(job, given, wildcards, inputs, message):
    with pytest.raises(InputError, match=rf"^{WORDS_FILE}: {message}"):
        compare(AdoptableJob(inputs, job.outputs, wildcards, given))


def test_another_input_and_damage_are_named(job):
    words(IMAGES, "other")
    with pytest.raises(InputError, match=f"^{IMAGES}: another file of that name was read than it has now"):
        compare(job)
    words(IMAGES, "a")
    with open(MODEL, "r+b") as file:
        file.seek(-1, os.SEEK_END)
        file.write(b"!")
    with pytest.raises(InputError, match=f"^{MODEL}: damaged"):
        compare(job)
    os.remove(MODEL)
    with pytest.raises(InputError, match=f"^{MODEL}: no such file"):
        compare(job)


def test_a_picture_does_not_state_how_it_was_made(job):
    with pytest.raises(InputError, match=r"^results/a\.svg: files of this kind do not state"):
        compare(job._replace(outputs=["results/a.svg"]))


def test_files_of_an_earlier_version_are_sealed(job):
    """They have neither seals nor digests of what they were made from."""
    made = {**SETTINGS, "parents": {"tokens": {"parents": {}}}}
    schema_of = pq.read_table(WORDS_FILE).replace_schema_metadata(WORDS.metadata(made, Identity("scenes", seed=1)))
    pq.write_table(schema_of, WORDS_FILE)
    save_file({"w": np.arange(6.0)}, MODEL, {"densevse.made_from": str(made).replace("'", '"')})
    for path in job.outputs:
        os.utime(path, (5, 5))
    assert compare(job) == [CODE, BYTES, "network.batch_size", "threads", TOKENS, PHOTOGRAPHS]
    for path in job.outputs:
        assert verified(path)
        assert made_from(path) == made
        assert os.stat(path).st_mtime == 5
    assert load_file(MODEL)["w"].tolist() == list(range(6))
    assert compare(job)[1] != BYTES
