"""Ballots of learned correspondences, and the results of votes on them: cases counted by hand."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from densevse.analyses.votes.ballot import (
    BALLOT,
    VOTES,
    draw_ballot,
    draw_pairs,
    read_votes,
    write_ballot_page,
    write_votes,
)
from densevse.analyses.votes.settings import VoteTablePlan
from densevse.analyses.votes.table import VOTE_SHARES, exact_hits, make_vote_table, shares
from densevse.artifacts.boxes import BOX
from densevse.artifacts.identity import Identity, read_identity
from densevse.artifacts.schemas.datasets import BOXES
from densevse.artifacts.schemas.features import CORRESPONDENCES
from densevse.artifacts.schemas.sentences import PARSES
from snakeproof import schema
from snakeproof.errors import InputError
from snakeproof.statements import Statement, making
from tests.pictures import write_images
from tests.tables import outputs_in

PAIRS = {"1-aaaaaaaa", "2-bbbbbbbb"}
HEADER = "pair,voter,correct\n"
PUBLISHED = Path(__file__).parents[1] / "published/hm_lstm.csv"
DRAWN = Statement(wildcards={"dataset": "pictures", "variant": "hm_lstm"})
LEFT, RIGHT = (0.0, 0.0, 30.0, 40.0), (30.0, 0.0, 30.0, 40.0)
TOKENS = ["a", "<red>", "ball", "and", "a", "<red>", "ball"]
NAMES = ["a.png", "b.png", "c.png"]


def learned(names=NAMES, box=LEFT):
    """Two phrases of a caption of each image, both assigned to one box."""
    rows = [
        {"caption_id": f"{name}#0", "image_id": name, "phrase": "a <red> ball", "start": start, "end": start + 3,
         "region": 1, "confidence": 0.5, **dict(zip(BOX, box, strict=True))}
        for name in names for start in (0, 4)
    ]  # fmt: skip
    return pd.DataFrame(rows)


def true_boxes():
    """The first phrase of an image is on the left, the second on the right; those of the last image have no box."""
    rows = [
        {"image_id": name, "caption_id": f"{name}#0", "phrase": "ball", "start": start, "end": start + 3,
         **dict(zip(BOX, box, strict=True))}
        for name in NAMES[:2] for start, box in ((0, LEFT), (4, RIGHT))
    ]  # fmt: skip
    return pd.DataFrame(rows)


def cast(pair, answers):
    return [{"pair": pair, "voter": f"v{n}", "correct": answer == "y"} for n, answer in enumerate(answers)]


def test_a_draw_is_reproducible_and_without_repetition():
    rows = learned([f"{n}.png" for n in range(20)])
    drawn = draw_pairs(rows, 30, seed=3)
    pd.testing.assert_frame_equal(drawn, draw_pairs(rows, 30, seed=3))
    assert not drawn.duplicated(["caption_id", "start"]).any()
    assert drawn["pair"].str.partition("-")[0].tolist() == [str(number) for number in range(1, 31)]
    assert drawn["caption_id"].tolist() != draw_pairs(rows, 30, seed=4)["caption_id"].tolist()


def test_a_smaller_ballot_is_the_beginning_of_a_larger_one_and_no_ballot_is_larger_than_what_was_learned():
    rows = learned()
    assert draw_pairs(rows, 2, seed=0)["pair"].tolist() == draw_pairs(rows, 2000, seed=0)["pair"].tolist()[:2]
    assert len(draw_pairs(rows, 2000, seed=0)) == len(rows)
    with pytest.raises(InputError, match="none to judge"):
        draw_pairs(rows[:0], 2, seed=0)


def test_a_pair_with_another_box_has_another_name():
    """The phrases are the same after another training, so their words could not distinguish the two ballots."""
    before, after = (set(draw_pairs(learned(box=box), 6, seed=0)["pair"]) for box in (LEFT, RIGHT))
    assert before.isdisjoint(after)


@pytest.mark.long
def test_every_correspondence_is_as_likely_to_be_drawn():
    rows = learned([f"{n}.png" for n in range(5)])
    drawn = [draw_pairs(rows, 3, seed)[["caption_id", "start"]].apply(tuple, axis=1) for seed in range(2000)]
    share = pd.concat(drawn).value_counts() / 2000
    assert len(share) == 10
    assert share.to_numpy() == pytest.approx(0.3, abs=0.05)  # a standard error is 0.01


def test_a_majority_is_more_than_half_and_a_tie_is_not_correct():
    names = [f"{n}.png" for n in range(12)]
    ballot = draw_pairs(learned(names), 24, seed=0)
    answers = ["yyn", "yn", "nn", "y", "yynn"] * 4
    votes = pd.DataFrame(
        [vote for pair, of_pair in zip(ballot["pair"], answers, strict=False) for vote in cast(pair, of_pair)]
    )
    found = shares(ballot, votes, None, pd.Series(names, names))
    assert found["correct"] == pytest.approx(40)
    assert found["correct_low"] < 40 < found["correct_high"]
    counts = {name: found[name] for name in ("pairs", "fewest_voters", "most_voters", "ties", "without_votes")}
    assert counts == {"pairs": 20, "fewest_voters": 1, "most_voters": 4, "ties": 8, "without_votes": 4}
    assert (found["exact"], found["exact_pairs"]) == (None, 0)


def test_votes_agree_with_a_literal_count():
    random = np.random.default_rng(0)
    ballot = draw_pairs(learned([f"{n}.png" for n in range(50)]), 80, seed=0)
    answers = {pair: "".join(random.choice(["y", "n"], random.integers(0, 11))) for pair in ballot["pair"]}
    votes = pd.DataFrame([vote for pair, of_pair in answers.items() for vote in cast(pair, of_pair)])
    shuffled = votes.sample(frac=1, random_state=1)
    majority = total = 0
    for of_pair in answers.values():
        total += bool(of_pair)
        majority += of_pair.count("y") > of_pair.count("n")
    images = ballot["image_id"].unique()
    found = shares(ballot, shuffled, None, pd.Series(images, images))
    assert found["correct"] == pytest.approx(100 * majority / total)
    assert found["pairs"] == total


def test_pairs_of_one_family_are_drawn_together():
    """Of ten families, each all correct or all wrong, a draw has as many correct ones as ten coins have heads."""
    family = pd.Series({f"{n}.png": f"family{n % 10}" for n in range(40)})
    ballot = draw_pairs(learned(list(family.index)), 80, seed=0)
    odd = ballot["image_id"].map(family).str[-1].astype(int) % 2
    votes = pd.DataFrame([v for pair, n in zip(ballot["pair"], odd, strict=True) for v in cast(pair, "yn"[n])])
    found = shares(ballot, votes, None, family)
    assert (found["correct_low"], found["correct"], found["correct_high"]) == (20, 50, 80)


def test_exact_accuracy_is_of_the_same_pairs_where_boxes_are_known():
    ballot = draw_pairs(learned(), 6, seed=0)
    right = ballot.assign(right=exact_hits(ballot, true_boxes())).set_index(["caption_id", "start"])["right"]
    assert right[[("a.png#0", 0), ("b.png#0", 0)]].tolist() == [1, 1]
    assert right[[("a.png#0", 4), ("b.png#0", 4)]].tolist() == [0, 0]
    assert right["c.png#0"].isna().all()
    first = ballot[ballot["image_id"] == "a.png"]
    votes = pd.DataFrame([vote for pair in first["pair"] for vote in cast(pair, "y")])
    found = shares(ballot, votes, true_boxes(), pd.Series(NAMES, NAMES))
    assert (found["correct"], found["exact"], found["exact_pairs"], found["pairs"]) == (100, 50, 2, 2)


@pytest.fixture
def folder(tmp_path):
    """Pictures with their tables, correspondences, parses and true boxes."""
    write_images(tmp_path, NAMES, drawn=True, split="train")
    schema.write(learned(), CORRESPONDENCES, tmp_path / "correspondences.parquet")
    parse = {"text": " ".join(TOKENS), "status": "ok", "tokens": TOKENS, "lemmas": [], "tags": [], "tree": ""}
    parse |= {"basic_dependencies": [], "enhanced_dependencies": []}
    parses = [{**parse, "caption_id": f"{name}#0", "image_id": name} for name in NAMES]
    schema.write(parses, PARSES, tmp_path / "parses.parquet")
    schema.write(true_boxes(), replace(BOXES, rules=()), tmp_path / "boxes.parquet")
    return tmp_path


def named(folder, *names):
    return [str(folder / name) for name in names]


def balloted(folder):
    correspondences, parses, ballot = named(folder, "correspondences.parquet", "parses.parquet", "ballot.parquet")
    with making(DRAWN):
        draw_ballot(correspondences, [parses], ballot, 5, 0)
    return schema.read(ballot, BALLOT)


def test_the_page_shows_each_pair_and_the_sheet_asks_for_it(folder):
    ballot = balloted(folder)
    write_ballot_page(
        *named(folder, "ballot.parquet", "images.parquet"),
        sources={"images": str(folder / "images")},
        title="To <judge>",
        html=str(folder / "page.html"),
        sheet=str(folder / "sheet.csv"),
    )
    html = (folder / "page.html").read_text()
    assert "<h1>To &lt;judge&gt;</h1>" in html
    assert html.count("data:image/jpeg;base64,") == 5
    assert html.count('style="left:0.00%;top:0.00%;width:50.00%;height:100.00%"') == 5
    for row in ballot.itertuples():
        section = html.partition(f"<h2>{row.pair}</h2>")[2].partition("</section>")[0]
        first = "<p><mark>a &lt;red&gt; ball</mark> and a &lt;red&gt; ball</p>"
        second = "<p>a &lt;red&gt; ball and <mark>a &lt;red&gt; ball</mark></p>"
        assert (first if row.start == 0 else second) in section
    assert (folder / "sheet.csv").read_text().splitlines() == [
        "pair,voter,correct",
        *(f"{pair},," for pair in ballot["pair"]),
    ]


def make_table(folder, measured, outputs, **inputs):
    """Make a table of the pictures' votes, by seed 0."""
    plan = VoteTablePlan(title="Pictures", dataset="pictures", seed=0, measured=measured).model_dump(mode="json")
    files = {"image_table": str(folder / "images.parquet"), "published": str(PUBLISHED)}
    make_vote_table(plan, **inputs, **files, **outputs._asdict())


def test_from_correspondences_to_the_table(folder):
    ballot = balloted(folder)
    lines = [f"{pair},{voter},yes" for pair in ballot["pair"][:3] for voter in ("Anna", "Ben")]
    lines += [f"{ballot['pair'][3]},Anna,no"]
    (folder / "votes.csv").write_text("\n".join(["pair,voter,correct", *lines]))
    text, drawn, votes = named(folder, "votes.csv", "ballot.parquet", "votes.parquet")
    with making(DRAWN):
        write_votes(text, drawn, votes)
    outputs, boxes = outputs_in(folder), str(folder / "boxes.parquet")
    make_table(folder, {"hm_lstm": "HM-LSTM"}, outputs, ballots=[drawn], votes=[votes], boxes=boxes)
    printed, ours = schema.read(outputs.parquet, VOTE_SHARES).to_dict("records")
    assert (printed["correct"], printed["pairs"], printed["most_voters"]) == (82, 2000, 10)
    assert ours["correct"] == pytest.approx(75)
    assert (ours["pairs"], ours["fewest_voters"], ours["most_voters"], ours["without_votes"]) == (4, 1, 2, 1)
    exact = exact_hits(ballot[:4], true_boxes())
    assert ours["exact"] == pytest.approx(100 * np.nanmean(exact))
    markdown = Path(outputs.markdown).read_text()
    assert "# Pictures: votes on learned correspondences" in markdown
    assert "1 to 2" in markdown
    assert "a data set that the paper does not name" in markdown


def test_the_order_of_ballots_and_votes_changes_no_byte(folder):
    ballot, inputs = balloted(folder), {"ballots": [], "votes": []}
    for n, name in enumerate(("hm_lstm", "hm_lstm_untyped", "hm_lstm_mean")):
        answers = [one for pair in ballot["pair"][: n + 2] for one in cast(pair, "yn"[: n + 1])]
        for kind, schema_of, rows in (("ballots", BALLOT, ballot), ("votes", VOTES, pd.DataFrame(answers))):
            inputs[kind].append(str(folder / f"{kind}{n}.parquet"))
            schema.write(rows, schema_of, inputs[kind][-1], **Identity("pictures", name).values())
    measured = {"hm_lstm_untyped": "untyped", "hm_lstm_mean": "mean", "hm_lstm": "HM-LSTM"}
    outputs = outputs_in(folder)
    shuffled = {"ballots": inputs["ballots"][::-1], "votes": [*inputs["votes"][1:], inputs["votes"][0]]}
    found = []
    for given in (inputs, shuffled):
        make_table(folder, measured, outputs, **given)
        found.append([Path(file).read_bytes() for file in outputs])
    assert found[0] == found[1]
    with pytest.raises(InputError, match="no votes artifact is of dataset pictures, variant hm_lstm_untyped"):
        make_table(folder, measured, outputs, ballots=inputs["ballots"], votes=inputs["votes"][:1])


def test_votes_on_the_ballot_of_an_earlier_model_are_refused(folder):
    ballot = balloted(folder)
    (folder / "votes.csv").write_text(f"pair,voter,correct\n{ballot['pair'][0]},Anna,yes\n")
    schema.write(learned(box=RIGHT), CORRESPONDENCES, folder / "correspondences.parquet")
    assert balloted(folder)["phrase"].tolist() == ballot["phrase"].tolist()
    with pytest.raises(InputError, match=r"votes\.csv, line 2: the ballot has no pair"):
        write_votes(*named(folder, "votes.csv", "ballot.parquet", "votes.parquet"))
    assert not (folder / "votes.parquet").exists()


def read(folder, text):
    path = folder / "votes.csv"
    path.write_text(text)
    return read_votes(str(path), PAIRS)


def test_each_line_is_a_vote(tmp_path):
    text = f'\ufeff{HEADER}1-aaaaaaaa,Anna,yes\r\n\n1-aaaaaaaa,"Ben, the other", no\n2-bbbbbbbb,Anna,no\n'
    found = read(tmp_path, text)
    assert found["pair"].tolist() == ["1-aaaaaaaa", "1-aaaaaaaa", "2-bbbbbbbb"]
    assert found["voter"].tolist() == ["Anna", "Ben, the other", "Anna"]
    assert found["correct"].tolist() == [True, False, False]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("3-cccccccc,Anna,yes", "the ballot has no pair '3-cccccccc'"),
        ("1-cccccccc,Anna,yes", "votes on an earlier ballot"),
        ("2-bbbbbbbb,Anna,no", "Anna has voted on pair 2-bbbbbbbb before"),
        ("1-aaaaaaaa,Anna,maybe", "expected yes or no, found 'maybe'"),
        ("1-aaaaaaaa,Anna,Yes", "expected yes or no, found 'Yes'"),
        ("1-aaaaaaaa,Anna,", "leave out lines without an answer"),
        ("1-aaaaaaaa, ,yes", "names no voter"),
        ("1-aaaaaaaa,yes", "expected a pair, a voter, and yes or no"),
        ('1-aaaaaaaa,"Anna,yes', "expected pair,voter,correct"),
    ],
)
def test_a_line_that_cannot_be_counted_is_named(tmp_path, line, message):
    with pytest.raises(InputError, match=rf"votes\.csv, line 3: .*{message}"):
        read(tmp_path, f"{HEADER}2-bbbbbbbb,Anna,yes\n{line}\n")


@pytest.mark.parametrize("header", ["pair,correct\n", "pair;voter;correct\n", "pair,voter,correct,remark\n"])
def test_other_columns_are_refused(tmp_path, header):
    with pytest.raises(InputError, match="line 1: expected the columns pair,voter,correct; found"):
        read(tmp_path, f"{header}1-aaaaaaaa,Anna,yes\n")


@pytest.mark.parametrize("text", ["", "\n\n", HEADER])
def test_a_file_without_votes_is_refused(tmp_path, text):
    with pytest.raises(InputError, match=r"votes\.csv: .*it has no vote"):
        read(tmp_path, text)


def test_votes_are_kept_with_the_ballot_that_they_are_on(tmp_path):
    row = {"image_id": "a", "caption_id": "a#0", "tokens": ["a", "dog"], "phrase": "a dog", "start": 0, "end": 2}
    row |= {"pair": "1-aaaaaaaa", "x": 0.0, "y": 0.0, "width": 1.0, "height": 1.0}
    schema.write([row], BALLOT, tmp_path / "ballot.parquet")
    (tmp_path / "votes.csv").write_text(f"{HEADER}1-aaaaaaaa,Anna,yes\n")
    files = (str(tmp_path / name) for name in ("votes.csv", "ballot.parquet", "votes.parquet"))
    with making(DRAWN):
        write_votes(*files)
    assert read_identity(tmp_path / "votes.parquet") == Identity("pictures", "hm_lstm")
    assert schema.read(tmp_path / "votes.parquet", VOTES)["correct"].tolist() == [True]
