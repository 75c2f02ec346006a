"""What Snakemake alone misses, as README.md says. If one of these tests fails, Snakemake has learnt it."""

import os
import shutil

import pytest

from snakeproof.tests.workflows import Workflow, flip_bit, kill, wait

pytestmark = pytest.mark.slow
SNAKEFILE = """
configfile: "config.yaml"

rule count:
    input:
        text="text.txt",
    output:
        counts="results/counts.txt",
    params:
        shortest=config["shortest"],
        rarest=config["rarest"],
    script:
        "count.py"
"""
SCRIPT = """
import os, time
from pathlib import Path
from helper import words_of

words = words_of(Path(snakemake.input.text).read_text())
with open(snakemake.output.counts, "w") as file:
    for word in sorted(set(words)):
        if len(word) >= snakemake.params.shortest and words.count(word) >= snakemake.params.rarest:
            print(word, words.count(word), file=file, flush=True)
        if "WAIT" in os.environ:
            Path("now").touch()
            time.sleep(60)
"""
FILES = {
    "Snakefile": SNAKEFILE,
    "count.py": SCRIPT,
    "helper.py": "def words_of(text):\n    return text.split()\n",
    "config.yaml": "shortest: 1\nrarest: 2\n",
    "text.txt": "a a dog dog saw a cat cat",
}
COUNTS = "results/counts.txt"


def workflow(folder):
    folder.mkdir(exist_ok=True)
    for name, text in FILES.items():
        (folder / name).write_text(text)
    return Workflow(folder)


@pytest.fixture
def made(tmp_path):
    found = workflow(tmp_path / "made")
    found.run()
    assert found.planned() == {}
    return found


def test_exchanged_values_of_two_params(made):
    made.edit("config.yaml", "shortest: 1\nrarest: 2", "shortest: 2\nrarest: 1")
    assert made.planned() == {}
    made.edit("config.yaml", "rarest: 1", "rarest: 3")
    assert made.planned() == {"count": 1}


def test_an_edited_helper(made):
    made.edit("helper.py", "text.split()", "text.upper().split()")
    assert made.planned() == {}


def test_a_flipped_bit(made):
    flip_bit(made.path(COUNTS), 0)
    assert made.planned() == {}
    assert made.path(COUNTS).read_text().startswith("`")


def test_a_record_that_tells_of_another_file(made, tmp_path):
    other = workflow(tmp_path / "other")
    other.edit("config.yaml", "rarest: 2", "rarest: 3")
    other.run()
    shutil.copyfile(other.path(COUNTS), made.path(COUNTS))
    assert made.planned() == {}


def test_a_half_written_file_in_a_copy_of_the_results(tmp_path):
    killed, copied = workflow(tmp_path / "killed"), workflow(tmp_path / "copied")
    killed.kill_when(killed.path("now").exists, WAIT="1")
    assert killed.path(COUNTS).read_text() == "a 3\n"
    shutil.copytree(killed.path("results"), copied.path("results"))
    assert copied.planned() == {}


def test_two_runs_at_once(made, tmp_path):
    second = workflow(tmp_path / "second")
    second.path("results").symlink_to(made.path("results"))
    os.utime(made.path("text.txt"))
    first = made.start("--forceall", WAIT="1")
    wait(made.path("now").exists, first)
    second.run("--forceall")  # both write one file
    kill(first)
