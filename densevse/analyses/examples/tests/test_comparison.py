import pandas as pd
import pytest
from PIL import Image

from densevse.analyses.examples.examples import draw_comparison
from densevse.artifacts import schema
from densevse.artifacts.identity import Identity
from densevse.artifacts.schemas.datasets import CAPTIONS, IMAGES
from densevse.artifacts.schemas.retrieval import RETRIEVAL
from densevse.report.plan import PicturePlan, ShownArtifact
from densevse.runtime.errors import InputError

IDS = ["i0", "i1"]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "images").mkdir()
    for image in IDS:
        Image.new("RGB", (60, 40), (10, 20, 200)).save(tmp_path / f"images/{image}.png")
    rows = pd.DataFrame({"image_id": IDS, "family": IDS, "file": [f"{image}.png" for image in IDS], "split": "test"})
    rows = rows.assign(source="images", width=60, height=40, sha256="", captions=1, status="ok")
    schema.write(rows, IMAGES, tmp_path / "images.parquet", {})
    return tmp_path


def retrieval(folder, name, best, images=IDS):
    captions = [("c0", "i0"), ("c1", "i1")]
    rows = pd.DataFrame([(caption, image, 0, f"a $1 dog {caption}", "test") for caption, image in captions])
    rows.columns = ["caption_id", "image_id", "position", "text", "split"]
    schema.write(rows, CAPTIONS, folder / "captions.parquet", {})
    tops = [[best, "c1" if best == "c0" else "c0"] for _ in images]
    rows = pd.DataFrame({"query_id": images, "top": tops, "direction": "i2t", "fold": 0, "rank": 1})
    right = [[dict(captions)[caption] == image for caption in top] for image, top in zip(images, tops, strict=True)]
    rows = rows.assign(tied=False, candidates=2, top_scores=[[0.2, 0.1]] * len(images), top_true=right)
    schema.write(rows, RETRIEVAL, folder / f"{name}.parquet", {}, of(name))
    return str(folder / f"{name}.parquet")


def of(name):
    return Identity("scenes", name, 0, 0, "full", "test")


def compare(folder, retrievals, name):
    tables = [str(folder / f"{table}.parquet") for table in ("images", "captions")]
    shown = [ShownArtifact(title=variant, of=of(variant)) for variant in ("ctx", "gen")]
    plan = PicturePlan(title="Compared", shown=shown).model_dump(mode="json")
    draw_comparison(retrievals, *tables, [str(folder / "images")], ["images"], plan, str(folder / name))
    return (folder / name).read_bytes()


def test_the_comparison_shows_every_variant_by_what_its_artifact_says_that_it_is_of(folder):
    found = [retrieval(folder, "ctx", "c0"), retrieval(folder, "gen", "c1")]
    first = compare(folder, found, "a.png")
    assert compare(folder, found[::-1], "b.png") == first
    other = [retrieval(folder, "ctx", "c1"), retrieval(folder, "gen", "c0")]
    assert compare(folder, other, "c.png") != first


def test_a_missing_artifact_is_named(folder):
    with pytest.raises(InputError, match="no retrieval artifact is of dataset scenes, variant gen"):
        compare(folder, [retrieval(folder, "ctx", "c0")], "a.png")


def test_variants_that_were_asked_other_images_are_refused(folder):
    found = [retrieval(folder, "ctx", "c0"), retrieval(folder, "gen", "c1", ["i1", "i0"])]
    with pytest.raises(InputError, match=r"gen\.parquet: its images are not those of .*ctx\.parquet"):
        compare(folder, found, "a.png")
