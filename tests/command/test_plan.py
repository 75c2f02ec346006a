"""`densevse plan` prints what a run would do, and `densevse run` does it."""

import subprocess
import sys
from argparse import Namespace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from PIL import Image

from densevse.command.costs.jobs import Arithmetic
from densevse.command.costs.rates import ESTIMATES, Rates, today
from densevse.command.costs.sizes import DatasetSizes
from densevse.command.shared import PlannedJob, configured_project, job_stage, planned_jobs, snakemake_command
from densevse.command.subcommands.plan import (
    COSTS,
    FETCHING,
    STARTED,
    Cost,
    Work,
    _describe_rates,
    _downloads,
    estimate,
    read_costs,
    works,
)
from snakeproof.errors import InputError
from tests.cases import first_now
from tests.rules import rules

ROOT = Path(__file__).parents[2]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


def test_a_refused_configuration_is_told_without_places_in_the_workflow(folder, densevse):
    (folder / "mine.yaml").write_text("tables: {scenes: {measure: [vsse]}}")
    answer = densevse("plan", "results/tables/scenes.md", "--configfile", "mine.yaml")
    assert answer.status == 1
    assert answer.errors.startswith("densevse plan: tables.scenes.measure: no variants")
    assert answer.errors.endswith("is 'vse' meant?\n")


def write_own_data(folder, heading="image,sentence", **keys):
    """Ten photographs with two sentences each, and the file that reads them."""
    (folder / "photographs").mkdir()
    for number in range(10):
        Image.new("RGB", (40, 30), (20 * number, 0, 0)).save(folder / f"photographs/{number}.png")
    rows = [f"{number}.png,a red sheet {number}" for number in range(10) for _ in range(2)]
    (folder / "pairs.csv").write_text("\n".join([heading, *rows]))
    entry = {
        "title": "Mine",
        "reader": "pairs",
        "local": {"images": "photographs", "pairs": "pairs.csv"},
        "options": {"split": "random"},
        "networks": {"whole": "mobilenet_v2"},
        "word_vectors": None,
        **keys,
    }
    table = {"title": "Mine", "sections": [{"dataset": "mine"}], "measure": ["vse"]}
    written = {"datasets": {"mine": entry}, "tables": {"mine": table}}
    (folder / "mine.yaml").write_text(yaml.safe_dump(written))
    return "plan", "results/tables/mine.md", "--configfile", "mine.yaml"


def test_a_plan_counts_the_rows_of_ones_own_table(folder, densevse):
    answer = densevse(*write_own_data(folder))
    rows = {line.split()[0]: line.split() for line in answer.lines[: answer.lines.index("")]}
    assert "core minutes" in answer.lines[0]
    assert float(rows["extract_features"][3].strip("<")) < 1, "ten photographs, and not those of Flickr30k"
    assert "again" not in answer.output
    assert "assumed" not in answer.output
    assert "at least" not in answer.output, "the size of its only download is not published"
    assert "To download (? where no size is published):" in answer.output


def test_a_plan_says_which_number_of_images_it_assumed(folder, densevse):
    source = {"file": "a.zip", "url": "https://example.org/a.zip", "licence": "none"}
    pairs = {**source, "file": "a.csv", "url": "https://example.org/a.csv"}
    answer = densevse(*write_own_data(folder, local={}, sources={"images": source, "pairs": pairs}))
    assert "mine: 31,014 images assumed; set about_images of datasets.mine." in answer.lines


@pytest.mark.parametrize("heading", ["filename,sentence", "image,caption"])
def test_columns_that_a_table_lacks_are_told_by_the_plan(heading, folder, densevse):
    answer = densevse(*write_own_data(folder, heading))
    assert answer.status == 1
    assert answer.errors.startswith("densevse plan: datasets.mine: pairs.csv: no column ")
    assert heading.replace(",", ", ") in answer.errors
    assert len(answer.errors.splitlines()) == 1


def test_columns_that_a_table_lacks_are_told_before_a_run_downloads_anything(folder):
    _, target, *options = write_own_data(folder, "filename,sentence")
    command = [sys.executable, "-P", "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile"), "--cores", "1"]
    run = subprocess.run([*command, *options, "--", target], cwd=folder, capture_output=True, text=True, timeout=300)
    assert run.returncode == 1
    assert "datasets.mine: pairs.csv: no column " in run.stderr
    assert not (folder / "resources").exists()


def test_another_data_set_may_have_files_that_do_not_fit(folder, densevse):
    write_own_data(folder, "filename,sentence")
    target = "results/scenes/features/scenes_net/whole/00-of-01.parquet"
    assert densevse("plan", target, "--configfile", "mine.yaml").status == 0


def test_files_that_cannot_be_counted_are_named_with_their_data_set(folder):
    write_own_data(folder)
    (folder / "pairs.csv").write_text("image,sentence\n0.png,a red sheet")
    with pytest.raises(InputError, match=r"^datasets.mine: split: random needs 10 images or more"):
        DatasetSizes(configured_project(["mine.yaml"])).find("mine")


@pytest.mark.parametrize(
    ("keys", "sizes"),
    [
        ({"options": {"split": "random"}}, (10, 8, 1, 1)),
        ({"options": {"split": "random"}, "about_images": 5000}, (10, 8, 1, 1)),
        ({"options": {"split": "random"}, "about_images": 200_000}, (200_000, 190_000, 5000, 5000)),
        ({"options": {"split": "random", "sizes": {"train": 5, "val": 3, "test": 2}}}, (10, 5, 3, 2)),
        (
            {
                "reader": "coco",
                "local": {"annotations": "a"},
                "options": {"splits": {"train": 40, "val": 9, "test": 8}},
            },
            (57, 40, 9, 8),
        ),
        (
            {
                "reader": "webdataset",
                "local": {"shards": "a"},
                "options": {"splits": {"train": 4, "val": 9, "test": 8}},
            },
            (21, 4, 9, 8),
        ),
    ],
)
def test_the_sizes_of_a_data_set_are_those_of_its_files_or_its_options(keys, sizes, folder):
    write_own_data(folder, **keys)
    found = DatasetSizes(configured_project(["mine.yaml"]))
    assert found.find("mine")[:4] == sizes
    assert found.find("flickr8k_resplit0")[:4] == (7000, 5500, 500, 1000)
    assert not found.assumed


def test_photographs_of_a_search_are_counted(folder):
    write_own_data(folder)
    search = {"dataset": "flickr30k", "variant": "clip", "photographs": "photographs", "sentences": ["a sheet"]}
    other = {**search, "photographs": "photographs.zip"}
    (folder / "search.yaml").write_text(yaml.safe_dump({"searches": {"mine": search, "other": other}}))
    project = configured_project(["search.yaml"])
    own, of_other = (name for name in project.datasets if name.startswith("search/photographs/"))
    assert DatasetSizes(project).find(own)[:4] == (10, 0, 0, 10)
    (folder / "photographs.zip").write_bytes(b"no zip")
    with pytest.raises(InputError, match=r"^searches\.other\.photographs: photographs\.zip: cannot be read"):
        DatasetSizes(project).find(of_other)


def test_old_results_count_only_if_they_stay(folder):
    write_own_data(folder)
    table = folder / "results/mine/images.parquet"
    table.parent.mkdir(parents=True)
    splits = ["train"] * 90 + ["val"] * 5 + ["test"] * 5
    pq.write_table(pa.table({"split": splits, "width": [100] * 100, "height": [50] * 100}), table)
    project = configured_project(["mine.yaml"])
    assert DatasetSizes(project).find("mine") == (100, 90, 5, 5, 5000)
    assert DatasetSizes(project, {"results/mine/images.parquet"}).find("mine")[:4] == (10, 8, 1, 1)


def test_jobs_that_replace_files_are_marked(folder, densevse):
    plan = write_own_data(folder)
    table = folder / "results/tables/mine.md"
    table.parent.mkdir(parents=True)
    table.write_text("of another configuration")
    answer = densevse(*plan)
    rows = {line.split()[0]: line.split() for line in answer.lines[: answer.lines.index("")]}
    assert rows["stage"][3:5] == ["jobs", "again"]
    assert rows["table"][1:4] == ["-", "1", "1"]
    assert rows["train"][1:3] == ["mine", "1"]
    assert rows["train"][3] != "1", "its files are not there"
    assert "again: jobs whose files are there already, and are replaced." in answer.lines


def test_a_gpu_and_java_that_are_needed_and_absent_are_told(folder, densevse, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    (folder / "gpu.yaml").write_text("gpu: 1")
    answer = densevse("plan", "results/tables/flickr30k.md", "--configfile", "gpu.yaml")
    text = " ".join(answer.output.split())
    assert "There is no `java` on the PATH" in text
    assert "gpu: 1 is requested, and this machine shows 0" in text
    assert "days on" in text


@pytest.mark.parametrize(
    ("sizes", "head"),
    [
        ([10**9, None], "To download, at least 1.00 GB (? where no size is published):"),
        ([10**9, 10**9], "To download, 2.00 GB:"),
        ([None], "To download (? where no size is published):"),
    ],
)
def test_the_size_of_downloads_is_said_as_far_as_it_is_known(sizes, head):
    sources = {f"file{number}": Namespace(size=size, manual=None) for number, size in enumerate(sizes)}
    assert _downloads([*sources], sources).splitlines()[0] == head


def test_what_was_not_measured_is_named():
    text = _describe_rates(Rates(ESTIMATES, today()))
    assert text.endswith("measured today, except for parsing.")


def test_jobs_stages_downloads_and_instructions(folder, densevse):
    answer = densevse("plan", "results/tables/flickr30k.md")
    assert answer.status == 0, answer.errors
    rows = {line.split()[0]: line.split() for line in answer.lines if line and not line.startswith(" ")}
    assert rows["extract_regions"][1:3] == ["flickr30k", "12"]
    assert rows["table"][1:3] == ["-", "1"]
    assert rows["cluster_proposals"][-2:] == ["never", "recorded"]
    assert "download" not in rows
    assert "  resources/word2vec/GoogleNews-vectors-negative300.bin.gz" in answer.output
    by_hand = answer.output.partition("To obtain by hand:\n")[2]
    assert by_hand.startswith("  resources/flickr30k/flickr30k-images.tar.gz\n    Fill in the form at https://")
    text = " ".join(answer.output.split())
    assert "These are estimates. Times by arithmetic are for one core of" in text
    hours = {stage: float(row[3].strip("<")) for stage, row in rows.items() if row[-1] == "arithmetic"}
    assert 100 < hours["extract_regions"] < 2000, "R-CNN on a thousand proposals of each image"
    assert hours["train"] > 50
    assert not list(Path("results").glob("[!.]*")), "a plan makes nothing but the hidden folder of records"


def test_the_difference_that_a_file_makes(folder, densevse):
    (folder / "mine.yaml").write_text(yaml.safe_dump({"tables": {"flickr30k": {"measure": ["vse", "vsepp"]}}}))
    (folder / "small.yaml").write_text("datasets: {flickr30k: {networks: {whole: alexnet}}}")
    answer = densevse("plan", "results/tables/flickr30k.md", "--configfile", "mine.yaml", "--instead", "small.yaml")
    assert answer.status == 0, answer.errors
    rows = {line.split()[0]: line.split()[1:] for line in answer.lines[: answer.lines.index("")]}
    assert list(rows) == ["stage", "extract_features"], "other stages take what they took"
    before, after, difference = map(float, rows["extract_features"][1:])
    assert difference == pytest.approx(after - before)
    assert after < 0.1 * before
    text = " ".join(answer.output.split())
    assert "with small.yaml instead of" in text
    assert "for one core of an AMD EPYC with AVX2" in text


def test_a_file_that_makes_no_difference_and_one_that_is_not_there(folder, densevse):
    (folder / "mine.yaml").write_text(yaml.safe_dump({"tables": {"flickr30k": {"measure": ["vse"]}}}))
    (folder / "none.yaml").write_text("datasets: {flickr30k: {title: Flickr30k}}")
    target = ["plan", "results/tables/flickr30k.md", "--configfile", "mine.yaml", "--instead"]
    answer = densevse(*target, "none.yaml")
    assert answer.lines[0] == "No stage takes another time."
    answer = densevse(*target, "nowhere.yaml")
    assert answer.status == 1
    assert "--instead: nowhere.yaml is not there" in answer.errors
    answer = densevse("plan", "--measure", "--instead", "none.yaml")
    assert answer.status == 1
    assert "name a target" in answer.errors


@pytest.mark.long
def test_the_jobs_are_those_of_a_dry_run(folder):
    jobs = planned_jobs(["results/tables/scenes.md"], [], "results")
    command = snakemake_command(["results/tables/scenes.md"], [], "--dry-run")
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    (total,) = {line.split()[1] for line in (done.stdout + done.stderr).splitlines() if line.startswith("total ")}
    assert len(jobs) == int(total)


@pytest.mark.parametrize(
    ("target", "said"),
    first_now(
        [
            ("results/tables/flickr30.md", "is 'results/tables/flickr30k.md' meant?"),
            ("al", "is 'all' meant?"),
            ("", "A target is empty; name a file or a rule."),
            ("/nowhere", "/nowhere: no rule makes this; docs/artifacts.md lists the paths."),
        ]
    ),
)
def test_a_misspelt_target_is_answered_with_the_near_one(target, said, folder, densevse):
    answer = densevse("plan", target)
    assert answer.status == 1
    assert said in answer.errors
    assert len(answer.errors.splitlines()) == 1


@pytest.mark.long
def test_run_is_snakemake_and_passes_options_on(folder):
    Path("mine.yaml").write_text(yaml.safe_dump({"tables": {"scenes": {"measure": ["vse"]}}}))
    command = [sys.executable, "-m", "densevse", "run", "results/tables/scenes.md", "--configfile", "mine.yaml"]
    environment = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "HOME": str(folder)}
    run = [*command, "--cores", "1", "--", "--dry-run"]
    done = subprocess.run(run, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert "train" in done.stdout + done.stderr
    assert "vsepp" not in done.stdout + done.stderr


def test_run_names_a_configuration_that_is_not_there(densevse):
    answer = densevse("run", "--configfile", "nowhere.yaml")
    assert answer.status == 1
    assert "--configfile: nowhere.yaml is not there" in answer.errors


@pytest.mark.parametrize(
    ("logs", "stage"),
    [
        (["out/logs/logs/train/scenes_vse.log"], "train"),
        (["out/logs/logs/download.log"], "download"),
        ([], "train_round"),
    ],
)
def test_a_stage_is_the_folder_of_its_logs_whatever_the_results_are_called(logs, stage):
    assert job_stage("train_round", logs, "out/logs") == stage


def test_jobs_are_counted_by_stage_and_data_set(tmp_path):
    arithmetic = Arithmetic(configured_project([]))
    shard = {"dataset": "flickr30k", "shard": "00-of-06"}
    jobs = [
        PlannedJob("train", {"dataset": "scenes"}, ["a"], "train"),
        PlannedJob("train_round", {"dataset": "scenes"}, ["b"], "train"),
        PlannedJob("parse", shard, ["c"], "parse"),
        PlannedJob("table", {"table": "scenes"}, ["d"], "table"),
    ]
    seconds = {"train": 3.0, "train_round": 4.0}
    found = works(jobs, arithmetic.count_images, lambda job: seconds.get(job.rule))
    assert [work[:3] for work in found] == [("parse", "flickr30k", 1), ("table", "", 1), ("train", "scenes", 2)]
    assert found[0].images == round(arithmetic.config.datasets["flickr30k"].about_images / 6)
    assert [work.seconds for work in found] == [None, None, 7.0]


SMALL = Cost("train", "scenes", 100, 36.0, 500, 1e6, "a machine", "2026-01-01")
LARGE = Cost("train", "flickr8k", 1000, 720.0, 900, None, "another", "2026-01-02")


def one(work, costs=(SMALL, LARGE)):
    return estimate([work], costs)[work]


def test_the_same_data_set_is_taken_as_it_is():
    found = one(Work("train", "scenes", 2, 100))
    assert (found.by, found.scale) == (SMALL, 1)
    assert found.seconds == pytest.approx(2 * 36)
    assert found.disk_bytes == 2e6


def test_another_data_set_is_scaled_from_the_dearest_by_images():
    found = one(Work("train", "coco", 3, 4000))
    assert (found.by, found.scale) == (LARGE, 4)
    assert found.seconds == pytest.approx(3 * (STARTED + 4 * (720 - STARTED))), "the start does not grow"
    assert found.disk_bytes == 3 * 40 * 1e6, "nobody recorded what the dearest wrote"


def test_an_unknown_number_of_images_is_not_scaled():
    assert one(Work("train", "mine", 1, None)).scale == 1


def test_arithmetic_goes_before_recorded_time():
    found = one(Work("train", "scenes", 2, 100, 50.0))
    assert (found.seconds, found.memory, found.disk_bytes) == (50, 500, 2e6)
    assert one(Work("parse", "scenes", 1, 100, 50.0)).seconds == 50, "without any record"


def test_a_method_without_a_cost_is_named(folder, densevse):
    answer = densevse("plan", "results/flickr8k/retrieval/full/clip/seed0/round0.parquet")
    assert "The cost of clip is not known, as the parameters have no function `cost`" in answer.output
    assert "is not known" not in densevse("plan", "results/tables/scenes.md").output


def test_small_plans_are_in_minutes(folder, densevse):
    answer = densevse("plan", "results/scenes/features/scenes_net/whole/00-of-01.parquet")
    assert "core minutes" in answer.lines[0]


def test_a_plan_needs_a_target_or_something_to_measure(densevse):
    answer = densevse("plan")
    assert answer.status == 1
    assert "name a target" in answer.errors


def test_a_stage_that_was_never_recorded_has_no_estimate():
    assert one(Work("parse", "scenes", 1, 100)) is None


def test_the_recorded_costs_are_of_stages_that_are_there():
    costs = read_costs(COSTS)
    folders = {rule.name for rule in rules().values()}
    assert {cost.stage for cost in costs} <= folders
    assert all(cost.machine and cost.date for cost in costs)
    assert {"train", "retrieve", "extract_regions", "propose"} <= {cost.stage for cost in costs}
    assert set(FETCHING) <= folders


def test_a_row_that_cannot_be_read_is_named(tmp_path):
    file = tmp_path / "costs.csv"
    file.write_text("stage,dataset,images,jobs,seconds,memory,bytes,machine,date\ntrain,scenes,,1,soon,5,,m,d\n")
    with pytest.raises(InputError, match=r"costs.csv, line 2: .*soon"):
        read_costs(file)
