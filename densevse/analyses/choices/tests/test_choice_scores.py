"""Scores of questions by a model, and their table."""

import numpy as np
import pandas as pd
import pytest
import torch

from densevse.analyses.choices.dag import measured_rounds
from densevse.analyses.choices.making import write_choices
from densevse.analyses.choices.scoring import choice_scores
from densevse.analyses.choices.settings import ChoicesPlan
from densevse.analyses.choices.table import CHOICE_RESULTS, make_choice_table
from densevse.artifacts.schemas.datasets import IMAGES
from densevse.dag.project import Project
from densevse.data.inputs import Inputs
from densevse.evaluation.choices import CHOICE_SCORES, CHOICES, ENDS, draw_others
from densevse.language.tokens import write_tokens
from densevse.methods.interface import DualEncoder, Embeddings, Shapes
from densevse.report.plan import LastRound
from snakeproof import schema
from snakeproof.errors import InputError
from tests.rules import ROOT
from tests.tables import outputs_in


class Words(DualEncoder):
    """A bag of words, summed in their order, in float32; `order` makes later words count more."""

    def __init__(self, order=0.0):
        super().__init__(None, Shapes({"whole": 6}, 11))
        self.order = torch.nn.Parameter(torch.tensor(order))
        self.words = torch.from_numpy(np.random.default_rng(0).normal(size=(11, 6)).astype(np.float32))

    def encode_images(self, images):
        return Embeddings(torch.nn.functional.normalize(images.views["whole"], dim=1))

    def encode_sentences(self, sentences):
        index = sentences["words"].index
        summed = torch.zeros(len(index), 6)
        for place in range(index.shape[1]):
            known = (index[:, place] > 1)[:, None]
            summed = summed + known * self.words[index[:, place]] * (1 + self.order * place)
        return Embeddings(torch.nn.functional.normalize(summed, dim=1))

    def loss(self, images, sentences, batch, moment):
        raise AssertionError


@pytest.fixture
def asked(folder):
    """Questions about the miniature's images, all of the split test, and their captions and tokens."""
    images = schema.read(folder / "images.parquet", IMAGES)
    schema.write(images.assign(split="test"), IMAGES, folder / "images.parquet")
    rows = pd.DataFrame({"image": np.repeat(images["image_id"], 2), "category": "order"}).assign(
        right="a dog runs red ."
    )
    rows["question"], rows["family"] = [f"q{n}" for n in range(len(rows))], rows["image"]
    orders = [["red runs a dog .", "runs red dog a ."], ["dog a runs red ."]]
    rows["wrong"] = [orders[n % 2] for n in range(len(rows))]
    write_choices(rows, str(folder / "questions.parquet"), str(folder / "own.parquet"))
    write_tokens(str(folder / "own.parquet"), str(folder / "own_tokens.parquet"))
    return rows.reset_index(drop=True)


def score(files, folder, asked, method):
    own = {"caption_table": str(folder / "own.parquet"), "tokens": str(folder / "own_tokens.parquet")}
    captions = pd.read_parquet(folder / "captions.parquet")[["image_id", "text"]]
    inputs = Inputs(files.replace_inputs(**own), ["words"])
    return choice_scores(method, inputs, asked, captions, 3), inputs, captions


def test_scores_are_those_of_the_images_and_means_of_others(files, folder, asked):
    method = Words(order=1.0)
    rows, inputs, captions = score(files, folder, asked, method)
    images, sentences = inputs.all_images("test"), inputs.all_sentences("test")
    every = np.arange(len(sentences.rows.caption_ids))
    with torch.inference_mode():
        of_images = method.encode_images(images.images(np.arange(len(images.rows.image_ids)))).vectors.numpy()
        of_sentences = method.encode_sentences(sentences.sentences(every)).vectors.numpy()
    row = {name: place for place, name in enumerate(images.rows.image_ids)}
    known = captions.rename(columns={"image_id": "image"})
    others = draw_others(known, {image: image for image in row}, 3)
    assert {len(some) for some in others.values()} == {8}
    starts = np.cumsum([0, *(1 + len(wrong) for wrong in asked["wrong"])])
    for n, (name, image) in enumerate(zip(asked["question"], asked["image"], strict=True)):
        vectors = of_sentences[starts[n] : starts[n + 1]]
        mean = of_images[[row[other] for other in others[image]]].mean(axis=0)
        assert rows[n]["question"] == name
        assert rows[n]["scores"] == pytest.approx(vectors @ of_images[row[image]], abs=1e-5)
        assert rows[n]["sizes"] == pytest.approx(np.abs(vectors) @ np.abs(of_images[row[image]]), abs=1e-5)
        assert rows[n]["blind_scores"] == pytest.approx(vectors @ mean, abs=1e-5)
        assert (rows[n]["blind_sizes"] >= np.abs(rows[n]["blind_scores"]) - 1e-6).all()


def test_an_image_without_a_caption_is_asked_of_and_is_beside_others():
    captions = pd.DataFrame({"image": ["a", "b", "c"], "text": ["one", "two", "three"]})
    others = draw_others(captions, dict(zip("abcd", "abcd", strict=True)), 0)
    assert {image: sorted(some) for image, some in others.items()} == {
        image: sorted({*"abcd"} - {image}) for image in "abcd"
    }


def test_images_that_are_not_of_the_test_split_are_named(files, folder, asked):
    with pytest.raises(InputError, match="questions: 'other' is no readable test image"):
        score(files, folder, asked.assign(image="other"), Words())
    captions = pd.read_parquet(folder / "captions.parquet")
    captions.assign(text="the same").to_parquet(folder / "captions.parquet")
    with pytest.raises(InputError, match="or no other differs from it"):
        score(files, folder, asked, Words())


def table(folder, outputs, *variants, references=()):
    measured = {name: LastRound(title=name.upper(), seeds=seeds, model=name, round=0) for name, seeds in variants}
    plan = ChoicesPlan(title="Scenes", dataset="choices/mine", measured=measured, references=[*references])
    paths = [str(folder / f"{name}{seed}.parquet") for name, seeds in variants for seed in seeds]
    make_choice_table(str(folder / "questions.parquet"), paths[::-1], plan.model_dump(mode="json"), **outputs._asdict())
    return schema.read(outputs.parquet, CHOICE_RESULTS), open(outputs.markdown).read()


def write_scores(folder, rows, variant, seed):
    of = {"dataset": "choices/mine", "variant": variant, "seed": seed, "round": 0}
    schema.write(rows, CHOICE_SCORES, folder / f"{variant}{seed}.parquet", **of)


def test_the_table_says_ties_blind_choices_and_who_beats_chance_blind(files, folder, asked):
    bag, *_ = score(files, folder, asked, Words())
    ordered, *_ = score(files, folder, asked, Words(order=1.0))
    plausible = [{**row, "blind_scores": -np.arange(len(row["scores"]))} for row in ordered]
    for name, seed, rows in (("bag", 0, bag), ("bag", 1, bag), ("best", 0, plausible)):
        write_scores(folder, rows, name, seed)
    found, text = table(folder, outputs_in(folder), ("bag", [0, 1]), ("best", [0]))
    row = found.set_index("variant").loc["bag"]
    chance = pytest.approx(100 * (1 / 2 + 1 / 3) / 2, abs=1e-4)
    assert (row["choice"], row["blind"], row["chance"], row["seeds"]) == (chance, chance, chance, 2)
    assert (row["ties"], row["difference"], row["beats_chance_blind"]) == (len(asked), 0, False)
    best = found.set_index("variant").loc["best"]
    assert (best["blind"], best["ties"], best["beats_chance_blind"]) == (100, 0, True)
    assert "above chance by their 95% intervals: BEST (all)." in text
    assert f"All questions: {len(asked)} questions about 19 images; chance is 41.7 percent" in text
    _, text = table(folder, outputs_in(folder, "other"), ("bag", [0, 1]))
    assert "Blind, no method is above chance" in text


def test_the_table_has_the_paired_gain_of_the_difference_on_each_reference(files, folder, asked):
    bag, *_ = score(files, folder, asked, Words())
    right, wrong = (
        [{**row, "scores": sign * np.arange(len(row["scores"]), 0, -1.0), "sizes": row["scores"] * 0} for row in bag]
        for sign in (1, -1)
    )
    for name, rows in (("bag", (bag, bag, bag)), ("mixed", (right, right, right[:-1] + wrong[-1:]))):
        for seed, of_seed in enumerate(rows):
            write_scores(folder, of_seed, name, seed)
    found, text = table(folder, outputs_in(folder), ("bag", [0, 1, 2]), ("mixed", [0, 1, 2]), references=["bag"])
    rows = found.set_index("variant")
    assert [*rows["references"]["bag"], *rows["references"]["mixed"]] == ["bag"]
    gain, low, high = (rows[f"gains{end}"]["mixed"][0] for end in ENDS)
    assert gain == pytest.approx(rows["difference"]["mixed"] - rows["difference"]["bag"], abs=1e-3)
    assert 0 < low < gain < high
    assert f" +{gain:.1f} |" in text
    assert "95% of gain on BAG" in text


def test_of_too_few_families_it_is_not_said_that_nothing_is_above_chance(files, folder, asked):
    few = asked.head(4)
    schema.write(few, CHOICES, folder / "questions.parquet")
    rows, *_ = score(files, folder, asked, Words())
    write_scores(folder, rows[:4], "bag", 0)
    _, text = table(folder, outputs_in(folder), ("bag", [0]))
    assert "Blind choices have no interval here, so which of them are above chance is not known." in text
    assert "no method is above chance" not in text


def test_a_row_without_training_is_compared_with_each_seed(files, folder, asked):
    bag, *_ = score(files, folder, asked, Words())
    for name, seed in (("bag", 0), ("bag", 1), ("clip", 0)):
        write_scores(folder, bag, name, seed)
    found, _ = table(folder, outputs_in(folder), ("bag", [0, 1]), ("clip", [0]), references=["bag"])
    assert found.set_index("variant")["gains"]["clip"].tolist() == [0]


def test_a_category_is_not_called_as_their_total(asked):
    with pytest.raises(InputError, match="its category is all, which names all categories together; rename it"):
        schema.check_rules(asked.assign(category=["all"] + ["colour"] * (len(asked) - 1)), CHOICES, "q.parquet")


def test_scores_of_other_questions_are_refused(files, folder, asked):
    rows, *_ = score(files, folder, asked, Words())
    write_scores(folder, rows[:-1], "bag", 0)
    with pytest.raises(InputError, match=r"bag0\.parquet: its scores are of other questions"):
        table(folder, outputs_in(folder), ("bag", [0]))


def test_a_row_without_training_is_scored_once():
    entry = {"dataset": "scenes", "questions": "grammar", "measure": ["vse", "clip"]}
    project = Project(ROOT, {"datasets": {"scenes": {"seeds": [1, 2, 3]}}, "choices": {"x": entry}})
    (values,) = [one for one in measured_rounds(project, "x") if one["variant"] == "clip"]
    assert values["seed"] == 1
    assert len(measured_rounds(project, "x")) == 4


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"questions": "grammar", "dataset": "flickr8k"}, "choices.x.questions: flickr8k has no grammar"),
        ({"questions": "grammar", "file": "q.parquet"}, "file: questions: grammar have none"),
        ({"questions": "parquet"}, "file: questions: parquet need it"),
        ({"questions": "aro", "file": "q.json"}, "pictures: questions: aro need it"),
        ({"questions": "orders", "dataset": "nothing"}, "choices.x.dataset"),
        ({"questions": "orders", "measure": ["nothing"]}, "choices.x.measure"),
        ({"questions": "orders", "references": ["nothing"]}, "choices.x.references"),
    ],
)
def test_wrong_settings_are_named(entry, said):
    with pytest.raises(InputError, match=said):
        Project(ROOT, {"choices": {"x": {"dataset": "scenes", **entry}}})
