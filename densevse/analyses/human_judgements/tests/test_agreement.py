"""Agreement with people: against a case worked by hand and scipy, and the official files' format."""

from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.stats import kendalltau

from densevse.analyses.human_judgements.judgements import (
    CROWD_RANKS,
    JUDGEMENTS,
    PAIR_SCORES,
    read_judgements,
    write_judgements,
)
from densevse.analyses.human_judgements.pair_scores import JudgedScores, write_given_pair_scores
from densevse.analyses.human_judgements.scored_pairs import read_scores, write_scored_pairs
from densevse.analyses.human_judgements.settings import AgreementPlan, JudgedVariant
from densevse.analyses.human_judgements.table import AGREEMENT, PUBLISHED_AGREEMENT, agreement, make_agreement_table
from densevse.artifacts.identity import Identity, read_identity
from densevse.artifacts.schemas.datasets import CAPTIONS
from densevse.evaluation.protocols import TestSet
from densevse.report.published import read_rows
from snakeproof import schema
from snakeproof.errors import InputError
from snakeproof.statements import Statement, making
from tests.pictures import write_images
from tests.tables import outputs_in

PUBLISHED = Path(__file__).parents[1] / "published"
MINE = Statement(wildcards={"dataset": "flickr8k", "variant": "mine", "seed": "0"})
OWNERS = pd.DataFrame({"caption_id": ["a#0", "b#0", "c#0"], "image_id": ["a", "b", "c"]})


@pytest.fixture
def text(tmp_path):
    """A folder with the official files, reduced."""
    experts = ["a\tb#0\t1\t1\t2", "a\ta#0\t4\t4\t4", "b\tc#0\t3\t4\t4", "c\ta#0\t2\t1\t1"]
    crowd = ["a\tb#0\t0\t0\t3", "b\tc#0\t0.66\t2\t1", "c\ta#0\t0.33\t1\t2", "c\tc#0\t1\t3\t0"]
    (tmp_path / "ExpertAnnotations.txt").write_text("\n".join(experts) + "\n")
    (tmp_path / "CrowdFlowerAnnotations.txt").write_text("\n".join(crowd) + "\n")
    return str(tmp_path)


def test_each_rating_of_an_expert_is_a_row_and_its_own_captions_are_left_out(text):
    found = read_judgements(text, OWNERS)
    experts = found[found["by"] == "experts"]
    assert experts["rating"].tolist() == [1, 1, 2, 3, 4, 4, 2, 1, 1]
    assert found[found["by"] == "crowd"]["rating"].tolist() == [0, 0.66, 0.33, 1]


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("ExpertAnnotations.txt", "a\tb#0\t1\t5\t2"),
        ("ExpertAnnotations.txt", "a\tb#0\t1\t2"),
        ("CrowdFlowerAnnotations.txt", "a\tb#0\t1.5\t1\t2"),
        ("CrowdFlowerAnnotations.txt", "a\tb#0\tyes\t1\t2"),
    ],
)
def test_a_wrong_line_is_named(text, file, line):
    with open(Path(text, file), "a", encoding="utf-8") as lines:
        lines.write(line + "\n")
    with pytest.raises(InputError, match=rf"{file}, line \d: expected an image"):
        read_judgements(text, OWNERS)


@pytest.mark.parametrize(
    ("file", "line"),
    [("ExpertAnnotations.txt", "b\tc#0\t4\t4\t4"), ("CrowdFlowerAnnotations.txt", "b\tc#0\t1\t3\t0")],
)
def test_a_pair_that_is_judged_in_two_lines_is_refused(text, file, line):
    with open(Path(text, file), "a", encoding="utf-8") as lines:
        lines.write(line + "\n")
    with pytest.raises(InputError, match=rf"{file}, line 5: \['b', 'c#0'\] is judged in line \d too; keep one"):
        read_judgements(text, OWNERS)


def test_missing_files_are_named(tmp_path):
    with pytest.raises(InputError, match=r"ExpertAnnotations\.txt"):
        read_judgements(str(tmp_path), OWNERS)


def test_judgements_of_another_data_set_are_refused(text):
    with pytest.raises(InputError, match="none of the 16 judgements"):
        read_judgements(text, pd.DataFrame({"caption_id": ["x#0"], "image_id": ["x"]}))


def test_only_pairs_of_the_test_split_are_read(tmp_path, text):
    write_images(tmp_path, "abc", split=["test", "test", "train"])
    schema.write(OWNERS.assign(position=0, text="a dog", split="test"), CAPTIONS, tmp_path / "captions.parquet")
    write_judgements(text, *(str(tmp_path / f"{name}.parquet") for name in ("images", "captions", "judgements")))
    found = schema.read(tmp_path / "judgements.parquet", JUDGEMENTS)
    assert found["rating"].tolist() == [1, 1, 2, 0]


def test_pairs_are_scored_by_the_tile(monkeypatch):
    monkeypatch.setattr("densevse.analyses.human_judgements.pair_scores.IMAGES_AT_ONCE", 2)
    images, captions = (
        np.array([f"{of}{n}" for n in range(count)], dtype=object) for of, count in (("i", 5), ("c", 7))
    )
    test_set = TestSet(images, captions, np.zeros(7, np.int64), images)
    scores = torch.arange(35.0).view(5, 7)
    pairs = [("i4", "c0"), ("i1", "c6"), ("i1", "c6"), ("i3", "c2")]
    judged_pairs = pd.DataFrame(pairs, columns=["image_id", "caption_id"]).assign(by="crowd", rating=1.0)
    found = JudgedScores(lambda i, j: lambda a, b: scores[i][:, j][a, b], test_set, judged_pairs).pairs()
    assert found["score"].tolist() == [28, 13, 23]
    means = scores.mean(dim=1, keepdim=True), scores.mean(dim=0, keepdim=True)
    centred = scores - means[0] - means[1]
    assert found["centred"].tolist() == [float(centred[pair]) for pair in ((4, 0), (1, 6), (3, 2))]
    judged_pairs.loc[0, "image_id"] = "i9"
    with pytest.raises(InputError, match=r"\['i9', 'c0'\] is not of the test split"):
        JudgedScores(lambda i, j: lambda a, b: scores[i][:, j][a, b], test_set, judged_pairs).pairs()


def test_the_crowd_s_positives_are_right_answers_of_both_directions():
    """Three images, a sentence each; the crowd's 2 of 3 let sentence c of image a count, 1 of 3 does not."""
    names = np.array(["a", "b", "c"], dtype=object)
    test_set = TestSet(names, np.array(["a#0", "b#0", "c#0"], dtype=object), np.arange(3), names)
    scores = torch.tensor([[0.1, 0.9, 0.5], [0.2, 0.2, 0.2], [0.7, 0.1, 0.6]])
    rows = [("a", "c#0", "crowd", 0.6666667), ("a", "b#0", "crowd", 0.33), ("c", "a#0", "experts", 4.0)]
    judgements = pd.DataFrame(rows, columns=["image_id", "caption_id", "by", "rating"])
    found = JudgedScores(lambda i, j: lambda a, b: scores[i][:, j][a, b], test_set, judgements).crowd_ranks()
    assert found["direction"].tolist() == ["i2t"] * 3 + ["t2i"] * 3
    assert found["image"].tolist() == [0, 1, 2] * 2
    # Image a has c (.5) after b, b has ties, c its own after a. Sentence a comes after c and b, b after a, c is first.
    assert found["rank"].tolist() == [2, 3, 2, 3, 2, 1]


def judged(ratings):
    rows = [{"image_id": f"i{n}", "caption_id": "c#0", "by": "experts", "rating": r} for n, r in enumerate(ratings)]
    return pd.DataFrame(rows)


def scored(scores):
    rows = [{"image_id": f"i{n}", "caption_id": "c#0", "score": score} for n, score in enumerate(scores)]
    return pd.DataFrame(rows).assign(centred=np.arange(len(scores))[::-1])


def test_a_case_worked_by_hand():
    """Ratings 1 1 2 3, scores 1 2 3 2: of six pairs, three agree, one disagrees, one ties in each.

    tau-b = (3 - 1) / sqrt(5 * 5) = 0.4. tau-c, with n = 4 and three different values on either side (m = 3), is
    2 (3 - 1) / (4^2 (3 - 1) / 3) = 0.375.
    """
    ratings, scores = [1, 1, 2, 3], [1.0, 2.0, 3.0, 2.0]
    assert agreement(judged(ratings), [scored(scores)], "b").tau == pytest.approx(40)
    assert agreement(judged(ratings), [scored(scores)], "c").tau == pytest.approx(37.5)


def test_agrees_with_scipy_and_means_over_seeds():
    random = np.random.default_rng(0)
    ratings = random.integers(1, 5, 300)
    runs = [ratings + random.normal(0, 2, 300) for _ in range(2)]
    found = agreement(judged(ratings), [scored(run) for run in runs], "c")
    expected = [100 * kendalltau(run, ratings, variant="c").statistic for run in runs]
    assert found.tau == pytest.approx(np.mean(expected))
    assert found.interval.low < found.tau < found.interval.high


def test_an_interval_covers_the_seed_of_training():
    random = np.random.default_rng(0)
    ratings = random.integers(1, 5, 300)
    near, far = ratings + random.normal(0, 1, 300), random.normal(0, 1, 300)
    of_one = agreement(judged(ratings), [scored(near)], "c").interval
    alike = agreement(judged(ratings), [scored(near)] * 3, "c").interval
    apart = agreement(judged(ratings), [scored(near), scored(near), scored(far)], "c").interval
    assert alike == pytest.approx(of_one)
    assert apart.high - apart.low > 3 * (of_one.high - of_one.low)


def test_centred_scores_agree_where_means_hide_it():
    """Made-up judgements of 40 images and 5 sentences: a score is right but for the mean of each image and sentence."""
    random = np.random.default_rng(0)
    right = random.integers(1, 5, (40, 5)).astype(float)
    right -= right.mean(axis=1, keepdims=True) + right.mean(axis=0) - right.mean()
    scores = torch.from_numpy(right + random.normal(0, 9, (40, 1)) + random.normal(0, 9, (1, 5)))
    names = np.array([f"i{n}" for n in range(40)], dtype=object), np.array([f"c{n}" for n in range(5)], dtype=object)
    test_set = TestSet(*names, np.zeros(5, np.int64), names[0])
    pairs = [(image, caption) for image in names[0] for caption in names[1]]
    rows = pd.DataFrame(pairs, columns=["image_id", "caption_id"]).assign(by="experts", rating=right.ravel())
    run = JudgedScores(lambda i, j: lambda a, b: scores[i][:, j][a, b], test_set, rows).pairs()
    assert agreement(rows, [run], "b", "centred").tau > 99  # equal ratings have no order
    assert agreement(rows, [run], "b").tau < 30


def test_a_pair_without_a_score_is_named():
    with pytest.raises(InputError, match=r"1 judged pairs have no score, among them \['i1', 'c#0'\]"):
        agreement(judged([1, 2]), [scored([0.5])], "c")


def ranked(path, of, random):
    """Made-up CROWD_RANKS beside PAIR_SCORES: two queries of each of 12 images, one in each direction."""
    rows = {"direction": ["i2t"] * 12 + ["t2i"] * 12, "image": [*range(12)] * 2, "rank": random.integers(1, 20, 24)}
    schema.write(pd.DataFrame(rows), CROWD_RANKS, ranks_beside(path), **of.values())


def ranks_beside(path):
    return str(path).replace(".parquet", "_ranks.parquet")


def make(folder, scores, plan, outputs):
    files = {
        "ranks": [ranks_beside(path) for path in scores],
        "judgements": str(folder / "judgements.parquet"),
        "published": str(PUBLISHED / "flickr8k.csv"),
        "scores": scores,
    }
    make_agreement_table(**files, plan=plan.model_dump(mode="json"), **outputs._asdict())


def test_the_table_sets_ours_beside_the_published(tmp_path, text):
    rows = read_judgements(text, OWNERS)
    schema.write(rows.astype({"rating": np.float32}), JUDGEMENTS, tmp_path / "judgements.parquet")
    scores = rows[["image_id", "caption_id"]].drop_duplicates()
    scores = scores.assign(score=[0.1, 0.9, 0.3, 0.2], centred=[0.1, 0.9, 0.2, 0.3])
    of = Identity("flickr8k", "vse", 0, 0, split="test")
    schema.write(scores, PAIR_SCORES, tmp_path / "scores.parquet", **of.values())
    ranked(tmp_path / "scores.parquet", of, np.random.default_rng(0))
    outputs = outputs_in(tmp_path)
    vse = JudgedVariant(title="VSE", seeds=[0], model="vse", round=0)
    plan = AgreementPlan(title="Flickr8K", dataset="flickr8k", measured={"vse": vse})
    make(tmp_path, [str(tmp_path / "scores.parquet")], plan, outputs)
    found = schema.read(outputs.parquet, AGREEMENT).set_index("method")
    assert found.loc["CLIP-S", ["experts", "crowd_with_own"]].tolist() == pytest.approx([51.2, 34.4])
    assert np.isnan(found.loc["CLIP-S", "crowd"])
    assert found.loc["VSE", "crowd"] == pytest.approx(100)
    # Of six pairs four agree: the image's own sentence, rated 1, has a score of 0.2, below two others.
    assert found.loc["VSE", "crowd_with_own"] == pytest.approx(100 * (4 - 2) / 6)
    assert found.loc["VSE", ["crowd_centred", "experts_centred"]].notna().all()
    ranks = schema.read(ranks_beside(tmp_path / "scores.parquet"), CROWD_RANKS)
    of_images = ranks["rank"][ranks["direction"] == "i2t"]
    assert found.loc["VSE", "crowd_i2t_r5"] == pytest.approx(100 * (of_images <= 5).mean())
    assert found.loc["VSE", "crowd_i2t_r5_low"] < found.loc["VSE", "crowd_i2t_r5_high"]
    text = Path(outputs.markdown).read_text(encoding="utf-8")
    assert "9 ratings by experts, 4 pairs judged by the crowd, 1 of them of an image and its own sentence" in text
    assert "crowd without own tau-b" in text
    assert "crowd with own tau-b" in text
    assert "the authors' code prints 51.4" in text


def test_the_order_of_scores_changes_no_byte(tmp_path, text):
    rows = read_judgements(text, OWNERS)
    schema.write(rows.astype({"rating": np.float32}), JUDGEMENTS, tmp_path / "judgements.parquet")
    pairs, paths = rows[["image_id", "caption_id"]].drop_duplicates(), []
    for n, (name, seed) in enumerate(product(("vse", "vsepp"), (0, 1))):
        paths.append(str(tmp_path / f"{n}.parquet"))
        random = np.random.default_rng(n)
        scores = pairs.assign(score=random.random(len(pairs)), centred=random.random(len(pairs)))
        of = Identity("flickr8k", name, seed, 0, split="test")
        schema.write(scores, PAIR_SCORES, paths[-1], **of.values())
        ranked(paths[-1], of, random)
    measured = {name: JudgedVariant(title=name, seeds=[0, 1], model=name, round=0) for name in ("vse", "vsepp")}
    plan = AgreementPlan(title="Flickr8K", dataset="flickr8k", measured=measured)
    outputs = outputs_in(tmp_path)
    found = []
    for order in (paths, paths[::-1], [*paths[2:], *paths[:2]]):
        make(tmp_path, order, plan, outputs)
        found.append([Path(file).read_bytes() for file in outputs])
    assert found[0] == found[1] == found[2]
    with pytest.raises(InputError, match="no pair_scores artifact is of dataset flickr8k, variant vse, seed 1"):
        make(tmp_path, paths[:1], plan, outputs)


def test_given_scores_of_judged_pairs_are_those_of_the_matrix(tmp_path):
    files = {name: str(tmp_path / f"{name}.parquet") for name in ("caption_table", "judgements", "pairs", "ranks")}
    files |= {"image_table": write_images(tmp_path, "abc"), "scores": str(tmp_path / "mine.npy")}
    schema.write(OWNERS.assign(position=0, text="a dog", split="test"), CAPTIONS, files["caption_table"])
    pairs = pd.DataFrame([("a", "c#0"), ("c", "b#0")], columns=["image_id", "caption_id"])
    schema.write(pairs.assign(by="crowd", rating=0.5), JUDGEMENTS, files["judgements"])
    np.save(files["scores"], np.arange(9, dtype=np.float32).reshape(3, 3))
    with making(MINE):
        write_given_pair_scores(**files, layout={}, ranked_sentences="all")
    assert schema.read(files["pairs"], PAIR_SCORES)["score"].tolist() == [2, 7]
    for output in ("pairs", "ranks"):
        assert read_identity(files[output]) == Identity("flickr8k", "mine", 0, split="test")
    # The own answers of the images, and of the sentences, have 2, 1 and 0 better ones.
    assert schema.read(files["ranks"], CROWD_RANKS)["rank"].tolist() == [3, 2, 1, 3, 2, 1]


def test_every_published_file_fits_its_columns():
    assert all(read_rows(file, PUBLISHED_AGREEMENT) for file in PUBLISHED.glob("*.csv"))


@pytest.fixture
def judged_pairs(tmp_path):
    """Judgements of four pairs, of which one is judged twice, and the captions' texts."""
    texts = ["a dog", "a cat, asleep", "a dog"]
    schema.write(OWNERS.assign(position=0, text=texts, split="test"), CAPTIONS, tmp_path / "captions.parquet")
    rows = [("a", "c#0", "experts", 1), ("a", "c#0", "experts", 2), ("a", "b#0", "crowd", 0), ("c", "a#0", "crowd", 1)]
    judgements = pd.DataFrame(rows, columns=["image_id", "caption_id", "by", "rating"]).astype({"rating": np.float32})
    schema.write(judgements, JUDGEMENTS, tmp_path / "judgements.parquet")


def read_pairs(folder, text):
    (folder / "mine.csv").write_text(text, encoding="utf-8")
    files = {name: str(folder / f"{name}.parquet") for name in ("captions", "judgements")}
    output = str(folder / "scores.parquet")
    with making(MINE):
        write_scored_pairs(str(folder / "mine.csv"), **files, output=output)
    return schema.read(output, PAIR_SCORES)


@pytest.mark.parametrize(
    "text",
    [
        "image_id,caption_id,score\nc,a#0,3\na,b#0,1.5\na,c#0,-2\nb,a#0,9\n",
        'score,text,image_id\n3,a dog,c\n1.5,"a cat, asleep",a\n-2,a dog,a\n',
    ],
)
def test_scores_of_judged_pairs_alone_are_found_by_id_or_by_text(tmp_path, judged_pairs, text):
    found = read_pairs(tmp_path, text)
    assert list(zip(found["image_id"], found["caption_id"], found["score"], strict=True)) == [
        ("a", "c#0", -2),
        ("a", "b#0", 1.5),
        ("c", "a#0", 3),
    ]
    assert found["centred"].isna().all()
    assert read_identity(tmp_path / "scores.parquet") == Identity("flickr8k", "mine", 0, split="test")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("image_id,caption_id,score\na,c#0,1\nc,a#0,1\n", r"1 of 3 judged pairs .* image 'a' with sentence 'b#0'"),
        ("image_id,sentence,score\na,c#0,1\n", r"mine\.csv: no column text; it needs image_id, caption_id or text"),
        ("image_id,caption_id,score\na,c#0,1\na,b#0,high\n", r"row 2: image 'a' with sentence 'b#0' has a score that"),
        ("image_id,caption_id,score\na,c#0,inf\n", r"row 1: .* not a finite number"),
        ("image_id,caption_id,score\na,c#0,1\na,c#0,2\n", r"row 2: .* has a line before this one"),
        ("", r"mine\.csv: not readable as scores"),
    ],
)
def test_wrong_scores_of_judged_pairs_are_named(tmp_path, judged_pairs, text, message):
    with pytest.raises(InputError, match=message):
        read_pairs(tmp_path, text)


def test_scores_of_judged_pairs_may_be_parquet(tmp_path):
    pd.DataFrame({"image_id": ["a"], "text": ["a dog"], "score": np.float32([0.5])}).to_parquet(tmp_path / "s.parquet")
    assert read_scores(str(tmp_path / "s.parquet")).iloc[0].tolist() == ["a", "a dog", 0.5]


def test_a_row_of_judged_pairs_alone_has_taus_and_no_recalls(tmp_path, judged_pairs):
    read_pairs(tmp_path, "image_id,caption_id,score\nc,a#0,3\na,b#0,1\na,c#0,2\n")
    mine = JudgedVariant(title="Mine", seeds=[0], model="mine", round=None, judged_only=True)
    plan = AgreementPlan(title="Flickr8K", dataset="flickr8k", measured={"mine": mine})
    outputs, judgements = outputs_in(tmp_path), str(tmp_path / "judgements.parquet")
    only, published = [str(tmp_path / "scores.parquet")], str(PUBLISHED / "flickr8k.csv")
    make_agreement_table(judgements, published, plan.model_dump(mode="json"), judged_only=only, **outputs._asdict())
    row = schema.read(outputs.parquet, AGREEMENT).set_index("method").loc["Mine"]
    assert row["crowd"] == pytest.approx(100)
    assert row[["crowd_centred", "experts_centred", "crowd_i2t_r1"]].isna().all()
    text = Path(outputs.markdown).read_text(encoding="utf-8")
    assert "Mine: given scores of the judged pairs alone" in text
