import io

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from PIL import Image

from densevse.analyses.examples.examples import example_retrievals
from densevse.analyses.training_curves.curves import joined, training_curves
from densevse.artifacts import schema
from densevse.artifacts.schemas.datasets import CAPTIONS, IMAGES
from densevse.artifacts.schemas.retrieval import RETRIEVAL
from densevse.report.saving import save
from densevse.training.loop import history_schema


def history(path, epochs, best, start=()):
    """A history whose epochs begin with `start` (0 where the model that training started from was validated)."""
    rows = pd.DataFrame({"epoch": [*start, *range(1, epochs + 1)], "step": 1, "learning_rate": 0.1, "resumed": 0})
    loss = 1 / rows["epoch"].replace(0, np.nan)
    rows = rows.assign(phase="main", seconds=1.0, loss=loss, rsum=rows["epoch"] * 10.0, best=rows["epoch"] == best)
    schema.write(rows, history_schema(["rsum"]), path, {})
    return str(path)


def pixels(path):
    return np.asarray(Image.open(path).convert("RGB")).astype(int)


@pytest.mark.parametrize("ending", ["svg", "png"])
def test_training_curves_are_reproducible(tmp_path, ending):
    rounds = [history(tmp_path / f"{n}.parquet", 3 + n, 2) for n in range(2)]
    histories = {"vse": [[rounds[0]], [rounds[1]]], "hm_lstm": [rounds]}
    training_curves(histories, "Scenes", str(tmp_path / f"a.{ending}"))
    training_curves(histories, "Scenes", str(tmp_path / f"b.{ending}"))
    assert (tmp_path / f"a.{ending}").read_bytes() == (tmp_path / f"b.{ending}").read_bytes()
    training_curves({"vse": [[rounds[1]]]}, "Scenes", str(tmp_path / f"c.{ending}"))
    assert (tmp_path / f"a.{ending}").read_bytes() != (tmp_path / f"c.{ending}").read_bytes()


def test_the_start_of_a_round_stands_where_the_round_before_ended(tmp_path):
    rounds = [history(tmp_path / "0.parquet", 3, 2), history(tmp_path / "1.parquet", 2, 0, start=[0])]
    run = joined(rounds)
    assert run["epoch"].tolist() == [1, 2, 3, 3, 4, 5]
    assert run.loc[run["best"], "epoch"].tolist() == [2, 3]


def test_training_curves_of_nothing_are_an_empty_figure(tmp_path):
    training_curves({}, "Scenes", str(tmp_path / "a.svg"))
    assert b"Scenes" in (tmp_path / "a.svg").read_bytes() or (tmp_path / "a.svg").stat().st_size > 0


@pytest.fixture
def retrieved(tmp_path):
    """Three images in a folder, with two sentences each, and what they found."""
    (tmp_path / "images").mkdir()
    for n in range(3):
        data = io.BytesIO()
        Image.new("RGB", (30 + 20 * n, 40), (80 * n, 10, 200)).save(data, "PNG")
        (tmp_path / f"images/{n}.png").write_bytes(data.getvalue())
    images = pd.DataFrame({"image_id": ["i0", "i1", "i2"], "source": "images", "file": ["0.png", "1.png", "2.png"]})
    images = images.assign(
        split="test", width=40, height=40, sha256="", captions=2, family=images["image_id"], status="ok"
    )
    schema.write(images, IMAGES, tmp_path / "images.parquet", {})
    captions = [(f"i{n}#{k}", f"i{n}", k, f"a $1 dog {n} & a <cat>_{k}", "test") for n in range(3) for k in range(2)]
    names = ["caption_id", "image_id", "position", "text", "split"]
    schema.write(pd.DataFrame(captions, columns=names), CAPTIONS, tmp_path / "captions.parquet", {})
    ids = [caption[0] for caption in captions]
    rows = [(0, "i2t", f"i{n}", 1, 6, ids, [True, False, False, True, False, False]) for n in range(3)]
    rows += [(0, "t2i", caption, 2, 3, ["i0", "i1", "i2"], [False, True, False]) for caption in ids]
    columns = ["fold", "direction", "query_id", "rank", "candidates", "top", "top_true"]
    rows = pd.DataFrame(rows, columns=columns)
    return tmp_path, rows.assign(top_scores=[[0.1] * len(top) for top in rows["top"]])


def draw(folder, rows, name):
    schema.write(rows, RETRIEVAL, folder / "retrieval.parquet", {})
    tables = [str(folder / f"{table}.parquet") for table in ("retrieval", "images", "captions")]
    example_retrievals(*tables, {"images": str(folder / "images")}, "VSE on a few", str(folder / name))
    return folder / name


def test_example_retrievals_are_reproducible(retrieved):
    folder, rows = retrieved
    assert draw(folder, rows, "a.png").read_bytes() == draw(folder, rows, "b.png").read_bytes()


def test_right_answers_are_marked(retrieved):
    """With every answer wrong the picture holds no green; with the right ones it does."""
    folder, rows = retrieved

    def green(path):
        red, greenness, blue = np.moveaxis(pixels(path), -1, 0)
        return int(((greenness - red > 60) & (greenness - blue > 30)).sum())

    assert green(draw(folder, rows, "right.png")) > 100
    rows["top_true"] = [[False] * len(top) for top in rows["top"]]
    assert green(draw(folder, rows, "wrong.png")) == 0


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("ending", ["svg", "png"])
def test_what_the_font_has_no_picture_of_is_written_as_its_code(tmp_path, ending):
    figure = Figure()
    figure.suptitle("a cat 猫 \U0001f993 in a café\nand more")
    save(figure, tmp_path / f"figure.{ending}")
    assert figure.get_suptitle() == "a cat \\u732b \\U0001f993 in a café\nand more"
