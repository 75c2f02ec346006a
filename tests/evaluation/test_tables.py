import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from densevse.artifacts import schema
from densevse.artifacts.schemas.correspondences import CORRESPONDENCE_ACCURACY
from densevse.artifacts.schemas.datasets import CAPTIONS, IMAGES
from densevse.artifacts.schemas.retrieval import RETRIEVAL
from densevse.artifacts.schemas.tables import RESULTS, ROUNDS
from densevse.evaluation.recall import figures_of
from densevse.evaluation.rounds import make_rounds
from densevse.evaluation.tables import Outputs, make_table

PUBLISHED = sorted(map(str, (Path(__file__).parents[2] / "config/published").glob("*.csv")))
PAPERS = str(Path(__file__).parents[2] / "config/published/papers.yaml")
TESTED = 60  # images, of which one has no sentence and one cannot be read


@pytest.fixture
def data(tmp_path):
    """The image and caption tables of a small data set."""
    images = pd.DataFrame({"image_id": [f"i{n}" for n in range(TESTED + 3)], "source": "images", "file": "a.jpg"})
    images = images.assign(
        split="test", width=4, height=4, sha256="", captions=5, family=images["image_id"], status="ok"
    )
    images.loc[0, "status"] = "truncated"
    images.loc[TESTED:, "split"] = "train"
    captions = [(f"i{n}#{k}", f"i{n}", k, "a dog", "test") for n in range(TESTED - 1) for k in range(5)]
    schema.write(images, IMAGES, tmp_path / "images.parquet", {})
    names = ["caption_id", "image_id", "position", "text", "split"]
    schema.write(pd.DataFrame(captions, columns=names), CAPTIONS, tmp_path / "captions.parquet", {})
    return str(tmp_path / "images.parquet"), str(tmp_path / "captions.parquet")


def retrieval(path, seed, trained_on="cpu"):
    """A retrieval artifact with random ranks."""
    random = np.random.default_rng(seed)
    rows = pd.DataFrame({"direction": ["annotation"] * 58 + ["search"] * 290})
    rows = rows.assign(fold=0, query_id="q", rank=random.geometric(0.1, len(rows)), candidates=290)
    rows = rows.assign(top=[["x"]] * len(rows), top_scores=[[0.5]] * len(rows), top_true=[[True]] * len(rows))
    made_from = {"device": "cpu", "trained_on": trained_on, "versions": {"torch": "2.11.0", "python": "3.11.2"}}
    schema.write(rows, RETRIEVAL, path, made_from)
    return str(path)


def variant(title, views=("whole",), sentences=("words",)):
    return {"title": title, "views": list(views), "sentences": list(sentences), "networks": {}, "word_vectors": False}


def settings(published="flickr8k", protocol="full", **measured):
    network = {"architecture": "vgg19", "trained_on": None, "local": "vgg19.pth", "weights": None, "precision": "bf16"}
    networks = {"whole": "vgg19", "regions": "rcnn"}
    return {
        "title": "Flickr8K",
        "protocol": protocol,
        "published": published,
        "dataset": {"networks": networks, "proposer": "boxes", "parser": "corenlp_pcfg", "word_vectors": None},
        "networks": {"vgg19": network, "rcnn": network},
        "variants": {
            "vse": variant("VSE"),
            "hm_lstm": variant("HM-LSTM", ("regions",), ("trees",)),
            "vsepp": variant("VSE++"),
        },
        "measured": measured,
    }


def outputs(tmp_path):
    return Outputs(*(str(tmp_path / f"table.{ending}") for ending in ("md", "html", "csv", "parquet")))


def make(tmp_path, data, files, chosen):
    made = outputs(tmp_path)
    make_table(*data, files, PUBLISHED, PAPERS, chosen, made)
    return made, schema.read(made.parquet, RESULTS)


def cells(line):
    return [cell.strip() for cell in line.strip("|\n").split(" | ")]


def test_published_beside_measured(tmp_path, data):
    files = [retrieval(tmp_path / f"{seed}.parquet", seed) for seed in range(3)]
    made, rows = make(tmp_path, data, files, settings(vse=[0, 1], vsepp=[0]))
    vse = [figures_of(schema.read(file, RETRIEVAL)) for file in files[:2]]
    measured = rows[rows["kind"] == "measured"].set_index("variant")
    assert measured.loc["vse", "sum"] == pytest.approx(np.mean([one["sum"] for one in vse]))
    assert measured.loc["vse", "sum_spread"] == pytest.approx(np.std([one["sum"] for one in vse], ddof=1))
    assert measured.loc["vse", "seeds"] == 2
    assert np.isnan(measured.loc["vsepp", "sum_spread"])
    published = rows[rows["kind"] == "published"].set_index(["source", "method"])
    own = published.loc[("VSE, table", "Our model")]
    assert own["difference"] == pytest.approx(measured.loc["vse", "sum"] - (13.5 + 36.2 + 45.7 + 10.4 + 31.0 + 43.7))
    lines = Path(made.markdown).read_text(encoding="utf-8").splitlines()
    line = next(cells(line) for line in lines if line.startswith("| Our model ") and "VSE, table" in line)
    assert line[2:6] == ["13.5", "36.2", "45.7", "13"]
    assert "vse" in line
    assert line[-1] == f"{own['difference']:+.1f}"
    assert sum("vsepp" in line and line.startswith("| VSE++") for line in lines) == 1


def test_difference_is_over_the_recalls_that_are_printed(tmp_path, data):
    files = [retrieval(tmp_path / "0.parquet", 0)]
    _, rows = make(tmp_path, data, files, settings(hm_lstm=[0]))
    ours = rows[rows["kind"] == "measured"].iloc[0]
    own = rows[(rows["source"] == "HM-LSTM, Table 1") & (rows["method"] == "HM-LSTM")].iloc[0]
    recalls = ours["annotation_r1"] + ours["annotation_r10"] + ours["search_r1"] + ours["search_r10"]
    assert own["difference"] == pytest.approx(recalls - (27.7 + 68.6 + 24.4 + 68.1), abs=1e-3)


def test_methods_not_measured_stand_with_an_empty_side(tmp_path, data):
    made, rows = make(tmp_path, data, [], settings())
    assert (rows["kind"] == "published").sum() == 33
    assert rows.loc[rows["variant"] == "hm_lstm", "difference"].isna().all()
    lines = Path(made.markdown).read_text(encoding="utf-8").splitlines()
    line = next(cells(line) for line in lines if line.startswith("| HM-LSTM "))
    assert line[2] == "27.7"
    assert set(line[11:]) == {""}


@pytest.mark.parametrize(("protocol", "beside"), [("full", False), ("hodosh", True)])
def test_starred_rows_are_compared_under_their_own_protocol(tmp_path, data, protocol, beside):
    chosen = settings(protocol=protocol, defrag=[0])
    chosen["variants"]["defrag"] = variant("DeFrag")
    _, rows = make(tmp_path, data, [retrieval(tmp_path / "0.parquet", 0)], chosen)
    found = rows.set_index("method")["difference"]
    assert found.notna()["* Our model († + MIL)"] == beside
    assert found.notna()["Our model († + MIL)"] != beside


def test_random_row_is_of_this_data(tmp_path, data):
    _, rows = make(tmp_path, data, [], settings())
    assert rows.loc[0, "kind"] == "random"
    assert rows.loc[0, "search_r1"] == pytest.approx(100 / 59)  # 59 readable images, one of them silent
    assert rows.loc[0, "annotation_mean_rank"] == pytest.approx((290 + 1) / 6)


def test_title_and_foot_say_how_it_was_measured(tmp_path, data):
    files = [retrieval(tmp_path / f"{seed}.parquet", seed, trained_on="cuda") for seed in range(2)]
    made, _ = make(tmp_path, data, files, settings(vse=[4], hm_lstm=[7]))
    text = Path(made.markdown).read_text(encoding="utf-8")
    title = text.splitlines()[0]
    for part in ("Flickr8K: test split, 59 images, 290 sentences", "regions rcnn", "whole vgg19", "proposer boxes"):
        assert part in title
    assert "parser corenlp_pcfg" in title
    for part in (
        "1 test images have no sentence",
        "1 test images cannot be read",
        "vgg19.pth",
        "3 training and 59 test images",
        "Seeds 4: vse.",
        "torch 2.11.0",
        "GPU",
        "Published with R-CNN",
    ):
        assert part in text
    assert "SCO" not in text  # no row of Flickr8K is from that paper


def test_bytes_depend_on_inputs_alone(tmp_path, data):
    files = [retrieval(tmp_path / "0.parquet", 0)]
    first, _ = make(tmp_path, data, files, settings(vse=[0]))
    before = [Path(file).read_bytes() for file in first]
    again, _ = make(tmp_path, data, files, settings(vse=[0]))
    assert [Path(file).read_bytes() for file in again] == before
    changed = settings(vse=[0])
    changed["minimum"] = 1
    make(tmp_path, data, files, changed)
    assert Path(first.markdown).read_bytes() != before[0]


def test_columns_are_aligned_and_stars_kept(tmp_path, data):
    made, _ = make(tmp_path, data, [], settings())
    lines = [line for line in Path(made.markdown).read_text(encoding="utf-8").splitlines() if line.startswith("|")]
    bars = [[place for place, letter in enumerate(line) if letter == "|"] for line in lines]
    assert all(places == bars[0] for places in bars)
    assert any(line.startswith(r"| \* Hodosh et al.") for line in lines)


def test_a_narrow_column_keeps_a_rule_that_markdown_reads(tmp_path, data):
    made, _ = make(tmp_path, data, [retrieval(tmp_path / "0.parquet", 0)], settings(published=None, vse=[0]))
    rule = Path(made.markdown).read_text(encoding="utf-8").splitlines()[3]
    assert all(re.fullmatch("-+:?", cell) for cell in cells(rule))


def test_pre_trained_vectors_of_a_data_set_without_any_are_learned(tmp_path, data):
    chosen = settings(vse=[0])
    chosen["variants"]["vse"]["word_vectors"] = True
    made, _ = make(tmp_path, data, [retrieval(tmp_path / "0.parquet", 0)], chosen)
    assert "word vectors learned" in Path(made.markdown).read_text(encoding="utf-8")


def test_html_holds_every_cell_escaped(tmp_path, data):
    chosen = settings(vse=[0])
    chosen["title"] = "<b>Flickr8K & co"
    made, rows = make(tmp_path, data, [retrieval(tmp_path / "0.parquet", 0)], chosen)
    page = Path(made.html).read_text(encoding="utf-8")
    assert "&lt;b&gt;Flickr8K &amp; co" in page
    assert page.count("<tr>") == 2 + len(rows) - 1  # ours stands beside its published rows


def test_mean_ranks_where_the_paper_prints_them(tmp_path, data):
    made, _ = make(tmp_path, data, [], settings(published="pascal1k"))
    header = Path(made.markdown).read_text(encoding="utf-8").splitlines()[2]
    assert "Mean r" in header
    assert "Med r" not in header


def test_a_data_set_without_published_rows(tmp_path, data):
    made, rows = make(tmp_path, data, [retrieval(tmp_path / "0.parquet", 0)], settings(published=None, vse=[0]))
    assert rows["kind"].tolist() == ["random", "measured"]
    text = Path(made.markdown).read_text(encoding="utf-8")
    assert "Published" not in text
    assert "vse, seed 0" in text


def test_rounds(tmp_path):
    files = [retrieval(tmp_path / f"{n}.parquet", n) for n in range(6)]
    accuracies = []
    for number, learned in enumerate((0.4, 0.6, 0.7, 0.9)):
        rows = [("learned", learned), ("whole image", 0.1), ("chance", 0.05), ("best possible", 0.95)]
        rows = pd.DataFrame(rows, columns=["choice", "accuracy"]).assign(overlap=0.5, phrases=10)
        accuracies.append(str(tmp_path / f"accuracy{number}.parquet"))
        schema.write(rows, CORRESPONDENCE_ACCURACY, accuracies[-1], {})
    chosen = {"title": "Scenes", "rounds": {"hm_lstm": 2}, "titles": {"hm_lstm": "HM-LSTM"}, "seeds": [0, 1]}
    made = outputs(tmp_path)
    make_rounds(files, accuracies, chosen, made)
    found = schema.read(made.parquet, ROUNDS)
    sums = [figures_of(schema.read(file, RETRIEVAL))["sum"] for file in files]
    assert found["sum"].tolist() == pytest.approx([np.mean(sums[n : n + 2]) for n in (0, 2, 4)])
    assert found["gain"].tolist() == pytest.approx(
        [0, found["sum"][1] - found["sum"][0], found["sum"][2] - found["sum"][0]], abs=1e-3
    )
    assert found["learned_accuracy"].tolist() == pytest.approx([np.nan, 0.5, 0.8], nan_ok=True)
    assert found["best_possible_accuracy"].tolist() == pytest.approx([np.nan, 0.95, 0.95], nan_ok=True)
    make_rounds(files, [], chosen, made)
    assert schema.read(made.parquet, ROUNDS)["learned_accuracy"].isna().all()


def test_rounds_of_two_variants_each_start_from_their_own(tmp_path):
    files = [retrieval(tmp_path / f"{n}.parquet", n) for n in range(5)]
    chosen = {"title": "Scenes", "rounds": {"a": 2, "b": 1}, "titles": {"a": "A", "b": "B"}, "seeds": [0]}
    made = outputs(tmp_path)
    make_rounds(files, [], chosen, made)
    found = schema.read(made.parquet, ROUNDS)
    assert found["gain"][3] == 0
    assert found["gain"][4] == pytest.approx(found["sum"][4] - found["sum"][3], abs=1e-3)
