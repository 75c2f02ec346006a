"""Perplexity given the right image or another: against a loop over words, its shuffle, its plan and its table."""

import copy
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

from densevse.analyses.perplexity import dag
from densevse.analyses.perplexity.measuring import likelihoods, shuffle_images, write_likelihoods
from densevse.analyses.perplexity.plan import PerplexityPlan
from densevse.analyses.perplexity.schemas import LIKELIHOODS
from densevse.analyses.perplexity.table import PERPLEXITY, make_perplexity_table, perplexities
from densevse.artifacts.identity import Identity
from densevse.dag.project import Project, Stage
from densevse.data.inputs import Inputs
from densevse.methods.structures import UNKNOWN
from densevse.models.files import build_method, save_model
from densevse.report.plan import LastRound
from snakeproof import schema
from snakeproof.errors import InputError
from tests.miniature import files, folder
from tests.pictures import write_images
from tests.projects import ROOT, SMALL
from tests.rules import input_of
from tests.tables import outputs_in

__all__ = ["files", "folder"]

TINY = {"dimension": 8, "word_dimension": 4}
KNOWN = 7  # words of the decoder, of which two are none


@pytest.fixture
def inputs(files):
    return Inputs(files, ["words"])


@pytest.fixture
def model(inputs):
    torch.manual_seed(0)
    made = build_method("sco", {**TINY, "generated_words": KNOWN, "longest_sentence": 4}, inputs.shapes())
    with torch.no_grad():
        for weight in made.decoder.parameters():
            weight.copy_(torch.randn_like(weight))
    return made.eval()


@torch.no_grad()
def literal(model, v, words):
    """Minus the log likelihood of the words and the end, one after the other, and their number."""
    decoder, (hidden, memory), before, total = model.decoder, (v[None], torch.zeros(1, len(v))), 0, 0.0
    read = [word if word < KNOWN else UNKNOWN for word in words][:4]
    for word in [*read, 0]:
        hidden, memory = decoder.recurrent.step(decoder.inputs(torch.tensor([before])), hidden, memory)
        total -= float(decoder.logits(hidden)[0].log_softmax(dim=0)[word])
        before = word
    return total, len(read) + 1


def test_likelihoods_are_those_of_a_loop_over_words(model, inputs):
    pairs = inputs.pairs("val")
    others = shuffle_images(pairs.rows.family_of_image, "val")
    found = likelihoods(model, pairs, others)
    v = model.encode_images(pairs.images(np.arange(len(others)))).vectors  # of one view: of unit norm already
    words = [inputs.vocabulary.encode(tokens) for tokens in inputs.sentence_tokens(pairs.rows.caption_ids)]
    assert any(max(one) >= KNOWN for one in words), "some words are unknown to the decoder"
    assert max(map(len, words)) > 4, "some sentences are cut"
    for row, own, sentence in zip(found.itertuples(), pairs.rows.image_of_caption, words, strict=True):
        assert row.image_id == pairs.rows.image_ids[own]
        assert (row.right, row.predictions) == pytest.approx(literal(model, v[own], sentence), rel=1e-5)
        assert row.shuffled == pytest.approx(literal(model, v[others[own]], sentence)[0], rel=1e-5)
    assert found["caption_id"].tolist() == pairs.rows.caption_ids.tolist()


def measured(model, inputs):
    pairs = inputs.pairs("val")
    rows = likelihoods(model, pairs, shuffle_images(pairs.rows.family_of_image, "val"))
    return perplexities([rows], inputs.images.set_index("image_id")["family"])


def test_only_a_decoder_that_ignores_the_image_has_equal_perplexities(model, inputs):
    found = measured(model, inputs)
    assert abs(found["gain"]) > 0.01
    assert found["gain"] == pytest.approx(np.log(found["shuffled"] / found["right"]))
    with torch.no_grad():
        model.decoder.recurrent.weight_hidden.zero_()  # v is the first hidden state, so nothing reads it
    found = measured(model, inputs)
    assert found["shuffled"] == pytest.approx(found["right"])
    assert found["gain"] == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("sizes", [[1] * 2, [1] * 7, [3, 3], [5, 1, 1, 3], [1, 2, 3, 4, 2], [2] * 5])
def test_no_image_is_given_its_own_family(sizes):
    families = np.random.default_rng(1).permutation(np.repeat([f"f{n}" for n in range(len(sizes))], sizes))
    others = shuffle_images(families.astype(object), "val")
    assert sorted(others) == list(range(len(families)))
    assert (families[others] != families).all()
    assert shuffle_images(families.astype(object), "val").tolist() == others.tolist(), "the shuffle is fixed"


@pytest.mark.parametrize("sizes", [[1], [4], [4, 1, 2]])
def test_a_split_that_cannot_be_shuffled_is_refused(sizes):
    families = np.repeat([f"f{n}" for n in range(len(sizes))], sizes).astype(object)
    with pytest.raises(InputError, match=rf"{sizes[0]} of the {sum(sizes)} images of the split val .* family f0"):
        shuffle_images(families, "val")


def test_the_job_refuses_a_model_without_a_decoder(files, inputs, tmp_path):
    path = str(tmp_path / "model.safetensors")
    method = build_method("sco", {**TINY, "generation_weight": 0.0}, inputs.shapes())
    save_model(method, "sco", ["words"], path, features=inputs.feature_settings())
    wildcards = {"dataset": "scenes", "variant": "sco_ctx", "seed": "0", "round": "0", "split": "val"}
    with pytest.raises(InputError, match=r"model\.safetensors: the model generates no sentences"):
        write_likelihoods(path, 1, wildcards, str(tmp_path / "found.parquet"), **files.paths_by_input())


def write_runs(folder, gains):
    """LIKELIHOODS of a seed for each gain: 24 sentences of 12 images in 12 families, three predictions each."""
    image = np.repeat([f"i{n:02}" for n in range(12)], 2)
    right = np.tile([3.0, 6.0], 12)
    rows = pd.DataFrame({"image_id": image, "predictions": 3, "right": right})
    rows["caption_id"] = [f"{name}#{n % 2}" for n, name in enumerate(image)]
    paths = [str(folder / f"seed{seed}.parquet") for seed in range(len(gains))]
    for seed, (path, gain) in enumerate(zip(paths, gains, strict=True)):
        of = Identity("scenes", "sco", seed, 0, split="val")
        schema.write(rows.assign(shuffled=right + 3 * gain), LIKELIHOODS, path, **of.values())
    names = pd.unique(image)
    return paths, pd.Series(names, index=names)


def test_an_interval_covers_the_seeds(tmp_path):
    paths, families = write_runs(tmp_path, [0.5, 0.5, 0.5])
    same = perplexities([schema.read(path, LIKELIHOODS) for path in paths], families)
    assert (same["right"], same["gain"]) == pytest.approx((np.exp(1.5), 0.5))
    assert (same["gain_low"], same["gain_high"]) == pytest.approx((0.5, 0.5)), "all images gain as much"
    paths, families = write_runs(tmp_path, [-0.1, 0.1])
    other = perplexities([schema.read(path, LIKELIHOODS) for path in paths], families)
    assert other["gain_low"] < -0.5 < 0.5 < other["gain_high"], "a gain may be negative"


def test_the_table_is_of_every_variant_and_seed(tmp_path):
    paths, families = write_runs(tmp_path, [0.5, 0.7])
    sco = LastRound(title="SCO", seeds=[0, 1], model="sco", round=0)
    plan = PerplexityPlan(title="Scenes", dataset="scenes", measured={"sco": sco}, split="val").model_dump(mode="json")
    images, outputs = write_images(tmp_path, families, split="val"), outputs_in(tmp_path)
    make_perplexity_table(images, paths[::-1], plan, **outputs._asdict())
    row = schema.read(outputs.parquet, PERPLEXITY).iloc[0]
    assert (row["seeds"], row["images"], row["sentences"], row["predictions"]) == (2, 12, 24, 72)
    assert row["gain"] == pytest.approx(0.6)
    text = Path(outputs.markdown).read_text(encoding="utf-8")
    assert "sco, seeds 0, 1" in text
    assert "sco: 12 images of val with 24 sentences, 72 predictions." in text


def test_the_rows_are_the_variants_that_the_settings_name():
    stage = Stage(Project(ROOT, {}), dag)
    assert input_of("perplexity_table", "found", stage.measured_rounds, dataset="scenes") == [
        f"results/scenes/perplexity/{name}/seed0/round0/val.parquet" for name in ("sco_ctx_gen", "sco")
    ]
    assert list(PerplexityPlan.model_validate(stage.job("flickr8k_resplit1").settings["plan"]).measured) == ["sco"]


@pytest.mark.parametrize(
    ("dataset", "variants", "message"),
    [
        ("coco", [], "perplexity.coco.variants: name the variants"),
        ("scenes", ["sco", "sco_ctx"], "perplexity.scenes.variants: sco_ctx trains no decoder"),
        ("scenes", ["vse"], "perplexity.scenes.variants: vse trains no decoder"),
        ("scenes", ["scoo"], "perplexity.scenes.variants: no 'scoo'"),
    ],
)
def test_rows_without_a_decoder_are_refused(dataset, variants, message):
    with pytest.raises(InputError, match=message):
        Stage(Project(ROOT, {"perplexity": {dataset: {"variants": variants}}}), dag).job(dataset)


@pytest.mark.slow
def test_the_workflow_makes_the_table(continue_project):
    values = copy.deepcopy(SMALL)
    values["methods"]["sco"] = {
        "datasets": {
            "scenes": {"parameters": {"dimension": 16, "word_dimension": 8}, "phases": {"main": {"epochs": 2}}}
        }
    }
    values["perplexity"] = {"scenes": {"variants": ["sco_ctx_gen"], "split": "train"}}
    project, target = continue_project(values), "results/tables/scenes_perplexity.md"
    planned = project.planned(target)
    assert (planned["train"], planned["measure_perplexity"], planned["perplexity_table"]) == (1, 1, 1)
    assert "perplexity_table" not in project.planned("results/scenes.done"), "no other target has it"
    project.run(target)
    row = schema.read(project.folder / "results/tables/scenes_perplexity.parquet", PERPLEXITY).iloc[0]
    assert (row["variant"], row["images"], row["sentences"]) == ("sco_ctx_gen", 48, 240)
    assert row["gain_low"] <= row["gain"] <= row["gain_high"]
    print((project.folder / target).read_text())
    assert project.planned(target) == {}
