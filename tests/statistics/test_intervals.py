"""Intervals: against a literal bootstrap, their coverage with and without seeds, and pairs."""

import numpy as np
import pandas as pd
import pytest

from densevse.evaluation.bootstrap import retrieval_bootstrap
from densevse.evaluation.recall import metrics_of, recall_metrics
from densevse.statistics.bootstrap import Interval
from densevse.statistics.intervals import Intervals, Replicates, interval_over_resplits
from densevse.statistics.rankings import RankHistogram
from snakeproof.errors import InputError
from tests.cases import first_now

CAPTIONS = 5


def queries(images, folds=1, captions=CAPTIONS):
    rows = []
    for fold in range(folds):
        names = [f"i{fold}_{n}" for n in range(images)]
        rows += [(fold, "i2t", name, name) for name in names]
        rows += [(fold, "t2i", f"{name}#{k}", name) for name in names for k in range(captions)]
    frame = pd.DataFrame(rows, columns=["fold", "direction", "query_id", "image"])
    return frame.drop(columns="image"), frame["image"].tolist()


def ranked(frame, ranks):
    return frame.assign(rank=np.asarray(ranks, dtype=np.int64))


def random_ranks(frame, random, scale=8.0):
    return ranked(frame, 1 + random.exponential(scale, len(frame)).astype(int))


def test_the_first_metrics_are_those_of_the_artifact():
    random = np.random.default_rng(0)
    frame, groups = queries(30, folds=3)
    runs = [random_ranks(frame, random) for _ in range(2)]
    found = retrieval_bootstrap(frame, groups, 10).replicates(runs)
    for number, run in enumerate(runs):
        assert found.by_seed.loc[number].to_dict() == pytest.approx(metrics_of(run))


def test_every_replicate_is_the_metrics_of_the_drawn_images():
    """A literal bootstrap: copy each drawn image's queries as often as it is drawn, and compute the metrics."""
    random = np.random.default_rng(1)
    frame, groups = queries(12)
    run = random_ranks(frame, random)
    bootstrap = retrieval_bootstrap(frame, groups, 20)
    found = bootstrap.replicates([run])
    draws = np.random.default_rng(0).multinomial(12, np.full(12, 1 / 12), size=20)
    names = [f"i0_{n}" for n in range(12)]
    for number, drawn in enumerate(draws):
        times = pd.Series(groups).map(dict(zip(names, drawn, strict=True))).to_numpy()
        copied = run.loc[run.index.repeat(times)]
        sides = [copied.loc[copied["direction"] == side, "rank"].to_numpy() for side in ("i2t", "t2i")]
        expected = recall_metrics(*sides)
        assert {key: values[number] for key, values in found.drawn.items()} == pytest.approx(expected)


@pytest.mark.parametrize("count", [1, 2, 3, 8])
def test_the_median_is_numpy_s(count):
    ranks = np.random.default_rng(count).integers(1, 9, count)
    histogram = RankHistogram.from_ranks(ranks, np.arange(count), np.ones((1, count), np.float32))
    assert histogram.median().tolist() == [np.median(ranks)] * 2


def test_the_same_queries_always_give_the_same_interval():
    frame, groups = queries(20)
    run = random_ranks(frame, np.random.default_rng(0))
    first, second = (retrieval_bootstrap(frame, groups, 100) for _ in range(2))
    assert first.interval("rsum", first.replicates([run])) == second.interval("rsum", second.replicates([run]))


def test_too_few_images_of_a_fold_are_not_drawn_from():
    frame, groups = queries(9, folds=2)
    bootstrap = retrieval_bootstrap(frame, groups, 10)
    found = bootstrap.replicates([random_ranks(frame, np.random.default_rng(0))])
    assert np.isnan(bootstrap.interval("rsum", found)).all()
    assert not np.isnan(found.by_seed["rsum"]).any()


def test_other_queries_are_refused():
    frame, groups = queries(5)
    run = random_ranks(frame, np.random.default_rng(0))
    run.loc[0, "query_id"] = "another"
    with pytest.raises(InputError, match="answer different queries"):
        retrieval_bootstrap(frame, groups, 10).replicates([run])


def test_intervals_stay_within_what_metrics_can_be():
    frame, groups = queries(12)
    runs = [random_ranks(frame, np.random.default_rng(seed), scale) for seed, scale in ((0, 0.1), (1, 20.0))]
    bootstrap = retrieval_bootstrap(frame, groups, 400)
    found = bootstrap.replicates(runs)
    assert bootstrap.interval("i2t_r1", found).low >= 0
    assert bootstrap.interval("i2t_r10", found).high <= 100
    assert bootstrap.interval("t2i_median_rank", found).low >= 1


def test_a_method_differs_from_itself_by_nothing_and_a_pair_is_narrower_than_two():
    random = np.random.default_rng(2)
    frame, groups = queries(200)
    hard = random.exponential(8.0, len(frame))  # what is hard for one method is hard for the other
    one, two = (
        ranked(frame, 1 + (hard * factor + random.exponential(0.5, len(frame))).astype(int)) for factor in (1, 1.2)
    )
    bootstrap = retrieval_bootstrap(frame, groups)
    found = [bootstrap.replicates([run]) for run in (one, two)]
    assert bootstrap.difference("rsum", found[0], found[0]) == Interval(0.0, 0.0)
    paired = bootstrap.difference("rsum", *found)
    assert paired.excludes_zero
    alone = [bootstrap.interval("rsum", of) for of in found]
    assert paired.high - paired.low < 0.6 * sum(interval.high - interval.low for interval in alone)


def of_seeds(values, replicates=2000):
    """Replicates that draws do not change, so that only the seed varies."""
    return Replicates({"rsum": np.full(replicates, np.mean(values))}, pd.DataFrame({"rsum": values}))


def test_what_a_seed_does_to_both_methods_cancels_out_of_their_difference():
    """Each seed gains about 5, while seeds differ by tens: by hand, 5 +- 2.776 x 0.1 x sqrt(2.5) / sqrt(5)."""
    frame, groups = queries(5)
    start, gains = np.array([240.0, 260, 250, 280, 270]), np.array([4.8, 4.9, 5.0, 5.1, 5.2])
    low, high = retrieval_bootstrap(frame, groups).difference("rsum", of_seeds(start + gains), of_seeds(start))
    assert (low, high) == (pytest.approx(4.80, abs=0.05), pytest.approx(5.20, abs=0.05))


def test_seeds_of_which_one_method_has_more_vary_independently():
    frame, groups = queries(5)
    bootstrap, start = retrieval_bootstrap(frame, groups), [240.0, 260, 250, 280, 270]
    low, high = bootstrap.difference("rsum", of_seeds(start), of_seeds(start[:3]))
    assert low < -15 < 35 < high  # by hand, about 10 +- 32
    assert bootstrap.difference("rsum", of_seeds(start), of_seeds([200.0])).excludes_zero


def test_images_of_one_family_are_drawn_together():
    """Copies of an image add no information: the interval is as wide as without them."""
    random = np.random.default_rng(3)
    frame, groups = queries(50)
    run = random_ranks(frame, random)
    copies = pd.concat([run.assign(query_id=run["query_id"] + f"/{copy}") for copy in range(4)], ignore_index=True)
    width = {}
    for name, families in (("family", groups * 4), ("image", [f"{g}/{c}" for c in range(4) for g in groups])):
        bootstrap = retrieval_bootstrap(copies, families, 1000)
        low, high = bootstrap.interval("rsum", bootstrap.replicates([copies]))
        width[name] = high - low
    bootstrap = retrieval_bootstrap(frame, groups, 1000)
    low, high = bootstrap.interval("rsum", bootstrap.replicates([run]))
    assert width["family"] == pytest.approx(high - low, rel=0.1)
    assert width["image"] < 0.6 * width["family"]


def holds(truth, sets, seeds, spread):
    """The coverage of the interval of R@10 of i2t, when images and seeds both vary."""
    random = np.random.default_rng(4)
    frame, groups = queries(150, captions=1)
    hits = 0
    for _ in range(sets):
        ease = random.normal(size=150)  # of an image, shared by all seeds
        runs = []
        for _ in range(seeds):
            level = random.normal(scale=spread)
            found = np.repeat(ease + level + random.normal(size=150) > truth, 1)
            runs.append(ranked(frame, np.where(np.concatenate([found, found]), 1, 50)))
        bootstrap = retrieval_bootstrap(frame, groups, 500)
        low, high = bootstrap.interval("i2t_r10", bootstrap.replicates(runs))
        hits += low <= 50 <= high
    return hits / sets


@pytest.mark.parametrize(("seeds", "spread"), first_now([(1, 0.0), (3, 0.3), (5, 0.3)], 2))
def test_95_of_100_intervals_hold_the_truth(seeds, spread):
    """`spread` is how much models of different seeds differ; with one seed the metric is of that model alone."""
    assert 0.91 <= holds(0.0, 150, seeds, spread) <= 1.0


def resplit_gains(random, spread):
    """The gains on five test splits of 100 of 660 images, of which 560 train; models differ by `spread`."""
    images = random.normal(1.0, 10.0, 660)  # the gain that each image shows
    seeds = random.normal(0.0, spread, 5)
    return [random.choice(images, 100, replace=False).mean() + seed for seed in seeds]


@pytest.mark.parametrize("spread", [0.0, 1.0])
def test_95_of_100_intervals_over_resplits_hold_the_truth_and_fewer_if_shared_images_are_ignored(spread):
    random = np.random.default_rng(5)
    drawn = [resplit_gains(random, spread) for _ in range(2000)]

    def coverage(test_to_train):
        intervals = [interval_over_resplits(gains, test_to_train) for gains in drawn]
        return np.mean([low <= 1.0 <= high for low, high in intervals])

    assert 0.94 <= coverage(100 / 560) <= 0.985
    assert coverage(0.0) < 0.93


def test_an_interval_over_resplits_is_the_corrected_resampled_t_test_s():
    """By hand: the mean 6, s = 2, t of 2 degrees of freedom 4.303, and the variance 4 (1/3 + 1/6) = 2."""
    assert interval_over_resplits([4.0, 6.0, 8.0], 1 / 6) == pytest.approx((6 - 6.085, 6 + 6.085), abs=0.001)


def drawn_gain(mean, deviation, seed):
    """Replicates of two methods, of two seeds that gain alike, whose gain is drawn with a deviation."""
    drawn = np.random.default_rng(seed).normal(mean, deviation, 2000)
    of, reference = ({"rsum": values} for values in (drawn, np.zeros(2000)))
    return Replicates(of, pd.DataFrame({"rsum": [mean] * 2})), Replicates(reference, pd.DataFrame({"rsum": [0.0] * 2}))


def test_differences_of_gains_have_joint_intervals_by_holm_s_steps():
    """The clearest of three has the level .05 / 3, and the next .05 / 2; after it contains 0, the level stays."""
    means = {"clear": 9.0, "unclear": 1.5, "alike": 0.1}
    gains = {name: [drawn_gain(0.0, 1.0, 1), drawn_gain(mean, 1.0, 2)] for name, mean in means.items()}
    found = Intervals().holm_differences("rsum", gains)
    for name, names_left in (("clear", 3), ("unclear", 2), ("alike", 2)):
        (first, _), (second, _) = gains[name]
        tail = 0.05 / names_left / 2
        expected = np.quantile(second.drawn["rsum"] - first.drawn["rsum"], [tail, 1 - tail])
        assert found[name] == pytest.approx(tuple(expected))
    assert [one.excludes_zero for one in found.values()] == [True, False, False]


def test_seeds_of_two_gains_vary_independently():
    """Each gain's own seeds move it, so the variances add; within a gain, seeds are paired."""
    same = Replicates({"rsum": np.zeros(2000)}, pd.DataFrame({"rsum": [1.0, 3.0, 2.0] * 4}))
    other = Replicates({"rsum": np.zeros(2000)}, pd.DataFrame({"rsum": [0.0] * 12}))
    bootstrap = Intervals()
    alone = bootstrap.difference("rsum", same, other)
    both = bootstrap.holm_differences("rsum", {"one": [(same, other), (same, other)]})["one"]
    assert both.high - both.low == pytest.approx(2**0.5 * (alone.high - alone.low), rel=0.1)
    paired = bootstrap.holm_differences("rsum", {"one": [(same, same), (other, other)]})["one"]
    assert paired == (0, 0)
