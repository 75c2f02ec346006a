"""DeFrag's Figures 4 and 5: their contents, and that their bytes depend on nothing else."""

import pandas as pd
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from PIL import Image

from densevse.analyses.alignments import figures as alignments
from densevse.analyses.alignments.alignments import ALIGNMENTS, TRIPLET_REGIONS
from densevse.analyses.alignments.figures import draw_alignments
from densevse.artifacts.schemas.datasets import CAPTIONS
from densevse.artifacts.schemas.retrieval import RETRIEVAL
from densevse.report.figures import RIGHT_COLOUR, WRONG_COLOUR
from snakeproof import schema
from tests.pictures import write_images

TRIPLETS = [("amod", "dog", "black"), ("nsubj", "runs", "$dog$")]


@pytest.fixture
def tables(tmp_path):
    """Three pictures that rank the same two sentences, of which the second is theirs."""
    ids = [str(number) for number in range(3)]
    captions = pd.DataFrame({"caption_id": [f"{i}#0" for i in ids], "image_id": ids, "position": 0, "split": "test"})
    captions = captions.assign(text="a black $dog$ runs ...")
    asked = pd.DataFrame({"query_id": ids, "direction": "i2t", "fold": 0, "rank": 2, "candidates": 3})
    asked["top"] = [[f"{(number + 1) % 3}#0", f"{number}#0"] for number in range(3)]
    asked["tied"], asked["top_scores"], asked["top_true"] = False, [[2.0, 1.0]] * 3, [[False, True]] * 3
    named = [dict(zip(("relation", "governor", "dependent"), triplet, strict=True)) for triplet in TRIPLETS]
    box = {"region": 1, "x": 5.0, "y": 4.0, "width": 20.0, "height": 30.0, "score": 1.5}
    rows = [
        {"image_id": i, "caption_id": first[0], "governor_token": 1, "dependent_token": 0, **triplet, **box}
        for i, first in zip(ids, asked["top"], strict=True)
        for triplet in named
    ]
    regions = [{**triplet, "sentences": 7, "image_id": i, **box} for triplet in named for i in ids]
    paths = {"image_table": write_images(tmp_path, ids, drawn=True)}
    for name, content, kind in (
        ("caption_table", captions, CAPTIONS),
        ("retrieval", asked, RETRIEVAL),
        ("alignments", rows, ALIGNMENTS),
        ("triplet_regions", regions, TRIPLET_REGIONS),
    ):
        paths[name] = str(tmp_path / f"{name}.parquet")
        schema.write(content, kind, paths[name])
    return {**paths, "sources": {"images": str(tmp_path / "images")}}


@pytest.fixture
def draw(tables, tmp_path, monkeypatch):
    """A function that runs the job, and returns its two figures and their files."""
    save = alignments.save_figure

    def drawn(name="drawn"):
        figures: list[Figure] = []
        monkeypatch.setattr(
            alignments, "save_figure", lambda figure, path, legend: (figures.append(figure), save(figure, path, legend))
        )
        paths = [tmp_path / f"{name}_{figure}.png" for figure in ("sentences", "triplets")]
        draw_alignments(**tables, title="title", sentences=str(paths[0]), triplets=str(paths[1]))
        return figures, paths

    return drawn


def test_sentences_have_their_colours_and_triplets_their_boxes(draw):
    (figure, _), (path, _) = draw()
    assert Image.open(path).size[0] > 1000
    for place in figure.axes[:3]:
        colours = {text.get_text(): text.get_color() for text in place.texts}
        assert colours["1. a black $dog$ runs ..."] == WRONG_COLOUR
        assert colours["2. a black $dog$ runs ..."] == RIGHT_COLOUR
        boxes = {to_rgb(box.get_edgecolor()) for box in place.patches}
        drawn = {to_rgb(color) for text, color in colours.items() if text.startswith(("amod(", "nsubj("))}
        assert drawn == boxes
        assert len(drawn) == 2


def test_regions_of_triplets_are_cut_out(draw):
    (_, figure), (_, path) = draw()
    _, (_, again) = draw("again")
    assert path.read_bytes() == again.read_bytes()
    (canvas,) = figure.axes
    assert len(canvas.images) == 6
    assert all(image.get_array().shape == (30, 20, 3) for image in canvas.images)
    assert "amod(dog, black), 7 times" in [text.get_text() for text in canvas.texts]
