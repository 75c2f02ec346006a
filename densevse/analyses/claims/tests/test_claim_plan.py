"""Claims in the configuration: the rows that test each one, and the mistakes that are refused by their path."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from densevse.analyses.claims import dag
from densevse.analyses.claims.printed import parse_place, printed_comparison
from densevse.analyses.claims.settings import OURS, ClaimsPlan, PaperClaims, PrintedGain
from densevse.config.load import load
from densevse.dag import tables
from densevse.dag.project import Project, Stage
from densevse.report.published import read_paper, read_published_rows
from snakeproof.errors import InputError
from snakeproof.jobs import Job
from snakeproof.strict import validate
from snakeproof.yaml_files import read_yaml
from tests.rule_values import constraint_of, paths_of
from tests.rules import input_of

ROOT = Path(__file__).parents[4]
CLAIM = {"title": "VSE++ is better.", "place": "ours", "better": {"variant": "vsepp"}, "worse": {"variant": "vse"}}


def stage(**overrides):
    return Stage(Project(ROOT, overrides), dag)


def experiments():
    return constraint_of("experiment", "experiment", Project(ROOT, {})).split("|")


def plan_of(job: Job) -> ClaimsPlan:
    return ClaimsPlan.model_validate(job.settings["plan"])


def mine(**claim):
    """Overrides with a single claim."""
    return {"claims": {"mine": {"title": "Mine", "datasets": {"scenes": {}}, "claims": {"better": {**CLAIM, **claim}}}}}


def evidence(claims, rule="claims_table", dataset="scenes"):
    decide = claims.evidence if rule == "claims_table" else claims.main_evidence
    return input_of(rule, "retrievals", decide, dataset=dataset)


def seeds_of(file):
    return re.search(r"seed(\d+)", file)[1]


def test_every_claim_of_scenes_is_tested_with_ten_seeds():
    found = evidence(stage())
    assert Counter(map(seeds_of, found)).keys() == set("0123456789")
    assert len(set(Counter(map(seeds_of, found)).values())) == 1
    for row in ("hm_lstm/seed2/round1", "hm_lstm/seed2/round2", "sm_lstm_ctx/seed1/round0", "sco_cnp_ctx/seed0/round0"):
        assert f"results/scenes/retrieval/full/{row}.parquet" in found
    assert "results/scenes/retrieval/full/sm_lstm_ensemble/seed0/ensemble.parquet" in found
    assert "results/scenes/region_ranking/hm_lstm_sentences/seed0/round2.parquet" in found


def test_claims_of_one_protocol_share_a_section_and_rows_are_measured_once():
    full, regions = plan_of(stage().job("scenes")).sections
    assert (full.section.protocol, regions.section.protocol) == ("full", "regions")
    for claimed in (full, regions):
        compared = {row for claim in claimed.claims for row in (claim.better, claim.worse)}
        assert compared == claimed.section.measured.keys()
        assert all(row.seeds == [*range(10)] for row in claimed.section.measured.values())
    first = full.section.measured["hm_lstm round 0"]
    assert (first.title, first.model, first.round) == ("HM-LSTM, round 0", "hm_lstm", 0)


def test_the_main_table_s_rows_test_claims_without_any_training_of_their_own():
    claims = stage()
    measured = [
        *tables.retrievals(claims.project, "scenes"),
        *tables.retrievals_of_rounds(claims.project, "scenes"),
    ]
    tests = claims.main_evidence("scenes")
    assert tests
    assert all(row in measured for row in tests)
    (section,) = plan_of(claims.main_job("scenes")).sections
    assert {row.seeds[0] for row in section.section.measured.values()} == {0}
    assert {claim.paper for claim in section.claims} == {"HM-LSTM", "SCO", "sm-LSTM", "VSE++"}
    assert claims.target_files("scenes") == ["results/tables/scenes_main_claims.md"]


def test_a_data_set_whose_rows_test_no_claim_has_no_main_claims():
    claims = stage(tables={"scenes": {"measure": ["vse"], "reference": None}})
    assert claims.target_files("scenes") == []
    with pytest.raises(InputError, match=r"tables\.scenes\.measure: no claim compares two of these rows"):
        evidence(claims, "main_claims_table")


def test_fewer_rounds_leave_claims_out_of_the_main_ones_and_are_refused_where_all_are_asked_for():
    claims = stage(methods={"hm_lstm": {"datasets": {"scenes": {"rounds": [["sentences"], ["phrases"]]}}}})
    titles = [claim.title for claim in plan_of(claims.main_job("scenes")).sections[0].claims]
    assert "A round of correspondences is better than none." in titles
    assert "A second round of correspondences is better than one." not in titles
    message = r"claims\.hm_lstm\.claims\.second_round\.better\.round: hm_lstm has the rounds 0 to 1 on scenes"
    with pytest.raises(InputError, match=message):
        evidence(claims)


@pytest.mark.parametrize(
    ("claim", "message"),
    [
        ({"better": {"variant": "vsep"}}, "claims.mine.claims.better.better.variant: no 'vsep'"),
        ({"worse": {"variant": "vsepp"}}, "claims.mine.claims.better.worse: vsepp is the better row too"),
        ({"worse": {"variant": "sm_lstm_ensemble", "round": 0}}, "worse.round: sm_lstm_ensemble is an ensemble"),
        ({"datasets": ["flickr8k"]}, "claims.mine.claims.better.datasets: no 'flickr8k'; known: scenes"),
        ({"metric": "r1"}, "claims.mine.claims.better.metric: no 'r1'; known: i2t_r1"),
        ({"protocol": "fulll"}, "claims.mine.claims.better.protocol: "),
        ({"least_gain": -1}, "claims.mine.claims.better.least_gain: "),
        ({"seeds": [0]}, "claims.mine.claims.better.seeds: there is no such key"),
    ],
)
def test_a_mistake_in_a_claim_is_refused_by_its_path(claim, message):
    with pytest.raises(InputError, match=re.escape(message)):
        load(ROOT / "config", mine(**claim))


def test_unknown_data_sets_and_misspelt_papers_are_refused_by_their_path():
    with pytest.raises(InputError, match=r"claims\.sco\.datasets: no 'scenez'"):
        load(ROOT / "config", {"claims": {"sco": {"datasets": {"scenez": {}}}}})
    with pytest.raises(
        InputError, match=r"claims\.scoo: there is no 'scoo' in densevse/analyses/claims, .*is 'sco' meant\?"
    ):
        load(ROOT / "config", {"claims": {"scoo": {"title": "SCO"}}})


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (mine(worse={"variant": "vsepp", "round": 0}), r"better\.worse: on scenes vsepp round 0 is the same model as"),
        (mine(protocol="regions"), r"claims\.mine\.claims\.better: vse of methods\.vse yields no phrases on scenes"),
        ({"claims": {"hm_lstm": {"claims": {"phrases_of_regions": {"datasets": ["flickr8k"]}}}}},
         r"phrases_of_regions\.datasets: phrases of flickr8k have no true boxes"),
    ],
)  # fmt: skip
def test_a_claim_that_cannot_be_tested_is_refused_where_it_is_asked_for(overrides, message):
    dataset = "flickr8k" if "hm_lstm" in overrides["claims"] else "scenes"
    with pytest.raises(InputError, match=message):
        stage(**overrides).evidence(dataset)


def test_every_claim_can_be_tested_on_each_of_its_data_sets():
    claims = stage()
    for dataset in claims.claimed_datasets().split("|"):
        assert claims.evidence(dataset)
        assert plan_of(claims.job(dataset)).sections


def published():
    """Name of a paper -> its printed rows."""
    files = sorted((ROOT / "config/published").glob("*.csv"))
    return {read_paper(file.with_suffix(".yaml")).name: read_published_rows([file]) for file in files}


def printed_claims():
    """Each claim with a place in its paper's tables, once for each of these."""
    for file in sorted((ROOT / "densevse/analyses/claims/entries").glob("*.yaml")):
        entry = validate(PaperClaims, read_yaml(file), str(file))
        for name, claim in entry.claims.items():
            paper, tables = parse_place(claim.place, entry.title)
            assert tables or claim.place == OURS or claim.place.endswith("abstract"), (file, name)
            for table in tables:
                yield pytest.param(entry, claim, paper, table, id=f"{file.stem}_{table}-{name}")


@pytest.mark.parametrize(("entry", "claim", "paper", "table"), printed_claims())
def test_a_paper_s_own_figures_support_its_claim(entry, claim, paper, table):
    """A claim with a place in a paper must agree with the figures that the paper prints."""
    rows = [row for row in published()[paper] if row.table == table]
    assert rows
    for dataset in {row.dataset for row in rows if row.protocol != "hodosh"}:
        found = printed_comparison([row for row in rows if row.dataset == dataset], claim, dataset, "full")
        if found is None:
            assert dataset not in (claim.datasets or entry.datasets), "the paper does not print this comparison"
        else:
            assert found.gain > 0


def printed_gains(job):
    return {claim.title: claim.printed for section in plan_of(job).sections for claim in section.claims}


def test_a_claim_has_the_gain_that_its_paper_prints_and_one_of_ours_has_none():
    """sm-LSTM, Table 1: the recalls of sm-LSTM sum up to 343.4, and those of -ctx to 300.2."""
    found = printed_gains(stage().experiment_job("sm_lstm_photographs"))
    expected = PrintedGain(gain=43.2, source="Table 1, Flickr30K", comparable=True)
    assert found["The full model is better than its context alone."] == expected
    assert not any(printed_gains(stage().experiment_job("sm_lstm_head")).values())


def test_a_gain_is_that_of_the_same_data_set_where_it_is_printed():
    """VSE, Table 1: 13.5 + 36.2 + 45.7 + 10.4 + 31.0 + 43.7, and DeFrag's 12.6 + 32.9 + 44.0 + 9.7 + 29.6 + 42.5."""
    found = printed_gains(stage().job("flickr8k"))
    expected = PrintedGain(gain=9.2, source="Table 1, Flickr8K", comparable=True)
    assert found["One vector for the whole image and sentence ranks better than DeFrag's fragments."] == expected
    four = found["HM-LSTM ranks better than VSE."]  # its tables have no R@5
    assert (four.source, four.comparable) == ("Table 1, Flickr8K, 4 recalls", False)
    assert four.gain == pytest.approx(27.7 + 68.6 + 24.4 + 68.1 - 13.5 - 45.7 - 10.4 - 43.7)


def test_sizes_on_drawn_pictures_are_not_compared_with_published_ones():
    found = printed_gains(stage().job("scenes"))
    assert found["The full model is better than its context alone."].gain == 43.2
    assert not any(printed.comparable for printed in found.values() if printed)


def test_a_set_up_is_that_of_a_data_set_and_of_its_resplits():
    claims = {
        "sm_lstm_photographs": {
            "claims": {"above_mean": {"cannot_show": {"flickr8k": {"reason": "both are alike", "measured": "S1"}}}}
        }
    }
    planned = plan_of(stage(claims=claims).experiment_job("sm_lstm_photographs"))
    assert [section.claims[0].cannot_show for section in planned.sections] == ["both are alike (S1)"] * 5
    with pytest.raises(InputError, match=r"above_mean\.cannot_show: no 'flickr9k'"):
        load(
            ROOT / "config",
            {
                "claims": {
                    "sm_lstm_photographs": {
                        "claims": {
                            "above_mean": {"cannot_show": {"flickr9k": {"reason": "x", "registered": "1a2b3c4"}}}
                        }
                    }
                }
            },
        )


def test_an_experiment_has_a_page_of_its_own_on_all_of_its_data_sets():
    claims = stage()
    assert "sm_lstm_needles" in experiments()
    images = paths_of("experiment", "images", claims.project, experiment="sm_lstm_needles")
    assert "results/needles_context/images.parquet" in images
    found = claims.experiment_evidence("sm_lstm_needles")
    seeds = {"needles_fixed": 3, "needles_context": 5, "needles_sentence": 5}
    assert {(one["dataset"], one["seed"]) for one in found} == {
        (k, seed) for k, n in seeds.items() for seed in range(n)
    }
    plan = plan_of(claims.experiment_job("sm_lstm_needles"))
    assert plan.question
    assert {claim.least_gain for section in plan.sections for claim in section.claims} == {20}
    assert "hm_lstm_cold_100" not in plan_of(claims.job("scenes")).sections[0].section.measured
    assert "needles_fixed" not in claims.claimed_datasets()


@pytest.mark.parametrize("name", experiments())
def test_every_experiment_can_be_planned(name):
    claims = stage()
    assert claims.experiment_evidence(name)
    assert plan_of(claims.experiment_job(name)).question


def test_claims_on_resplits_of_one_data_set_have_means_over_them():
    plan = plan_of(stage().experiment_job("sco_photographs"))
    (pool,) = plan.pools
    assert pool.resplits == [f"flickr8k_resplit{seed}" for seed in range(5)]
    assert (pool.section.dataset, pool.section.title, pool.train, pool.test) == ("flickr8k", "Flickr8K", 5500, 1000)
    assert {"sco_cnp_ctx", "sco_ctx"} <= pool.section.measured.keys()
    assert pool.section.measured == plan.sections[4].section.measured
    assert plan_of(stage().experiment_job("sm_lstm_needles")).pools == []
    files = input_of("experiment", "retrievals", stage().experiment_evidence, experiment="sco_photographs")
    assert "results/flickr8k_resplit4/retrieval/full/sco_ctx/seed0/round0.parquet" in files


def test_ensembles_on_resplits_have_means_over_them():
    five = {f"flickr8k_resplit{seed}": {"seeds": [0]} for seed in range(5)}
    claims = stage(claims={"sm_lstm_photographs_more": {"datasets": five}})
    (pool,) = plan_of(claims.experiment_job("sm_lstm_photographs_more")).pools
    assert {"vse_four", "sm_lstm_ensemble"} <= pool.section.measured.keys()


def test_ensembles_on_a_single_resplit_have_no_mean():
    plan = plan_of(stage().experiment_job("sm_lstm_photographs_more"))
    assert plan.pools == []
    assert {"vse_four", "sm_lstm_ensemble"} <= plan.sections[0].section.measured.keys()
    files = input_of("experiment", "retrievals", stage().experiment_evidence, experiment="sm_lstm_photographs_more")
    assert "results/flickr8k_resplit0/retrieval/full/vse_four/seed0/ensemble.parquet" in files


def on_resplits(**resplits):
    """Overrides with a claim on resplits of scenes."""
    sizes = {"of": "scenes", "train": 40, "val": 12, "test": 20}
    entry = {"title": "Mine", "question": "is it?", "datasets": {name: {} for name in resplits}}
    return {
        "datasets": {name: {"title": name, "resplit": {**sizes, **of}} for name, of in resplits.items()},
        "claims": {"mine": {**entry, "claims": {"better": CLAIM}}},
    }


@pytest.mark.parametrize(
    ("resplits", "pools"),
    [
        ({"a": {"seed": 0}}, []),
        ({"a": {"seed": 0}, "b": {"seed": 1, "train": 41}}, []),
        ({"a": {"seed": 0}, "b": {"seed": 1, "train": 41}, "c": {"seed": 2}}, [["a", "c"]]),
    ],
)
def test_only_resplits_of_the_same_sizes_have_means(resplits, pools):
    assert [pool.resplits for pool in plan_of(stage(**on_resplits(**resplits)).experiment_job("mine")).pools] == pools


def test_resplits_that_are_one_draw_or_have_other_settings_are_refused():
    with pytest.raises(InputError, match=r"datasets\.b\.resplit\.seed: a has the same one"):
        plan_of(stage(**on_resplits(a={"seed": 0}, b={"seed": 0})).experiment_job("mine"))
    overrides = on_resplits(a={"seed": 0}, b={"seed": 1})
    overrides["methods"] = {"vse": {"datasets": {"b": {"parameters": {"margin": 0.3}}}}}
    with pytest.raises(InputError, match="vsepp has other settings or seeds on b than on a"):
        plan_of(stage(**overrides).experiment_job("mine"))


def test_phrases_alone_are_compared_with_the_weights_as_they_were_drawn():
    claims = stage()
    assert claims.project.variant("scenes", "hm_lstm_cold_phrases_100").round_phases(0) == []
    assert claims.project.variant_round("scenes", "hm_lstm_cold_sentences_100", 2, 0) == {
        "variant": "hm_lstm_cold_100",
        "seed": 2,
        "round": 0,
    }


def test_a_plan_comes_through_json_and_holds_no_paths():
    claims = stage()
    for job in (claims.job("scenes"), claims.main_job("scenes"), claims.experiment_job("sco_photographs")):
        text = json.dumps(job.settings)
        assert ClaimsPlan.model_validate(json.loads(text)["plan"]) == plan_of(job)
        assert "results/" not in text
