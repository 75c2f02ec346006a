"""Tables of results from synthetic retrieval artifacts and the papers' real rows."""

import re
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from densevse.artifacts.identity import Identity, read_identity
from densevse.artifacts.schemas.datasets import CAPTIONS, IMAGES
from densevse.artifacts.schemas.features import CORRESPONDENCE_ACCURACY
from densevse.artifacts.schemas.retrieval import RETRIEVAL
from densevse.config.tables import PrintedTable
from densevse.evaluation.protocols import folds, select_split
from densevse.evaluation.recall import metrics_of
from densevse.report.columns import RESULTS, ROUNDS
from densevse.report.footnotes import add_adopted_note
from densevse.report.plan import (
    Difference,
    MeasuredVariant,
    RoundPlan,
    RoundsPlan,
    SectionPlan,
    TablePlan,
)
from densevse.report.rendering import Document
from densevse.report.results import Outputs, gain, make_table
from densevse.report.rounds import make_rounds
from densevse.report.sections import Row, list_queries
from densevse.statistics.bootstrap import Interval
from snakeproof import schema
from snakeproof.errors import InputError
from snakeproof.statements import Statement, making

FOLDER = Path(__file__).parents[2] / "config/published"
PAPERS = ("hm_lstm", "vse", "sm_lstm", "defrag", "sco")
READ = {"view_whole": {"wildcards": {"network": "vgg19"}}}


@pytest.fixture
def data(tmp_path):
    """A function that makes the image and caption tables of a small data set.

    Of its test images one cannot be read, and the last one has no sentence; of three training images one is broken.
    """

    def make(tested=60, dataset="flickr8k"):
        images = pd.DataFrame({"image_id": [f"i{n}" for n in range(tested + 3)], "source": "images", "file": "a.jpg"})
        images = images.assign(split="test", width=4, height=4, sha256="", captions=5, status="ok")
        images["family"] = images["image_id"]
        images.loc[[0, tested], "status"] = "truncated"
        images.loc[tested:, "split"] = "train"
        captions = [(f"i{n}#{k}", f"i{n}", k, "a dog", "test") for n in range(tested - 1) for k in range(5)]
        names = ["caption_id", "image_id", "position", "text", "split"]
        files = tuple(str(tmp_path / f"{name}{tested}.parquet") for name in ("images", "captions"))
        schema.write(images, IMAGES, files[0], dataset=dataset)
        schema.write(pd.DataFrame(captions, columns=names), CAPTIONS, files[1], dataset=dataset)
        return files

    return make


def retrieval(path, random, data, variant="vse", seed=None, trained_on="cpu", number=0, read=READ, found=(), **of):
    """A retrieval artifact with random ranks, by a model; both have `read` files: name of input -> statement.

    `random` is the seed of the ranks, and of the model if no `seed` is given.
    """
    of = {"dataset": "flickr8k", "protocol": "full", **of}
    test_set = select_split(schema.read(data[0], IMAGES), schema.read(data[1], CAPTIONS))
    rows, _ = list_queries(test_set, folds(test_set, of["protocol"]))
    rows = rows.assign(rank=np.random.default_rng(random).geometric(0.1, len(rows)), candidates=290)
    rows = rows.assign(
        tied=False, top=[["x"]] * len(rows), top_scores=[[0.5]] * len(rows), top_true=[[True]] * len(rows)
    )
    seed = random if seed is None else seed
    of = Identity(variant=variant, seed=seed, round=number, split="test", **of).values()
    above = {**read, "model": {}}  # each with its name as its digest
    with making(Statement(inputs={name: {f"{name}.parquet": name} for name in above}, above=above)):
        found = {"device": "cpu", "trained_on": trained_on, "versions": {"torch": "2.11.0"}, **dict(found)}
        schema.write(rows, RETRIEVAL, path, **of, **found)
    return str(path)


def entry(title, seeds, **changes):
    return MeasuredVariant(title=title, seeds=seeds, model="vse", round=0, **changes)


def section(measured, dataset="flickr8k", title="Flickr8K", protocol="full", published=None):
    """A section's plan; what is measured are the variants' own models."""
    measured = {name: one.model_copy(update={"model": name}) for name, one in measured.items()}
    return SectionPlan(title=title, dataset=dataset, protocol=protocol, published=published, measured=measured)


def plan(*sections, printed=(("hm_lstm", "1"), ("vse", "1")), reference=None, rows=None):
    return TablePlan(
        title="A table",
        reference=reference,
        published=[PrintedTable(paper=paper, table=table, rows=rows) for paper, table in printed],
        sections=list(sections),
    )


def outputs(tmp_path):
    return Outputs(*(str(tmp_path / f"table.{ending}") for ending in ("md", "html", "tex", "csv", "parquet")))


def make(tmp_path, chosen, *of_sections):
    """`of_sections` holds for each measured section the files of its data and its retrievals."""
    papers = list(dict.fromkeys(printed.paper for printed in chosen.published))
    inputs = {
        "images": list({data[0]: None for data, _ in of_sections}),
        "captions": list({data[1]: None for data, _ in of_sections}),
        "retrievals": [file for _, files in of_sections for file in files],
        "published": [str(FOLDER / f"{paper}.csv") for paper in papers],
        "papers": [str(FOLDER / f"{paper}.yaml") for paper in papers],
    }
    made = outputs(tmp_path)
    make_table(chosen.model_dump(mode="json"), **inputs, **made._asdict())
    return Path(made.markdown).read_text(encoding="utf-8"), schema.read(made.parquet, RESULTS)


def cells(line):
    return [cell.strip() for cell in line.strip("|\n").split(" | ")]


def line_of(text, start):
    return next(cells(line) for line in text.splitlines() if line.startswith(f"| {start} "))


def test_published_beside_measured(tmp_path, data):
    files = data(1001)  # one cannot be read
    runs = [retrieval(tmp_path / f"{seed}.parquet", seed, files) for seed in range(2)]
    runs += [retrieval(tmp_path / "2.parquet", 2, files, "vsepp", 0)]
    chosen = plan(section({"vse": entry("VSE", [0, 1]), "vsepp": entry("VSE++", [0])}))
    text, rows = make(tmp_path, chosen, (files, runs))
    sums = [metrics_of(schema.read(file, RETRIEVAL))["rsum"] for file in runs[:2]]
    measured = rows[rows["kind"] == "measured"].set_index("variant")
    assert measured.loc["vse", "rsum"] == pytest.approx(np.mean(sums))
    assert measured.loc["vse", "rsum_spread"] == pytest.approx(np.std(sums, ddof=1))
    assert measured.loc["vse", "seeds"] == 2
    assert np.isnan(measured.loc["vsepp", "rsum_spread"])
    own = rows[rows["method"] == "Our model (OxfordNet)"].iloc[0]
    assert own["difference"] == pytest.approx(measured.loc["vse", "rsum"] - (18.0 + 40.9 + 55.0 + 12.5 + 37.0 + 51.5))
    line = line_of(text, "Our model (OxfordNet)")
    assert line[2:6] == ["18.0", "40.9", "55.0", "8"]
    assert "vse" in line
    assert line[-1] == f"{own['difference']:+.1f}"
    assert line_of(text, "Our model")[11:] == [""] * (len(line) - 11)  # features of another network: not this variant


def test_every_measured_metric_has_an_interval(tmp_path, data):
    files = data()
    runs = [retrieval(tmp_path / f"{seed}.parquet", seed, files) for seed in range(3)]
    text, rows = make(tmp_path, plan(section({"vse": entry("VSE", [0, 1, 2])})), (files, runs))
    own = rows[rows["kind"] == "measured"].iloc[0]
    for metric in ("i2t_r1", "t2i_r10", "i2t_median_rank", "t2i_mean_rank", "rsum", "mean_recall"):
        assert own[f"{metric}_low"] <= own[metric] <= own[f"{metric}_high"]
    assert own["rsum_low"] < own["rsum"] < own["rsum_high"]
    assert f"{own['rsum_low']:.1f} to {own['rsum_high']:.1f}" in text
    assert "95% intervals: a bootstrap over the test images" in text


def test_a_gain_is_called_better_only_where_its_interval_excludes_0(tmp_path, data):
    files = data()
    names = ("vse", "vsepp", "order")
    runs = [retrieval(tmp_path / f"{n}.parquet", n, files, name, 0) for n, name in enumerate(names)]
    good = schema.read(runs[2], RETRIEVAL)
    good = good.assign(rank=np.where(good["rank"] > 10, 1, good["rank"]))
    schema.write(good, RETRIEVAL, runs[2], **read_identity(runs[2]).values())
    measured = {"vse": entry("VSE", [0]), "vsepp": entry("VSE++", [0]), "order": entry("Order", [0])}
    text, rows = make(tmp_path, plan(section(measured), printed=(), reference="vse"), (files, runs))
    found = rows.set_index("variant")
    assert np.isnan(found.loc["vse", "gain"])
    for variant in ("vsepp", "order"):
        assert found.loc[variant, "gain"] == pytest.approx(
            found.loc[variant, "rsum"] - found.loc["vse", "rsum"], abs=1e-3
        )
    assert found.loc["order", "gain_low"] > 0 > found.loc["vsepp", "gain_low"]
    assert line_of(text, "Order")[-2] == f"{found.loc['order', 'gain']:+.1f} better (one seed)"
    assert line_of(text, "VSE++")[-2] == f"{found.loc['vsepp', 'gain']:+.1f}"
    assert "Gain on VSE" in text


@pytest.mark.parametrize(
    ("gained", "low", "high", "seeds", "written"),
    [
        (8.0, 2.0, 14.0, 1, "+8.0 better (one seed)"),
        (8.0, 2.0, 14.0, 3, "+8.0 better"),
        (-8.0, -14.0, -2.0, 1, "-8.0 worse (one seed)"),
        (8.0, -2.0, 18.0, 1, "+8.0"),
    ],
)
def test_a_gain_of_one_seed_is_marked(gained, low, high, seeds, written):
    own = Row("VSE++", "measured", "", "vsepp", {}, seeds=seeds, gain=gained, gain_interval=Interval(low, high))
    assert gain(own) == written


@pytest.mark.parametrize(("tested", "protocol"), [(10, "full"), (45, "five_folds")])
def test_too_few_images_to_draw_from_have_no_interval_and_nothing_is_called_better(tmp_path, data, tested, protocol):
    """Nine images; and five folds of which each has nine at most."""
    files = data(tested)
    names = ("vse", "vsepp")
    runs = [retrieval(tmp_path / f"{n}.parquet", n, files, name, 0, protocol=protocol) for n, name in enumerate(names)]
    best = schema.read(runs[1], RETRIEVAL)
    schema.write(best.assign(rank=1), RETRIEVAL, runs[1], **read_identity(runs[1]).values())
    measured = {"vse": entry("VSE", [0]), "vsepp": entry("VSE++", [0])}
    chosen = plan(section(measured, protocol=protocol), printed=(), reference="vse")
    text, rows = make(tmp_path, chosen, (files, runs))
    found = rows.set_index("variant").loc["vsepp"]
    assert found[["rsum_low", "rsum_high", "i2t_median_rank_low", "gain_low", "gain_high"]].isna().all()
    assert line_of(text, "VSE++")[-2] == f"{found['gain']:+.1f}"
    assert "Fewer than 10 images or families are too few to draw from, and give no interval." in text


def test_difference_is_over_the_recalls_that_are_printed(tmp_path, data):
    files = data(1001)
    runs = [retrieval(tmp_path / "0.parquet", 0, files, "hm_lstm")]
    _, rows = make(tmp_path, plan(section({"hm_lstm": entry("HM-LSTM", [0])})), (files, runs))
    ours = rows[rows["kind"] == "measured"].iloc[0]
    own = rows[(rows["source"] == "HM-LSTM, Table 1") & (rows["method"] == "HM-LSTM")].iloc[0]
    recalls = ours["i2t_r1"] + ours["i2t_r10"] + ours["t2i_r1"] + ours["t2i_r10"]
    assert own["difference"] == pytest.approx(recalls - (27.7 + 68.6 + 24.4 + 68.1), abs=1e-3)


def test_no_difference_from_a_row_on_another_test_size_and_the_note_says_why(tmp_path, data):
    files = data()
    text, rows = make(
        tmp_path,
        plan(section({"vse": entry("VSE", [0])})),
        (files, [retrieval(tmp_path / "0.parquet", 0, files)]),
    )
    assert rows["difference"].isna().all()
    assert "vse" in line_of(text, "Our model (OxfordNet)")
    assert "Flickr8K: 59 images are ranked here and 1,000 in the papers, so no Difference is printed." in text


def test_no_difference_from_a_row_with_another_network_and_the_note_says_why(tmp_path, data):
    files = data(1001)
    replaced = {
        "networks.whole": Difference(own="vgg19", here="mobilenet_v2"),
        "options.splits": Difference(own={"test": "a.txt"}, here=None),
    }
    measured = {"vse": entry("VSE", [0], replaced=replaced), "hm_lstm": entry("HM-LSTM", [0], replaced={})}
    runs = [retrieval(tmp_path / f"{variant}.parquet", 0, files, variant) for variant in measured]
    text, rows = make(tmp_path, plan(section(measured)), (files, runs))
    of = rows[rows["kind"] == "published"].groupby("variant")["difference"]
    assert of.count()["vse"] == 0
    assert of.count()["hm_lstm"] > 0
    assert "vse" in line_of(text, "Our model (OxfordNet)")
    said = "Flickr8K: networks.whole is mobilenet_v2 here and vgg19 in config/datasets, so no Difference is printed"
    assert text.count(said) == 1
    assert "options.splits is none here and {test: a.txt} in config/datasets" in text


def test_a_stated_subset_has_no_difference_from_any_published_row(tmp_path, data):
    files = data(1000)
    replaced = {"only_available": Difference(own=False, here=True)}
    text, rows = make(
        tmp_path,
        plan(section({"vse": entry("VSE", [0], replaced=replaced)})),
        (files, [retrieval(tmp_path / "0.parquet", 0, files)]),
    )
    assert rows["difference"].isna().all()
    assert "Random" in text
    assert "only_available is true here and false in config/datasets, so no Difference is printed" in text


def test_a_section_shows_the_rows_of_its_data_set_and_protocol(tmp_path, data):
    files = data()
    full = section({"defrag": entry("DeFrag", [0])})
    starred = section({"defrag": entry("DeFrag", [0])}, protocol="hodosh")
    of_sections = [
        (files, [retrieval(tmp_path / f"{protocol}.parquet", 0, files, "defrag", protocol=protocol)])
        for protocol in ("full", "hodosh")
    ]
    text, rows = make(tmp_path, plan(full, starred, printed=[("defrag", "2")]), *of_sections)
    found = rows[rows["kind"] == "published"].groupby("protocol")["method"].agg(list)
    assert len(found["full"]) == 11
    assert found["hodosh"] == ["* Hodosh et al.", "* Our model († + MIL)"]
    assert text.count("\n## Flickr8K: test split, 59 images") == 2
    assert "58 sentences, only the first sentence of each image" in text


def test_two_data_sets_stand_in_one_table(tmp_path, data):
    sections = [
        section({}, "flickr30k", "Flickr30K"),
        section({}, "coco", "MS-COCO", protocol="five_folds"),
    ]
    text, rows = make(tmp_path, plan(*sections, printed=[("sco", "4")]))
    assert rows.groupby("dataset").size().to_dict() == {"flickr30k": 18, "coco": 16}
    assert "## Flickr30K: published metrics" in text
    assert "mR" in text.split("\n")[4]
    assert text.count("the metrics are those of sm-LSTM* in its own paper") == 1  # a row of both sections
    assert line_of(text, "Ours")[-6 - 1] is not None


def test_published_rows_stand_alone_where_nothing_is_measured(tmp_path):
    """So a table can be looked at before its methods, or even its data, are there."""
    text, rows = make(tmp_path, plan(section({}, "flickr30k", "Flickr30K"), printed=[("sm_lstm", "3")]))
    assert set(rows["kind"]) == {"published"}
    line = line_of(text, "T = 3")
    assert line[2:5] == ["42.4", "67.5", "79.9"]
    assert "nothing was measured" in text


def test_only_the_named_rows_are_shown(tmp_path):
    chosen = plan(section({}), printed=[("hm_lstm", "1")], rows=["HM-LSTM"])
    _, rows = make(tmp_path, chosen)
    assert rows["method"].tolist() == ["HM-LSTM"]


def test_metrics_appear_as_printed(tmp_path):
    regions = section({}, "scenes", "Scenes", protocol="regions", published="coco_region")
    text, _ = make(tmp_path, plan(regions, printed=[("hm_lstm", "4")]))
    assert line_of(text, "Random")[2:6] == ["0.02", "0.12", "0.24", "3133"]
    assert "name their true boxes as datasets.scenes.boxes" in text
    text, _ = make(tmp_path, plan(section({}), printed=[("hm_lstm", "1")]))
    assert line_of(text, "NIC")[2] == "20"


def test_random_row_is_of_this_data(tmp_path, data):
    files = data()
    runs = [retrieval(tmp_path / "0.parquet", 0, files)]
    _, rows = make(tmp_path, plan(section({"vse": entry("VSE", [0])})), (files, runs))
    assert rows.loc[0, "kind"] == "random"
    assert rows.loc[0, "t2i_r1"] == pytest.approx(100 / 59)  # 59 readable images, one of them silent
    assert rows.loc[0, "i2t_mean_rank"] == pytest.approx((290 + 1) / 6)


def test_heading_and_footnotes_say_how_it_was_measured(tmp_path, data):
    files = data()
    regions = {
        "wildcards": {"network": "rcnn", "proposer": "boxes"},
        "given": {"network": {"architecture": "vgg19", "precision": "bf16"}},
        "inputs": {"proposals": {"proposals.parquet": "proposals"}, "weights": {"vgg19.pth": None}},
    }
    read = {
        "vse": READ,
        "vse_alexnet": {"view_whole": {"wildcards": {"network": "alexnet"}}},
        "hm_lstm": {"view_regions": regions, "parses": {"wildcards": {"parser": "corenlp_pcfg"}}},
    }
    measured = {
        "vse": entry("VSE", [4]),
        "vse_alexnet": entry("VSE, AlexNet", [4]),
        "hm_lstm": entry("HM-LSTM", [7]),
    }
    runs = [
        retrieval(tmp_path / f"{name}.parquet", 0, files, name, one.seeds[0], "cuda", read=read[name])
        for name, one in measured.items()
    ]
    text, _ = make(tmp_path, plan(section(measured)), (files, runs))
    for part in (
        "Flickr8K: test split, 59 images, 290 sentences",
        "network of whole: vgg19 (vse), alexnet (vse_alexnet); network of regions: rcnn; ",
        "proposer: boxes; parser: corenlp_pcfg",
        "word vectors: learned",
        "rcnn is vgg19, weights vgg19.pth, bf16",
        "1 test images have no sentence",
        "59 of 60 images of the test split can be read",
        "2 training images that can be read; 59 ranked",
        "Flickr8K, seed 4: vse, vse_alexnet.",
        "Flickr8K, seed 7: hm_lstm.",
        "torch 2.11.0",
        "GPU",
        "Published with R-CNN",
        "NIC (GoogLeNet) (VSE): the poster prints these recalls in parentheses",
    ):
        assert part in text, part
    assert "SCO" not in text  # no row of Flickr8K is from that paper
    assert "Some models were trained in" not in text


def test_the_footnotes_count_what_a_protocol_really_ranks(tmp_path, data):
    files = data(1200)
    runs = [retrieval(tmp_path / "0.parquet", 0, files, protocol="first_1000")]
    chosen = plan(section({"vse": entry("VSE", [0])}, protocol="first_1000"))
    text, _ = make(tmp_path, chosen, (files, runs))
    assert "1,000 images, 5,000 sentences, the first 1,000 images" in text
    assert "1,000 ranked" in text


@pytest.mark.parametrize(
    ("tested", "protocol", "heads"),
    [
        (60, "first_1000", "59 images, 290 sentences, all of them, as there are fewer than the 1,000 images that the"),
        (60, "five_folds", "59 images, 290 sentences, metrics are the mean of five folds of 11 to 12 images"),
        (1001, "five_folds", "1,000 images, 4,995 sentences, metrics are the mean of five folds of 200 images"),
    ],
)
def test_the_heading_says_what_is_ranked_where_folds_are_uneven_or_images_fewer(
    tmp_path, data, tested, protocol, heads
):
    files = data(tested)
    runs = [retrieval(tmp_path / "0.parquet", 0, files, protocol=protocol)]
    text, _ = make(tmp_path, plan(section({"vse": entry("VSE", [0])}, protocol=protocol)), (files, runs))
    assert f"Flickr8K: test split, {heads}" in text


def test_the_foot_names_rows_that_saw_or_learned_nothing(tmp_path, data):
    files = data()
    paths = [retrieval(tmp_path / f"{name}.parquet", 0, files, name) for name in ("vse", "vsepp", "dspe")]
    rows = schema.read(paths[0], RETRIEVAL)
    of_images, places = rows["direction"] == "i2t", np.random.default_rng(0).random((len(rows), 5))
    candidates = np.where(of_images, 290, 59)
    rank = 1 + np.floor(np.where(of_images, places.min(axis=1), places[:, 0]) * candidates)
    chance = rows.assign(candidates=candidates, rank=rank)
    for path, changed in zip(paths[1:], (chance, rows.assign(tied=True)), strict=True):
        statement = read_identity(path).values()
        schema.write(changed.astype(rows.dtypes), RETRIEVAL, path, **statement)
    measured = {name: entry(name, [0]) for name in ("vse", "vsepp", "dspe")}
    text, _ = make(tmp_path, plan(section(measured)), (files, paths))
    assert "- Flickr8K: vsepp: no better than chance: relative to a random order, " in text
    assert "- Flickr8K: dspe: scores are nearly all equal: more than half of the queries" in text


def test_the_foot_counts_images_that_are_the_same_files(tmp_path, data):
    files = data()
    images = schema.read(files[0], IMAGES)
    images["sha256"] = images["image_id"]
    images.loc[[5, 6], "sha256"] = images["sha256"].iloc[-1]  # of train
    images.loc[[7, 8], "split"] = "val"
    images.loc[8, "sha256"] = images["sha256"].iloc[-2]
    schema.write(images, IMAGES, files[0], dataset="flickr8k")
    retrievals = [retrieval(tmp_path / "0.parquet", 0, files)]
    text, _ = make(tmp_path, plan(section({"vse": entry("VSE", [0])})), (files, retrievals))
    foot = [line.removeprefix("- Flickr8K: ") for line in text.splitlines() if "the same files" in line]
    assert foot == [
        "1 images of val are the same files as images of train.",
        "2 images of test are the same files as images of train.",
        "2 images of test are the same files as others of it.",
    ]


def test_bytes_depend_on_inputs_alone(tmp_path, data):
    files = data()
    runs = [retrieval(tmp_path / "0.parquet", 0, files)]
    chosen = plan(section({"vse": entry("VSE", [0])}))
    make(tmp_path, chosen, (files, runs))
    before = [Path(file).read_bytes() for file in outputs(tmp_path)]
    make(tmp_path, chosen, (files, runs))
    assert [Path(file).read_bytes() for file in outputs(tmp_path)] == before
    resized = {"view_whole": {**READ["view_whole"], "given": {"network": {"size": 64}}}}
    make(tmp_path, chosen, (files, [retrieval(tmp_path / "0.parquet", 0, files, read=resized)]))
    assert Path(outputs(tmp_path).markdown).read_bytes() != before[0]


def test_columns_are_aligned_and_stars_kept(tmp_path):
    text, _ = make(tmp_path, plan(section({}, protocol="hodosh"), printed=[("defrag", "2")]))
    lines = [line for line in text.splitlines() if line.startswith("|")]
    bars = [[place for place, letter in enumerate(line) if letter == "|"] for line in lines]
    assert all(places == bars[0] for places in bars)
    assert any(line.startswith(r"| \* Hodosh et al.") for line in lines)


def test_a_narrow_column_keeps_a_rule_that_markdown_reads(tmp_path, data):
    files = data()
    runs = [retrieval(tmp_path / "0.parquet", 0, files)]
    text, _ = make(tmp_path, plan(section({"vse": entry("VSE", [0])}), printed=()), (files, runs))
    rules = [line for line in text.splitlines() if line.startswith("| --")]
    assert len(rules) == 2
    assert all(re.fullmatch("-+:?", cell) for rule in rules for cell in cells(rule))


@pytest.mark.parametrize("seeds", [[0], [0, 1]])
def test_the_spread_over_seeds_has_a_column_where_there_are_several(tmp_path, data, seeds):
    files = data()
    runs = [retrieval(tmp_path / f"{seed}.parquet", seed, files) for seed in seeds]
    text, _ = make(tmp_path, plan(section({"vse": entry("VSE", seeds)}), printed=()), (files, runs))
    headers = [cells(line) for line in text.splitlines() if line.startswith("| Method")]
    assert [cell.strip() for cell in headers[0]].count("±") == len(seeds) - 1


def test_html_holds_every_cell_escaped(tmp_path, data):
    files = data()
    runs = [retrieval(tmp_path / "0.parquet", 0, files)]
    chosen = plan(section({"vse": entry("VSE", [0])}, title="<b>Flickr8K & co"))
    _, rows = make(tmp_path, chosen, (files, runs))
    page = Path(outputs(tmp_path).html).read_text(encoding="utf-8")
    assert "&lt;b&gt;Flickr8K &amp; co" in page
    # Two rows of headers for each of the two tables; ours stands beside its published rows and again with its interval.
    assert page.count("<tr>") == 2 + 2 + len(rows)


def test_mean_ranks_where_the_paper_prints_them(tmp_path):
    text, _ = make(tmp_path, plan(section({}, "pascal1k", "Pascal1K"), printed=[("defrag", "1")]))
    header = text.splitlines()[4]
    assert "Mean r" in header
    assert "Med r" not in header


def test_a_data_set_without_published_rows(tmp_path, data):
    files = data()
    runs = [retrieval(tmp_path / "0.parquet", 0, files)]
    text, rows = make(tmp_path, plan(section({"vse": entry("VSE", [0])}), printed=()), (files, runs))
    assert rows["kind"].tolist() == ["random", "measured"]
    assert "Published" not in text
    assert "vse, seed 0" in text


def test_the_foot_names_the_network_that_a_row_was_really_made_with(tmp_path, data):
    files = data()
    squeezenet = {"view_whole": {"wildcards": {"network": "squeezenet"}}}
    run = retrieval(tmp_path / "0.parquet", 0, files, read=squeezenet)
    text, _ = make(tmp_path, plan(section({"vse": entry("VSE", [0])})), (files, [run]))
    assert "Flickr8K, ours: network of whole: squeezenet; word vectors: learned." in text


def test_any_table_that_was_made_from_adopted_files_says_so():
    shown = Document("Title", [], ["a note"])
    assert add_adopted_note(shown) == shown
    job = Statement(adopted={"scenes/model.safetensors": ["the code"], "scenes/words.parquet": ["minimum"]})
    with making(job):
        (_, said) = add_adopted_note(shown).notes
        assert said.startswith(
            "Made from files of other code or of an earlier version, which were adopted (densevse ado"
        )
        assert said.endswith("not compared: minimum, the code.")
        named = Document("Title", [], ["Rows that ... were adopted (densevse adopt): vse."])
        assert add_adopted_note(named) == named


def test_the_foot_names_rows_that_rest_on_adopted_files(tmp_path, data):
    files = data()
    adopted = {"view_whole": {**READ["view_whole"], "adopted": {"flickr8k/features.parquet": ["the code", "size"]}}}
    runs = [
        retrieval(tmp_path / "0.parquet", 0, files, read=adopted),
        retrieval(tmp_path / "1.parquet", 1, files, "vsepp", 0),
    ]
    measured = {"vse": entry("VSE", [0]), "vsepp": entry("VSE++", [0])}
    text, _ = make(tmp_path, plan(section(measured)), (files, runs))
    assert "which were adopted (densevse adopt): vse. Their settings and" in text
    assert "not compared: size, the code." in text


def rounds_plan(measured, shared=(), judged=False, **last_rounds):
    """The plan of a table of rounds; the variants `shared` have round 0, and what it gives, from the first variant."""
    first, rounds = next(iter(measured)), []
    for name, last in last_rounds.items():
        for number in range(last + 1):
            model = first if number == 0 and name in shared else name
            maker = first if number == 1 and name in shared else name
            known = maker if judged and number else None
            rounds.append(RoundPlan(variant=name, number=number, model=model, correspondences=known))
    title = "Scenes: what each round gained"
    return RoundsPlan(title=title, section=section(measured, "scenes", "Scenes"), rounds=rounds)


def rounds_inputs(tmp_path, files, *runs):
    """Inputs of a table of rounds with a retrieval for each run: variant, number and seed."""
    found = []
    for n, (variant, number, seed) in enumerate(runs):
        path = tmp_path / f"{n}.parquet"
        found.append(retrieval(path, n, files, variant, seed, number=number, dataset="scenes"))
    return {"images": files[0], "captions": files[1], "retrievals": found}


def rounds(chosen, inputs, made):
    make_rounds(chosen.model_dump(mode="json"), **inputs, **made._asdict())


def accuracy(path, learned, variant, seed, number):
    rows = [("learned", learned), ("whole image", 0.1), ("chance", 0.05), ("best possible", 0.95)]
    rows = pd.DataFrame(rows, columns=["choice", "accuracy"]).assign(overlap=0.5, phrases=10)
    schema.write(rows, CORRESPONDENCE_ACCURACY, path, **Identity("scenes", variant, seed, number).values())
    return str(path)


def test_rounds(tmp_path, data):
    files = data(dataset="scenes")
    runs = [("hm_lstm", number, seed) for number in range(3) for seed in range(2)]
    accuracies = [
        accuracy(tmp_path / f"accuracy{n}.parquet", learned, "hm_lstm", n % 2, 1 + n // 2)
        for n, learned in enumerate((0.4, 0.6, 0.7, 0.9))
    ]
    inputs = rounds_inputs(tmp_path, files, *runs)
    measured, made = {"hm_lstm": entry("HM-LSTM", [0, 1])}, outputs(tmp_path)
    rounds(rounds_plan(measured, judged=True, hm_lstm=2), inputs | {"accuracies": accuracies}, made)
    found = schema.read(made.parquet, ROUNDS)
    sums = [metrics_of(schema.read(file, RETRIEVAL))["rsum"] for file in inputs["retrievals"]]
    assert found["rsum"].tolist() == pytest.approx([np.mean(sums[n : n + 2]) for n in (0, 2, 4)])
    assert found["gain"].tolist() == pytest.approx(
        [0, found["rsum"][1] - found["rsum"][0], found["rsum"][2] - found["rsum"][0]], abs=1e-3
    )
    assert (found["gain_low"][1:] < found["gain"][1:]).all()
    assert found["learned_accuracy"].tolist() == pytest.approx([np.nan, 0.5, 0.8], nan_ok=True)
    assert found["best_possible_accuracy"].tolist() == pytest.approx([np.nan, 0.95, 0.95], nan_ok=True)
    text = Path(made.markdown).read_text(encoding="utf-8")
    assert "torch 2.11.0" in text
    assert "Config " in text
    rounds(rounds_plan(measured, hm_lstm=2), inputs, made)
    assert schema.read(made.parquet, ROUNDS)["learned_accuracy"].isna().all()


def test_rounds_of_two_variants_each_start_from_their_own(tmp_path, data):
    inputs = rounds_inputs(tmp_path, data(dataset="scenes"), *(("a", n, 0) for n in range(3)), ("b", 0, 0), ("b", 1, 0))
    made = outputs(tmp_path)
    rounds(rounds_plan({"a": entry("A", [0]), "b": entry("B", [0])}, a=2, b=1), inputs, made)
    found = schema.read(made.parquet, ROUNDS)
    assert found["gain"][3] == 0
    assert found["gain"][4] == pytest.approx(found["rsum"][4] - found["rsum"][3], abs=1e-3)


def test_variants_that_share_round_0_share_its_row_and_what_it_gives(tmp_path, data):
    inputs = rounds_inputs(tmp_path, data(dataset="scenes"), ("a", 0, 0), ("a", 1, 0), ("b", 1, 0))
    inputs["accuracies"] = [accuracy(tmp_path / "accuracy.parquet", 0.4, "a", 0, 1)]
    made, measured = outputs(tmp_path), {"a": entry("A", [0]), "b": entry("B", [0])}
    rounds(rounds_plan(measured, shared=["b"], judged=True, a=1, b=1), inputs, made)
    found = schema.read(made.parquet, ROUNDS).set_index(["variant", "round"])
    assert found.loc[("a", 0), "rsum"] == found.loc[("b", 0), "rsum"]
    assert found.loc[("a", 1), "rsum"] != found.loc[("b", 1), "rsum"]
    assert found["learned_accuracy"].tolist() == pytest.approx([np.nan, 0.4, np.nan, 0.4], nan_ok=True)


def test_the_order_of_inputs_changes_no_byte(tmp_path, data):
    """Of a table with two data sets, a protocol twice, several variants and seeds; and of a table of rounds."""
    files = {"coco": data(1200, "coco"), "flickr30k": data(60, "flickr30k")}
    places = [("coco", "full"), ("coco", "first_1000"), ("flickr30k", "full")]
    measured = {"vse": entry("VSE", [0, 1]), "vsepp": entry("VSE++", [0, 1])}
    runs = [
        retrieval(tmp_path / f"{n}.parquet", n, files[place[0]], name, seed, dataset=place[0], protocol=place[1])
        for n, (place, name, seed) in enumerate(product(places, measured, (0, 1)))
    ]
    chosen = plan(
        *(section(measured, *place, protocol=place[1]) for place in places), printed=[("sco", "4"), ("vse", "1")]
    )
    images, captions = (list(column) for column in zip(*files.values(), strict=True))
    inputs = {"images": images, "captions": captions, "retrievals": runs}
    for name, end in (("published", "csv"), ("papers", "yaml")):
        inputs[name] = [str(FOLDER / f"{paper}.{end}") for paper in ("sco", "vse")]
    rounds = rounds_inputs(
        tmp_path / "rounds", data(61, "scenes"), *(("hm_lstm", n, seed) for n, seed in np.ndindex(3, 2))
    )
    rounds["accuracies"] = [accuracy(tmp_path / f"a{n}.parquet", n / 9, "hm_lstm", n % 2, 1 + n // 2) for n in range(4)]
    of_rounds = rounds_plan({"hm_lstm": entry("HM-LSTM", [0, 1])}, judged=True, hm_lstm=2)
    made = outputs(tmp_path)
    for make_it, given, planned in ((make_table, inputs, chosen), (make_rounds, rounds, of_rounds)):
        found = []
        for order in (list, reversed, lambda paths: np.random.default_rng(0).permutation(paths).tolist()):
            ordered = {name: one if isinstance(one, str) else list(order(one)) for name, one in given.items()}
            make_it(planned.model_dump(mode="json"), **ordered, **made._asdict())
            found.append([Path(file).read_bytes() for file in made])
        assert found[0] == found[1] == found[2]


def test_a_retrieval_that_is_missing_or_there_twice_is_named(tmp_path, data):
    files = data()
    run = retrieval(tmp_path / "0.parquet", 0, files)
    with pytest.raises(InputError, match="no retrieval artifact is of dataset flickr8k, variant vse, seed 1, round 0"):
        make(tmp_path, plan(section({"vse": entry("VSE", [0, 1])})), (files, [run]))
    again = retrieval(tmp_path / "again.parquet", 0, files)
    with pytest.raises(
        InputError, match=r"again\.parquet: a retrieval artifact of dataset flickr8k.* so is .*0\.parquet"
    ):
        make(tmp_path, plan(section({"vse": entry("VSE", [0])})), (files, [run, again]))


def test_a_retrieval_that_does_not_say_what_it_is_of_is_refused(tmp_path, data):
    files = data()
    run = retrieval(tmp_path / "0.parquet", 0, files)
    schema.write(schema.read(run, RETRIEVAL), RETRIEVAL, run)
    with pytest.raises(InputError, match=r"0\.parquet does not name its data set and variant"):
        make(tmp_path, plan(section({"vse": entry("VSE", [0])})), (files, [run]))


def test_the_footnotes_name_the_settings_changed_for_a_data_set(tmp_path, data):
    files = data()
    dimension = {"parameters.dimension": Difference(own=1024, here=512)}
    changed = {**dimension, "training.patience": Difference(own=5, here=None)}
    measured = {
        "vse": entry("VSE", [0], changed=changed),
        "vsepp": entry("VSE++", [0], changed=dimension),
        "order": entry("Order", [0], changed={"parameters.dimension": Difference(own=1024, here=256)}),
    }
    ranks = [retrieval(tmp_path / f"{name}.parquet", 0, files, name) for name in measured]
    footnotes, _ = make(tmp_path, plan(section(measured), printed=()), (files, ranks))
    _, sheet = footnotes.split("## Flickr8K: settings changed for this data set")
    rows = [[cell.strip() for cell in line.strip("| ").split("|")] for line in sheet.strip().splitlines()]
    assert rows[0] == ["Setting", "Here", "The method's own", "Variants"]
    assert rows[2:] == [
        ["parameters.dimension", "512", "1024", "vse, vsepp"],
        ["parameters.dimension", "256", "1024", "order"],
        ["training.patience", "none", "5", "vse"],
    ]
    page = (tmp_path / "table.html").read_text(encoding="utf-8")
    assert page.index("Flickr8K: settings changed") > page.index("</ul>")


def test_the_foot_says_that_captions_are_empty_or_uneven(tmp_path, data):
    files = data()
    captions = schema.read(files[1], CAPTIONS)
    own = captions[captions["image_id"] == "i3"].iloc[0]
    more = [own.to_dict() | {"caption_id": f"i3#{k}", "position": k, "text": ""} for k in range(5, 100)]
    every = pd.concat([captions, pd.DataFrame(more)], ignore_index=True).astype(captions.dtypes)
    schema.write(every, CAPTIONS, files[1], dataset="flickr8k")
    retrievals = [retrieval(tmp_path / "0.parquet", 0, files)]
    text, _ = make(tmp_path, plan(section({"vse": entry("VSE", [0])})), (files, retrievals))
    assert "- Flickr8K: 95 sentences of the data set are empty, and kept." in text
    asks = "- Flickr8K: a ranked image has 5 to 100 sentences; the one with the most asks 26% of the queries of t2i."
    assert asks in text


def test_the_foot_names_rows_far_below_chance(tmp_path, data):
    files = data()
    path = retrieval(tmp_path / "0.parquet", 0, files)
    rows = schema.read(path, RETRIEVAL)
    rows["rank"] = rows["candidates"].astype(rows["rank"].dtype)
    schema.write(rows, RETRIEVAL, path, **read_identity(path).values())
    text, _ = make(tmp_path, plan(section({"vse": entry("VSE", [0])})), (files, [path]))
    assert "- Flickr8K: vse: far below chance: half of the queries" in text


def test_the_footnotes_count_the_sentences_that_a_network_cuts(tmp_path, data):
    files = data()
    paths = [retrieval(tmp_path / "a", 0, files, "clip", found={"cut": "2 of 5"}), retrieval(tmp_path / "b", 0, files)]
    text, _ = make(tmp_path, plan(section({name: entry(name, [0]) for name in ("clip", "vse")})), (files, paths))
    (said,) = (line for line in text.splitlines() if "are cut" in line)
    assert said == "- Flickr8K: clip: 2 of 5 sentences have more tokens than the network reads, and are cut."


def test_the_footnotes_of_several_sections_say_each_thing_once_and_of_which_data_set(tmp_path, data):
    files, others = data(1200, "coco"), data(60, "flickr30k")
    coco = {"vse": entry("VSE", [4], changed={"parameters.dimension": Difference(own=1024, here=512)})}
    protocols = ("full", "first_1000")
    sections = [section(coco, "coco", "MS-COCO", protocol) for protocol in protocols]
    sections += [section({"vse": entry("VSE", [0, 1])}, "flickr30k", "Flickr30K")]
    of = {"dataset": "coco", "seed": 4}
    of_sections = [
        (files, [retrieval(tmp_path / f"{name}.parquet", 0, files, protocol=name, **of)]) for name in protocols
    ]
    runs = [retrieval(tmp_path / f"{seed}.parquet", seed, others, dataset="flickr30k") for seed in (0, 1)]
    of_sections += [(others, runs)]
    text, _ = make(tmp_path, plan(*sections, printed=()), *of_sections)
    footnotes = [line.removeprefix("- ") for line in text.splitlines() if line.startswith("- ")]
    data_sets = [line for line in footnotes if line.startswith(("MS-COCO", "Flickr30K"))]
    assert [line.partition(";")[0] for line in data_sets] == [
        "MS-COCO, full: 2 training images that can be read",
        "MS-COCO, full: 1 test images have no sentence: they are candidates but not queries.",
        "MS-COCO: 1,199 of 1,200 images of the test split can be read",
        "MS-COCO: queries with a tie: none.",
        "MS-COCO, first_1000: 2 training images that can be read",
        "Flickr30K: 2 training images that can be read",
        "Flickr30K: 1 test images have no sentence: they are candidates but not queries.",
        "Flickr30K: 59 of 60 images of the test split can be read",
        "Flickr30K: queries with a tie: none.",
        "MS-COCO, ours: network of whole: vgg19",
        "Flickr30K, ours: network of whole: vgg19",
        "MS-COCO, seed 4: vse.",
        "Flickr30K, seeds 0, 1: vse.",
    ]
    assert text.count("## MS-COCO: settings changed for this data set") == 1


def test_a_table_of_methods_as_they_are_has_no_sheet_of_changed_settings(tmp_path, data):
    files = data()
    text, _ = make(
        tmp_path,
        plan(section({"vse": entry("VSE", [0])}), printed=()),
        (files, [retrieval(tmp_path / "0.parquet", 0, files)]),
    )
    assert "settings changed" not in text.lower()


def test_the_foot_says_that_the_first_five_sentences_are_ranked(tmp_path, data):
    files, paths = data(), {}
    for name, kind, path in zip(("images", "captions"), (IMAGES, CAPTIONS), files, strict=True):
        table = schema.read(path, kind)
        if name == "images":
            table.loc[table["image_id"] == "i3", "captions"] = 7
        else:
            more = table[table["image_id"] == "i3"].iloc[:2]
            more = more.assign(position=[5, 6], caption_id=["i3#5", "i3#6"])
            table = pd.concat([table, more])
        paths[name] = str(tmp_path / f"more_{name}.parquet")
        schema.write(table, kind, paths[name], dataset="flickr8k")
    first = section({"vse": entry("VSE", [0])}).model_copy(update={"sentences": "first_five"})
    text, _ = make(tmp_path, plan(first, printed=()), (tuple(paths.values()), [retrieval(tmp_path / "r", 0, files)]))
    assert "the first five sentences of each image are ranked, as VSE++, SCAN and ECCV Caption do" in text
    assert "; 2 others of these images are not." in text
    assert "59 images, 290 sentences" in text
