"""Choices: what a question counts, ties, blind choices, Winoground's pairs, and the files of users."""

import numpy as np
import pandas as pd
import pytest

from densevse.evaluation.choices import (
    CHOICES,
    Choices,
    ChoiceScores,
    draw_others,
    group_credits,
    measure_choices,
    read_choices,
    winoground_pairs,
)
from snakeproof import schema
from snakeproof.errors import InputError


def questions(count, wrong=2, **columns):
    names = [f"q{n}" for n in range(count)]
    rows = {"question": names, "image": [f"i{n}" for n in range(count)], "right": "a dog", "category": "all"}
    rows |= {"wrong": [[f"a cat {n}" for n in range(wrong)]] * count, "family": [f"f{n}" for n in range(count)]}
    return pd.DataFrame(rows | columns)


def scores(values, sizes=0.0):
    return ChoiceScores(np.asarray(values, float), np.broadcast_to(np.asarray(sizes, float), np.shape(values)))


def test_a_question_counts_one_over_the_number_of_the_tied_best():
    found = scores([[3, 2, 1], [2, 3, 1], [3, 3, 1], [3, 3, 3], [1, 3, 3], [2, 1, np.nan]])
    assert found.credits().tolist() == [1, 0, 1 / 2, 1 / 3, 0, 1]
    assert found.ties() == 3


def test_scores_tie_within_the_tolerance_of_the_larger_of_the_best_and_its_terms():
    near = [[1, 1 + 5e-7], [1, 1 + 2e-6], [1e-3, 1e-3 + 5e-7]]
    assert scores(near).credits().tolist() == [0.5, 0, 0]
    assert scores(near, [[1, 1], [4, 4], [1, 1]]).credits().tolist() == [0.5, 0.5, 0.5]


def words_and_orders(random, count=200, words=32, length=16):
    """Vectors of sentences' words, each sentence in five orders, and vectors of images."""
    known = random.normal(size=(count, words, length)).astype(np.float32)
    orders = np.stack([[one[random.permutation(words)] for _ in range(5)] for one in known])
    return orders, random.normal(size=(count, 7, length)).astype(np.float32)


def cosine(orders, images):
    """A bag of words: each score and the sum of its terms' sizes, in float32."""
    vectors = np.add.accumulate(orders, axis=2)[:, :, -1]  # the words one after the other
    unit = vectors / np.linalg.norm(vectors, axis=2, keepdims=True)
    terms = unit * images[:, :1] / np.linalg.norm(images[:, :1], axis=2, keepdims=True)
    return np.add.accumulate(terms, axis=2)[:, :, -1], np.abs(terms).sum(axis=2)


def max_sum(orders, images):
    """The sum over words of the best region (DeepVS, Eq 8)."""
    best = np.einsum("qsnd,qrd->qsnr", orders, images).max(axis=3) - 5.4
    return np.add.accumulate(best, axis=2)[:, :, -1], np.abs(best).sum(axis=2)


@pytest.mark.parametrize("score", [cosine, max_sum])
def test_a_bag_of_words_has_exactly_chance(score):
    """The first of equal scores would be called right, and the last bits of sums decide where they differ."""
    found, sizes = score(*words_and_orders(np.random.default_rng(0)))
    assert (found.argmax(axis=1) == 0).mean() != 0.2
    measured = measure_choices(questions(200, 4), [Choices(scores(found, sizes), scores(found, sizes))]).iloc[0]
    chance = pytest.approx(20, rel=1e-12)  # and no more than the last bits of a mean from it
    assert (measured["choice"], measured["chance"], measured["ties"]) == (chance, 20, 200)
    assert (measured["difference"], measured["beats_chance_blind"]) == (0, False)


def test_sums_in_two_orders_differ_by_more_than_the_tolerance_of_the_score_alone():
    found, _ = max_sum(*words_and_orders(np.random.default_rng(0), 2000))
    assert scores(found).ties() < 2000


def test_what_counts_is_the_difference_to_the_blind_choice():
    random = np.random.default_rng(1)
    beside = scores(random.normal(size=(100, 3)) + np.array([2, 0, 0]))
    plausible = scores(random.normal(size=(100, 3)) + np.array([1.5, 0, 0]))
    row = measure_choices(questions(100), [Choices(beside, plausible)]).iloc[0]
    assert row["difference"] == pytest.approx(row["choice"] - row["blind"])
    assert row["difference_low"] < row["difference"] < row["difference_high"]
    assert row["beats_chance_blind"]
    known = measure_choices(questions(100), [Choices(beside)]).iloc[0]
    assert known["choice"] == row["choice"]
    assert known[["blind", "difference", "blind_ties"]].isna().all()
    assert not known["beats_chance_blind"]


def test_a_category_has_its_own_row_and_its_own_chance():
    random = np.random.default_rng(2)
    rows = pd.concat([questions(30, 1, category="colour"), questions(20, 3, category="number")], ignore_index=True)
    rows = rows.assign(question=[f"q{n}" for n in range(50)], image=[f"i{n}" for n in range(50)])
    values = random.normal(size=(50, 4))
    values[:30, 2:] = np.nan
    found = measure_choices(rows, [Choices(scores(values))]).set_index("category")
    assert found["questions"].tolist() == [50, 30, 20]
    assert found["chance"].tolist() == [100 * (30 / 2 + 20 / 4) / 50, 50, 25]
    right = np.nanargmax(values, axis=1) == 0
    assert found["choice"].tolist() == pytest.approx(
        [100 * right.mean(), 100 * right[:30].mean(), 100 * right[30:].mean()]
    )


def test_intervals_draw_families():
    values = np.repeat(np.random.default_rng(3).normal(size=(20, 2)), 10, axis=0)
    alone = measure_choices(questions(200, 1), [Choices(scores(values))]).iloc[0]
    rows = questions(200, 1, family=np.repeat([f"f{n}" for n in range(20)], 10))
    alike = measure_choices(rows, [Choices(scores(values))]).iloc[0]
    assert alike["choice_high"] - alike["choice_low"] > 2 * (alone["choice_high"] - alone["choice_low"])


def test_seeds_are_averaged():
    first, second = scores([[1, 0]] * 12), scores([[0, 1]] * 6 + [[1, 0]] * 6)
    row = measure_choices(questions(12, 1), [Choices(first), Choices(second)]).iloc[0]
    assert row["choice"] == 75


def pairs(count):
    rows = questions(2 * count, 1, family=np.repeat([f"f{n}" for n in range(count)], 2))
    texts = [(f"one {n // 2}", f"two {n // 2}")[:: 1 if n % 2 == 0 else -1] for n in range(2 * count)]
    return rows.assign(right=[right for right, _ in texts], wrong=[[wrong] for _, wrong in texts])


def test_winoground_s_groups_are_strict():
    asked = pairs(4)
    found = winoground_pairs(asked)
    assert found.tolist() == [[0, 1], [2, 3], [4, 5], [6, 7]]
    # its own and the wrong sentence, of the first image and of the second
    values = scores([[3, 1], [3, 1], [3, 1], [3, 3], [3, 1], [5, 4], [1, 3], [1, 3]])
    of_pairs = group_credits(values, found)
    assert of_pairs["text"].tolist() == [1, 0, 1, 0]
    assert of_pairs["image"].tolist() == [1, 0, 0, 0]
    assert of_pairs["both"].tolist() == [1, 0, 0, 0]
    row = measure_choices(asked, [Choices(values)]).iloc[0]
    assert row[["text", "image", "both"]].tolist() == [50, 25, 25]


def test_questions_that_are_no_pairs_have_no_groups():
    asked = pairs(3)
    asked.loc[5, "image"] = "i4"
    assert len(winoground_pairs(asked)) == 2
    assert "both" not in measure_choices(asked, [Choices(scores([[1, 0]] * 6))])


def test_equal_to_mteb_without_ties():
    torch = pytest.importorskip("torch")
    task = pytest.importorskip("mteb.abstasks.image.image_text_pair_classification")
    random = np.random.default_rng(4)
    compute = task.AbsTaskImageTextPairClassification._compute_metrics
    values = random.normal(size=(60, 5)) + np.array([0.5, 0, 0, 0, 0])
    theirs = compute(None, [torch.from_numpy(row)[None] for row in values], 1, 5)
    ours = measure_choices(questions(60, 4), [Choices(scores(values))]).iloc[0]
    assert ours["choice"] / 100 == pytest.approx(theirs["text_acc"])
    of_pairs = random.normal(size=(60, 2)) + np.array([1, 0])  # each image's own sentence, and the other one
    squares = [torch.from_numpy(np.stack([one, other[::-1].copy()])) for one, other in of_pairs.reshape(30, 2, 2)]
    theirs = compute(None, squares, 2, 2)
    ours = measure_choices(pairs(30), [Choices(scores(of_pairs))]).iloc[0]
    assert ours["text"] / 100 == pytest.approx(theirs["text_acc"])
    assert ours["image"] / 100 == pytest.approx(theirs["image_acc"])
    assert ours["both"] / 100 == pytest.approx(theirs["accuracy"])


def test_blind_images_have_no_caption_of_the_image_and_are_of_no_family_of_it():
    names = [f"i{n}" for n in range(30)]
    captions, family = pd.DataFrame({"image": names, "text": "a dog"}), {f"i{n}": str(n // 2) for n in range(30)}
    captions.loc[5:, "text"] = [f"a cat {n}" for n in range(25)]
    captions.loc[3, "text"] = "A  Dog"
    found = draw_others(captions, family, 0)
    assert all(len(set(found[name])) == 8 for name in names)
    assert not {"i0", "i1", "i2", "i3", "i4"} & {*found["i3"]}
    assert not any({f"i{n}", f"i{n ^ 1}"} & {*found[f"i{n}"]} for n in range(30))
    assert draw_others(captions, family, 0) == found != draw_others(captions, family, 1)


def test_users_files_may_leave_out_category_and_family(tmp_path):
    rows = questions(3).drop(columns=["category", "family"]).assign(image=[7, 7, 8])
    rows.to_parquet(tmp_path / "c.parquet")
    found = read_choices(tmp_path / "c.parquet")
    assert found["family"].tolist() == found["image"].tolist() == ["7", "7", "8"]
    assert found["category"].unique().tolist() == ["all"]
    schema.write(found, CHOICES, tmp_path / "sealed.parquet")
    assert read_choices(tmp_path / "sealed.parquet").equals(schema.read(tmp_path / "sealed.parquet", CHOICES))


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"wrong": [["x"], [], ["y"]]}, "row 1 .*it has no wrong sentence"),
        ({"right": ["a", " ", "b"]}, "row 1 .*a sentence is empty"),
        ({"wrong": [["x"], ["y"], ["x", "a dog"]]}, "row 2 .*a wrong sentence is the right one"),
        ({"question": ["q", "q2", "q"]}, "row 2 .*another question has this name"),
        ({"image": "i", "family": ["f", "f", "g"]}, "its image is in another family too"),
        ({"right": ["a", None, "b"]}, "right"),
        ({"wrong": [["x"], [None], ["y"]]}, "row 1 .*a sentence is empty"),
        ({"wrong": "a cat"}, "wrong"),
    ],
)
def test_wrong_questions_are_named_by_their_row(tmp_path, columns, said):
    questions(3).assign(**columns).to_parquet(tmp_path / "c.parquet")
    with pytest.raises(InputError, match=rf"c\.parquet(?s:.*){said}"):
        read_choices(tmp_path / "c.parquet")


def test_files_that_are_no_choices_are_refused(tmp_path):
    (tmp_path / "c.parquet").write_text("no")
    with pytest.raises(InputError, match=r"c\.parquet: not readable as choices"):
        read_choices(tmp_path / "c.parquet")
    questions(3).drop(columns="right").to_parquet(tmp_path / "c.parquet")
    with pytest.raises(InputError, match=r"c\.parquet: no column right; choices have question, image"):
        read_choices(tmp_path / "c.parquet")
    questions(3)[:0].to_parquet(tmp_path / "c.parquet")
    with pytest.raises(InputError, match=r"c\.parquet: there is no question"):
        read_choices(tmp_path / "c.parquet")
