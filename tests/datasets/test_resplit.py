"""Random splits of the images of a data set."""

import pandas as pd
import pytest

from densevse.datasets.readers import resplit
from snakeproof.errors import InputError

DRAW = {"seed": 0, "train": 12, "val": 3, "test": 4}


def tables(count=20, families=None, unreadable=()):
    ids = [f"i{number}" for number in range(count)]
    images = pd.DataFrame({"image_id": ids, "split": ["train"] * (count - 2) + ["test"] * 2, "family": families or ids})
    images["status"] = ["missing" if image in unreadable else "ok" for image in ids]
    captions = pd.DataFrame({"caption_id": [f"{image}#{k}" for image in ids for k in range(2)]})
    captions["image_id"] = captions["caption_id"].str.partition("#")[0]
    captions["split"] = captions["image_id"].map(images.set_index("image_id")["split"])
    return images, captions


def test_each_split_has_its_size_and_captions_follow_their_images():
    images, captions = resplit(*tables(), DRAW)
    assert images["split"].value_counts(sort=False).to_dict() == {"train": 12, "val": 3, "test": 4}
    assert captions["caption_id"].tolist() == [f"{image}#{k}" for image in images["image_id"] for k in range(2)]
    assert (captions["split"] == captions["image_id"].map(images.set_index("image_id")["split"])).all()


def test_a_seed_gives_one_draw_and_another_seed_another():
    drawn, again, other = (resplit(*tables(), {**DRAW, "seed": seed})[0] for seed in (0, 0, 1))
    assert drawn.equals(again)
    assert set(drawn.query("split == 'test'")["image_id"]) != set(other.query("split == 'test'")["image_id"])


def test_more_training_images_leave_val_and_test_as_they_are():
    fewer, more = (resplit(*tables(), {**DRAW, "train": train})[0] for train in (5, 12))
    held_out = [set(drawn.query("split != 'train'")["image_id"]) for drawn in (fewer, more)]
    assert held_out[0] == held_out[1]


def test_a_family_falls_into_one_split():
    images, _ = resplit(*tables(families=[f"f{number // 2}" for number in range(20)]), DRAW)
    assert (images.groupby("family")["split"].nunique() == 1).all()
    assert images["split"].value_counts(sort=False).to_dict() == {"train": 12, "val": 4, "test": 4}


def test_images_that_cannot_be_read_are_not_drawn():
    images, _ = resplit(*tables(unreadable=("i0",)), DRAW)
    assert "i0" not in set(images["image_id"])
    assert len(resplit(*tables(), {**DRAW, "train": 13})[0]) == 20
    with pytest.raises(InputError, match=r"13 of train are asked for, and 19 images can be read"):
        resplit(*tables(unreadable=("i0",)), {**DRAW, "train": 13})


def test_images_on_which_settings_were_chosen_are_not_tested():
    """The val images of the draw that chose leave test; nothing else changes."""
    other, plain = ({**DRAW, "seed": seed} for seed in (6, 0))
    chosen = resplit(*tables(), other)[0].set_index("image_id")["split"]
    before = resplit(*tables(), plain)[0].set_index("image_id")["split"]
    after, captions = resplit(*tables(), {**plain, "chosen_on": 6})
    left = before[[name for name in before.index if before[name] == "test" and chosen.get(name) == "val"]]
    assert len(left) == 2
    assert after.set_index("image_id")["split"].to_dict() == before.drop(left.index).to_dict()
    assert not set(left.index) & set(captions["image_id"])
