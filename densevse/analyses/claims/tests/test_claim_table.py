"""Verdicts on claims, from synthetic retrieval artifacts."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from densevse.analyses.claims.settings import CannotShow, ClaimedSection, ClaimPlan, ClaimsPlan, PoolPlan, PrintedGain
from densevse.analyses.claims.table import CLAIM_RESULTS, Judged, make_claims_table
from densevse.artifacts.identity import Identity
from densevse.artifacts.schemas.datasets import CAPTIONS, IMAGES
from densevse.artifacts.schemas.retrieval import RETRIEVAL
from densevse.evaluation.protocols import folds, select_split
from densevse.report.plan import MeasuredVariant, SectionPlan
from densevse.report.sections import list_queries
from densevse.statistics.bootstrap import UNKNOWN_INTERVAL, Interval
from snakeproof import schema
from snakeproof.errors import InputError
from tests.pictures import write_images
from tests.tables import outputs_in, unaligned

GOOD, BAD = 0.8, 0.05
"""The share of queries whose first answer is right."""


def claim(better, worse, **changes):
    text = {"paper": "A paper", "title": f"{better} is above {worse}.", "place": "Table 1", "metric": "rsum"}
    return ClaimPlan(**{**text, "better": better, "worse": worse, **changes})


def judged(interval, images=1000, gains=(0.5, 1.5), same_ranks=False, **of_claim):
    return Judged(claim("a", "b", **of_claim), 2.0, 1.0, 1.0, Interval(*interval), gains, images, same_ranks)


@pytest.mark.parametrize(
    ("interval", "least_gain", "verdict"),
    [
        ((0.1, 5.0), None, "supported"),
        ((0.1, 5.0), 0.5, "supported"),
        ((0.1, 5.0), 0.6, "not shown"),
        ((0.0, 5.0), None, "not shown"),
        ((-1.0, 5.0), None, "not shown"),
        ((-5.0, -0.1), 0.5, "contradicted"),
        ((0.0, 0.0), None, "not shown"),
        (UNKNOWN_INTERVAL, None, "undecided"),
    ],
)
def test_a_verdict_is_that_of_the_interval_and_of_the_seed_that_gains_least(interval, least_gain, verdict):
    assert judged(interval, least_gain=least_gain).verdict == verdict


def test_rows_that_rank_every_query_alike_show_nothing():
    assert judged((0.0, 0.0), same_ranks=True).verdict == "the set-up cannot show it"


def test_a_seed_without_a_gain_does_not_change_what_the_interval_supports():
    assert judged((1.2, 10.6), gains=[-3.0, 5.6, 10.5]).verdict == "supported"


@pytest.mark.parametrize("interval", [(0.1, 5.0), (-1.0, 5.0), (-5.0, -0.1)])
def test_one_seed_has_no_verdict(interval):
    printed = PrintedGain(gain=43.3, source="Table 1", comparable=True)
    assert judged(interval, gains=[0.7], printed=printed).verdict == "one seed"
    assert judged(interval, gains=[0.7], cannot_show="both are alike").verdict == "the set-up cannot show it"


@pytest.mark.parametrize("given", ["x", {"reason": "x"}, {"reason": "x", "registered": "1a2b3c4", "measured": "S1"}])
def test_a_reason_without_evidence_is_refused(given):
    """A reason that is found after the figure excuses it."""
    with pytest.raises(ValueError, match=r"either registered .* or measured .* make it a note"):
        CannotShow.model_validate(given)


@pytest.mark.parametrize("interval", [(0.1, 5.0), (-1.0, 5.0), (-5.0, -0.1), UNKNOWN_INTERVAL])
def test_a_set_up_that_cannot_show_a_claim_has_no_other_verdict(interval):
    assert judged(interval, cannot_show="both see the same").verdict == "the set-up cannot show it"


@pytest.mark.parametrize(
    ("interval", "images", "comparable", "verdict"),
    [
        ((-1.0, 5.0), 1000, True, "published size excluded"),
        ((-1.0, 43.3), 1000, True, "not shown"),
        ((-1.0, 5.0), 500, True, "not shown"),
        ((-1.0, 5.0), 1000, False, "not shown"),
        ((0.1, 5.0), 1000, True, "supported"),
        ((-5.0, -0.1), 1000, True, "contradicted"),
    ],
)
def test_a_published_size_is_excluded_only_where_sizes_can_be_compared(interval, images, comparable, verdict):
    printed = PrintedGain(gain=43.3, source="Table 1, Flickr30K", comparable=comparable)
    assert judged(interval, images, printed=printed).verdict == verdict


def test_the_detectable_gain_is_two_point_eight_standard_errors():
    standard_error = 2.5
    assert Interval(1 - 1.96 * standard_error, 1 + 1.96 * standard_error).detectable_difference == pytest.approx(7.0)


class Made:
    """Retrievals of variants on one data set, and the table of claims about them."""

    def __init__(self, folder, images, dataset="flickr8k"):
        folder.mkdir(exist_ok=True)
        self.folder, self.dataset = folder, dataset
        names = [f"i{n}" for n in range(images)]
        self.images, self.captions = write_images(folder, names, Identity(dataset)), str(folder / "captions.parquet")
        captions = [(f"{name}#{k}", name, k, "a dog", "test") for name in names for k in range(2)]
        columns = ["caption_id", "image_id", "position", "text", "split"]
        schema.write(pd.DataFrame(captions, columns=columns), CAPTIONS, self.captions, dataset=dataset)
        self.files = []

    def retrieve(self, variant, share, seed=0, random=None):
        """A retrieval in which a `share` of the queries have the rank 1, and the others 20; `random` draws which."""
        test_set = select_split(schema.read(self.images, IMAGES), schema.read(self.captions, CAPTIONS))
        rows, _ = list_queries(test_set, folds(test_set, "full"))
        right = np.random.default_rng([seed, len(self.files)] if random is None else random).random(len(rows)) < share
        rows = rows.assign(rank=np.where(right, 1, 20), candidates=99, tied=False)
        rows = rows.assign(top=[["x"]] * len(rows), top_scores=[[0.5]] * len(rows), top_true=[[True]] * len(rows))
        self.files.append(str(self.folder / f"{variant}{seed}.parquet"))
        of = Identity(self.dataset, variant, seed, 0, "full", "test")
        schema.write(rows, RETRIEVAL, self.files[-1], device="cpu", versions={}, **of.values())

    def claimed(self, *claims, seeds=(0,)):
        """The section of claims."""
        named = {row for one in claims for row in (one.better, one.worse)}
        measured = {
            name: MeasuredVariant(title=name.upper(), seeds=list(seeds), model=name, round=0) for name in sorted(named)
        }
        title = self.dataset.capitalize()
        section = SectionPlan(title=title, dataset=self.dataset, protocol="full", published=None, measured=measured)
        return ClaimedSection(section=section, claims=list(claims))

    def table(self, *claims, seeds=(0,), **texts):
        """The table as text, and its rows."""
        return table([self], [self.claimed(*claims, seeds=seeds)], **texts)


def table(datasets, sections, **texts):
    """The table of sections of several data sets as text, and its rows."""
    folder, files = datasets[0].folder, [file for made in datasets for file in made.files]
    plan = ClaimsPlan(title="Claims", sections=sections, **texts)
    outputs, read = outputs_in(folder), ([made.images for made in datasets], [made.captions for made in datasets])
    make_claims_table(*read, files, plan.model_dump(mode="json"), **outputs._asdict())
    assert all(Path(file).is_file() for file in outputs)
    return unaligned(Path(outputs.markdown).read_text(encoding="utf-8")), schema.read(outputs.parquet, CLAIM_RESULTS)


@pytest.fixture
def made(tmp_path):
    found = Made(tmp_path, images=60)
    found.retrieve("good", GOOD, random=7)
    found.retrieve("bad", BAD)
    return found


@pytest.fixture
def made_twice(made):
    """The same with two seeds."""
    made.retrieve("good", GOOD, 1, random=8)
    made.retrieve("bad", BAD, 1)
    return made


def test_a_line_of_one_seed_says_so_in_place_of_a_verdict(made):
    text, rows = made.table(claim("good", "bad"), claim("bad", "good"))
    assert rows["verdict"].tolist() == ["one seed"] * 2
    first, second = rows.to_dict("records")
    assert (second["gain_low"], second["gain_high"]) == pytest.approx((-first["gain_high"], -first["gain_low"]))
    assert text.count(" | one seed | Table 1 |") == 2
    assert f"| {first['gain']:+.1f} | one seed: 0 |" in text


def test_a_claim_is_supported_and_its_contrary_contradicted(made_twice):
    claims = claim("good", "bad"), claim("bad", "good", note="for the sake of the test")
    text, rows = made_twice.table(*claims, seeds=(0, 1))
    assert rows["verdict"].tolist() == ["supported", "contradicted"]
    first, second = rows.to_dict("records")
    assert first["gain"] == pytest.approx(first["better_metric"] - first["worse_metric"])
    assert 0 < first["gain_low"] < first["gain"] < first["gain_high"]
    assert second["gain_low"] < second["gain"] < second["gain_high"] < 0
    line = next(line for line in text.splitlines() if line.startswith("| A paper | good is above bad."))
    assert line.startswith(
        f"| A paper | good is above bad. | supported | Table 1 | rsum | GOOD | {first['better_metric']:.1f} | BAD |"
    )
    low, high = sorted(first["gains"])
    assert line.endswith(f"| {low:+.1f} to {high:+.1f} | 0, 1 |")
    assert '- A paper, "bad is above good.": for the sake of the test.' in text


def test_an_experiment_tells_its_question_and_what_each_seed_must_gain(made_twice):
    texts = {"question": "is it good?", "conclusion": "It is not."}
    text, rows = made_twice.table(claim("good", "bad", least_gain=900), seeds=(0, 1), **texts)
    assert rows["verdict"].tolist() == ["not shown"]
    assert rows["least_gain"].tolist() == [900]
    assert "- Question: is it good?\n- Conclusion: It is not.\n" in text
    assert "supported only where each seed gains 900.0 at least." in text


def test_rows_that_answer_alike_can_show_nothing(made):
    made.retrieve("alike", GOOD, random=7)
    _, rows = made.table(claim("alike", "good"), claim("good", "alike"))
    assert rows["verdict"].tolist() == ["the set-up cannot show it"] * 2
    assert rows[["gain", "gain_low", "gain_high"]].eq(0).all(axis=None)


def test_rows_with_one_median_rank_can_differ(made):
    """Its interval is 0 to 0, as the median is 1 in every draw, though the rows rank differently."""
    made.retrieve("better", 0.9)
    _, rows = made.table(claim("better", "good", metric="i2t_median_rank"))
    assert rows[["gain", "gain_low", "gain_high"]].eq(0).all(axis=None)
    assert rows["verdict"].tolist() == ["one seed"]


def test_a_claim_shows_what_is_published_of_it_and_what_could_have_been_seen(made):
    printed = PrintedGain(gain=43.3, source="Table 1, Flickr30K", comparable=True)
    text, rows = made.table(claim("good", "bad", printed=printed), claim("bad", "good", cannot_show="both are bad"))
    first, second = rows.to_dict("records")
    assert (first["printed_gain"], first["printed_source"]) == (pytest.approx(43.3), "Table 1, Flickr30K")
    assert first["detectable"] == pytest.approx(2.8 / 3.92 * (first["gain_high"] - first["gain_low"]))
    assert f"| {first['detectable']:.1f} | +43.3, Table 1, Flickr30K |" in text
    assert (np.isnan(second["printed_gain"]), second["printed_source"]) == (True, "")
    assert '- A paper, "bad is above good.": the set-up cannot show it, as both are bad.' in text


def test_of_ranks_the_lower_one_is_better(made_twice):
    text, rows = made_twice.table(claim("good", "bad", metric="t2i_mean_rank"), seeds=(0, 1))
    row = rows.to_dict("records")[0]
    assert row["better_metric"] < row["worse_metric"]
    assert row["gain"] == pytest.approx(row["worse_metric"] - row["better_metric"])
    assert row["verdict"] == "supported"
    assert "| t2i Mean r |" in text


def test_several_seeds_are_averaged_and_widen_the_interval(made):
    _, one = made.table(claim("good", "bad"))
    for seed, share in ((1, 0.5), (2, 0.3)):
        made.retrieve("good", share, seed)
        made.retrieve("bad", BAD, seed)
    text, rows = made.table(claim("good", "bad"), seeds=(0, 1, 2))
    assert "| 0, 1, 2 |" in text
    assert rows["seeds"].tolist() == [3]
    assert rows["gain"][0] < one["gain"][0]
    assert rows["gains"][0].mean() == pytest.approx(rows["gain"][0])
    assert len(rows["gains"][0]) == 3
    width, of_one = ((of["gain_high"] - of["gain_low"])[0] for of in (rows, one))
    assert width > 2 * of_one
    assert rows["verdict"].tolist() == ["not shown"]  # seeds differ by more than the gain


def test_too_few_images_decide_nothing(tmp_path):
    few = Made(tmp_path, images=5)
    few.retrieve("good", 1.0)
    few.retrieve("bad", 0.0)
    text, rows = few.table(claim("good", "bad"))
    assert rows["verdict"].tolist() == ["undecided"]
    assert rows["gain_low"].isna().all()
    assert rows["gain"][0] > 0
    assert "| undecided |" in text


def test_a_missing_retrieval_is_named(made):
    with pytest.raises(InputError, match="other"):
        made.table(claim("good", "other"))


def test_a_table_is_the_same_from_files_in_any_order(made):
    text, _ = made.table(claim("good", "bad"))
    made.files.reverse()
    assert made.table(claim("good", "bad"))[0] == text


@pytest.fixture
def resplits(tmp_path):
    found = [Made(tmp_path / f"split{number}", 60 - 2 * number, f"split{number}") for number in range(3)]
    for made, share in zip(found, (0.8, 0.7, 0.9), strict=True):
        made.retrieve("good", share, random=7)
        made.retrieve("bad", BAD)
    return found


def pool(*sections, train=110, test=20):
    rows = {name: row for one in sections for name, row in one.section.measured.items()}
    whole = {"title": "Photographs", "dataset": "whole", "measured": rows}
    named = [one.section.dataset for one in sections]
    section = sections[0].section.model_copy(update=whole)
    return PoolPlan(section=section, resplits=named, train=train, test=test)


def test_a_mean_over_resplits_comes_first_with_the_gain_of_each(resplits):
    sections = [made.claimed(claim("good", "bad", note="printed once")) for made in resplits]
    text, rows = table(resplits, sections, pools=[pool(*sections)])
    mean, *each = rows.to_dict("records")
    assert (mean["dataset"], list(mean["resplits"])) == ("whole", ["split0", "split1", "split2"])
    assert [(one["dataset"], list(one["resplits"])) for one in each] == [(f"split{k}", []) for k in range(3)]
    gains = np.array([one["gain"] for one in each])
    assert mean["gains"] == pytest.approx(gains)
    assert mean["better_metric"] == pytest.approx(np.mean([one["better_metric"] for one in each]))
    error = 4.303 * gains.std(ddof=1) * np.sqrt(1 / 3 + 20 / 110)
    expected = (gains.mean() - error, gains.mean() + error)
    assert (mean["gain_low"], mean["gain_high"]) == pytest.approx(expected, abs=0.02)
    assert mean["verdict"] == "supported"
    headings = [line for line in text.splitlines() if line.startswith("## ")]
    assert headings[0] == "## Photographs: means over 3 random splits, each of 110 training and 56 to 60 test images"
    assert [heading.split(":")[0] for heading in headings[1:]] == ["## Split0", "## Split1", "## Split2"]
    assert "| supported | Table 1 |" in text
    assert f"| {gains.min():+.1f} to {gains.max():+.1f} | 3 resplits, each seed 0 |" in text
    assert text.index("Each resplit") < text.index("- A mean over resplits") < text.index("Each seed")
    assert text.count("printed once") == 1
    assert "- Photographs, seed 0: bad, good." in text
    assert "- Split0, seed 0" not in text


def test_a_claim_on_one_resplit_has_no_mean(resplits):
    one, other = claim("good", "bad"), claim("bad", "good", note="of the first alone")
    sections = [resplits[0].claimed(one, other), *(made.claimed(one) for made in resplits[1:])]
    _, rows = table(resplits, sections, pools=[pool(*sections)])
    assert rows["better"].tolist() == ["good", "good", "bad", "good", "good"]


def test_another_data_set_stands_beside_the_means(resplits, tmp_path):
    other = Made(tmp_path / "other", 60, "other")
    other.retrieve("good", GOOD)
    other.retrieve("bad", BAD)
    sections = [made.claimed(claim("good", "bad")) for made in (*resplits, other)]
    text, rows = table([*resplits, other], sections, pools=[pool(*sections[:3])])
    headings = [line.split(":")[0] for line in text.splitlines() if line.startswith("## ")]
    assert headings == ["## Photographs", "## Other", "## Split0", "## Split1", "## Split2"]
    assert rows["dataset"].tolist() == ["whole", "split0", "split1", "split2", "other"]


def test_a_resplit_that_gains_too_little_leaves_a_claim_without_support(resplits):
    least = claim("good", "bad", least_gain=420)
    sections = [made.claimed(least) for made in resplits]
    _, rows = table(resplits, sections, pools=[pool(*sections)])
    mean = rows.to_dict("records")[0]
    assert min(mean["gains"]) < 420 < mean["gain"]
    assert (mean["gain_low"] > 0, mean["verdict"]) == (True, "not shown")
