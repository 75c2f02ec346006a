"""Pictures of retrievals: the answers of one method, and those of several side by side."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from PIL import Image

from densevse.analyses.examples import dag, examples
from densevse.analyses.examples.examples import draw_comparison, draw_examples, draw_one_query
from densevse.artifacts.identity import Identity
from densevse.artifacts.schemas.datasets import CAPTIONS
from densevse.artifacts.schemas.retrieval import RETRIEVAL
from densevse.dag.project import Project, Stage
from densevse.report.figures import RIGHT_COLOUR
from densevse.report.plan import PicturePlan
from snakeproof import schema
from snakeproof.errors import InputError
from tests.pictures import write_images
from tests.projects import ROOT

IDS = ["i0", "i1", "i2"]


@pytest.fixture
def folder(tmp_path):
    """Three images of different sizes, with two sentences each."""
    write_images(tmp_path, IDS, drawn=True, width=[30, 50, 70], height=40)
    captions = [(f"{i}#{k}", i, k, f"a $1 dog {i} & a <cat>_{k}", "test") for i in IDS for k in range(2)]
    names = ["caption_id", "image_id", "position", "text", "split"]
    schema.write(pd.DataFrame(captions, columns=names), CAPTIONS, tmp_path / "captions.parquet")
    return tmp_path


def files_of(folder):
    """The tables of images and sentences, and the source by its name."""
    return *(str(folder / f"{name}.parquet") for name in ("images", "captions")), {"images": str(folder / "images")}


@pytest.fixture
def answers():
    """The answers of every image and of every sentence."""
    captions = [f"{i}#{k}" for i in IDS for k in range(2)]
    rows = [(0, "i2t", i, 1, 6, captions, [True, False, False, True, False, False]) for i in IDS]
    rows += [(0, "t2i", caption, 2, 3, IDS, [False, True, False]) for caption in captions]
    rows = pd.DataFrame(rows, columns=["fold", "direction", "query_id", "rank", "candidates", "top", "top_true"])
    return rows.assign(tied=False, top_scores=[[0.1] * len(top) for top in rows["top"]])


def draw(folder, rows, name):
    schema.write(rows, RETRIEVAL, folder / "retrieval.parquet")
    draw_examples(str(folder / "retrieval.parquet"), *files_of(folder), "VSE on a few", str(folder / name))
    return folder / name


def test_example_retrievals_are_reproducible(folder, answers):
    assert draw(folder, answers, "a.png").read_bytes() == draw(folder, answers, "b.png").read_bytes()


def test_right_answers_are_marked(folder, answers):
    """With every answer wrong the picture holds no green; with the right ones it does."""

    def green(path):
        red, greenness, blue = np.moveaxis(np.asarray(Image.open(path).convert("RGB")).astype(int), -1, 0)
        return int(((greenness - red > 60) & (greenness - blue > 30)).sum())

    assert green(draw(folder, answers, "right.png")) > 100
    answers["top_true"] = [[False] * len(top) for top in answers["top"]]
    assert green(draw(folder, answers, "wrong.png")) == 0


def of(name):
    return Identity("scenes", name, 0, 0, "full", "test")


def retrieval(folder, name, best, images=IDS):
    """The retrieval of a variant that ranks the sentence `best` first for every image."""
    tops = [[best, "i1#0" if best == "i0#0" else "i0#0"] for _ in images]
    rows = pd.DataFrame({"query_id": images, "top": tops, "direction": "i2t", "fold": 0, "rank": 1})
    right = [[caption.startswith(image) for caption in top] for image, top in zip(images, tops, strict=True)]
    rows = rows.assign(tied=False, candidates=6, top_scores=[[0.2, 0.1]] * len(images), top_true=right)
    schema.write(rows, RETRIEVAL, folder / f"{name}.parquet", **of(name).values())
    return str(folder / f"{name}.parquet")


def compare(folder, retrievals, name):
    plan = PicturePlan(title="Compared", shown={variant: of(variant) for variant in ("ctx", "gen")})
    draw_comparison(retrievals, *files_of(folder), plan.model_dump(mode="json"), str(folder / name))
    return (folder / name).read_bytes()


def test_the_comparison_shows_every_variant_by_what_its_artifact_says_that_it_is_of(folder):
    found = [retrieval(folder, "ctx", "i0#0"), retrieval(folder, "gen", "i1#0")]
    first = compare(folder, found, "a.png")
    assert compare(folder, found[::-1], "b.png") == first
    other = [retrieval(folder, "ctx", "i1#0"), retrieval(folder, "gen", "i0#0")]
    assert compare(folder, other, "c.png") != first


def test_one_query_has_a_column_for_each_row_with_its_rank(folder, answers, monkeypatch):
    """The sentence in the middle of the six; the answer of one row is right, and has a frame."""
    schema.write(answers.assign(rank=[7] * len(answers)), RETRIEVAL, folder / "gen.parquet", **of("gen").values())
    answers["top_true"] = [[False] * len(top) for top in answers["top"]]
    schema.write(answers, RETRIEVAL, folder / "ctx.parquet", **of("ctx").values())
    figures, save = [], examples.save_figure
    monkeypatch.setattr(examples, "save_figure", lambda figure, *rest: (figures.append(figure), save(figure, *rest)))
    plan = PicturePlan(title="One", shown={variant: of(variant) for variant in ("ctx", "gen")}).model_dump(mode="json")
    retrievals = [str(folder / f"{name}.parquet") for name in ("gen", "ctx")]
    draw_one_query(retrievals, *files_of(folder), plan, str(folder / "one.png"))
    (axes,) = figures[0].axes
    texts = [text.get_text() for text in axes.texts]
    assert texts == ["One", "a $1 dog i1 & a <cat>_1", "ctx\nrank 2 of 3", "gen\nrank 7 of 3"]
    assert len(axes.images) == 6
    (frame,) = axes.patches
    assert to_hex(frame.get_edgecolor()) == RIGHT_COLOUR
    assert frame.get_x() > axes.texts[2].get_position()[0], "the right answer is of the second column"


def test_one_query_is_asked_of_each_row_of_the_main_table_after_its_last_round():
    stage = Stage(Project(ROOT, {}), dag)
    plan = PicturePlan.model_validate(stage.one_query_job("scenes").settings["plan"])
    rows = [(row["variant"], row["round"]) for row in stage.main_retrievals("scenes")]
    assert [(row.variant, row.round) for row in plan.shown.values()] == rows
    assert {("vse", 0), ("hm_lstm", 2)} < set(rows)
    assert len(rows) == 6


def test_a_missing_artifact_is_named(folder):
    with pytest.raises(InputError, match="no retrieval artifact is of dataset scenes, variant gen"):
        compare(folder, [retrieval(folder, "ctx", "i0#0")], "a.png")


def test_variants_that_were_asked_other_images_are_refused(folder):
    found = [retrieval(folder, "ctx", "i0#0"), retrieval(folder, "gen", "i1#0", IDS[::-1])]
    with pytest.raises(InputError, match=r"gen\.parquet: its images are not those of .*ctx\.parquet"):
        compare(folder, found, "a.png")
