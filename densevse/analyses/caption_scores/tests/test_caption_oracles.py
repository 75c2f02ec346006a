"""Sentences that are written and chosen with oracles, and the table of these."""

import numpy as np
import pandas as pd
import pytest
import torch

from densevse.analyses.caption_scores.oracle_table import (
    CAPTION_ORACLE_MEANS,
    CAPTION_ORACLES,
    make_oracle_means,
    make_oracle_table,
)
from densevse.analyses.caption_scores.oracles import write_oracle_captions
from densevse.analyses.caption_scores.scores import choose_best_sentences, score_captions, sentence_metrics
from densevse.analyses.caption_scores.settings import CaptionOracleMeansPlan, CaptionOraclePlan, OracleRow
from densevse.artifacts.identity import read_identity
from densevse.artifacts.schemas.captions import GENERATED
from densevse.artifacts.schemas.datasets import CAPTIONS
from densevse.artifacts.schemas.sentences import PARSES
from densevse.models.files import open_model
from densevse.models.spaces import encode_words
from snakeproof import schema
from snakeproof.errors import InputError
from snakeproof.statements import Statement, making
from tests.generators import CPU, PARAMETERS, trained, with_tags
from tests.miniature import files, folder
from tests.pictures import write_images
from tests.tables import outputs_in

__all__ = ["files", "folder", "with_tags"]

JOB = {"decoding": {"tag_sequences": 4, "beam": 3}, "seed": 0, "threads": 1}
WRITTEN = {"dataset": "scenes", "generator": "sc_nlm", "seed": "0", "split": "test"}
IDS, SPACE = ["test16", "test17", "test18"], "vse.safetensors"


def written(folder, files, oracle):
    """The sentences of each ranking."""
    paths = {
        name: str(folder / f"{oracle}_{name}.parquet") for name in ("translation", "likelihood", "joint_likelihood")
    }
    wildcards = {**WRITTEN, "oracle": oracle}
    with making(Statement(wildcards=wildcards)):
        write_oracle_captions(JOB, wildcards, **paths, **files.paths_by_input())
    return {name: schema.read(path, GENERATED) for name, path in paths.items()}


def test_sentences_follow_the_tags_or_the_content_that_an_oracle_knows(folder, with_tags):
    files = trained(folder, with_tags, **PARAMETERS)
    first = schema.read(folder / "parses.parquet", PARSES).set_index("caption_id").loc[[f"{image}#0" for image in IDS]]
    along = written(folder, files, "tags")["translation"]
    assert along["image_id"].tolist() == IDS
    assert along["tags"].map(list).tolist() == first["tags"].map(list).tolist()
    assert read_identity(folder / "tags_likelihood.parquet").variant == "sc_nlm_tags_likelihood"
    plain, about = (written(folder, files, oracle)["translation"].iloc[0] for oracle in ("none", "content"))
    inputs, space = open_model(
        files.replace_inputs(view_whole=[str(folder / "whole.parquet")]), str(folder / SPACE), CPU
    )
    with torch.inference_mode():
        numbers = [inputs.vocabulary.encode(tokens) for tokens in (about["tokens"], first["tokens"].iloc[0])]
        one, reference = encode_words(space, numbers).vectors
    assert about["translation"] == pytest.approx(float(one @ reference), abs=2e-3)  # embeddings are kept as float16
    assert abs(about["translation"] - plain["translation"]) > 2e-3


def test_every_sentence_is_kept_for_the_choice_of_the_best(folder, with_tags):
    files = trained(folder, with_tags, **PARAMETERS, attributes="content")
    found = written(folder, files, "none")
    assert found["translation"].groupby("image_id").size().tolist() == [3, 3, 3]
    assert found["likelihood"]["image_id"].tolist() == IDS
    assert found["likelihood"]["score"].tolist() == found["joint_likelihood"]["score"].tolist()


def test_a_generator_that_cannot_be_told_is_refused_by_the_key(folder, with_tags):
    files = trained(folder, with_tags, **PARAMETERS, attributes="content")
    with pytest.raises(InputError, match=r"oracles\.generators\.sc_nlm: sc_nlm cannot be told the tags"):
        written(folder, files, "tags_and_content")
    captions = schema.read(folder / "captions.parquet", CAPTIONS)
    schema.write(captions[captions["position"] == 0], CAPTIONS, folder / "captions.parquet")
    with pytest.raises(InputError, match="no image of the split has two sentences"):
        written(folder, files, "content")


def test_a_generator_without_a_joint_space_has_no_content_of_sentences(folder, files):
    captioner = trained(folder, files, "lstm_captioner", ["words"], dimension=8, word_dimension=4)
    with pytest.raises(InputError, match="cannot be told the content of a sentence, as it has no joint space"):
        written(folder, captioner, "content")


PEOPLE = ["a dog runs on grass", "the brown dog runs fast", "a dog is on the grass"]
FOUND = ["a cat sleeps", "a dog runs on the grass", "dogs"]


def choose(folder):
    read = (str(folder / f"{name}.parquet") for name in ("captions", "written"))
    wildcards = {**WRITTEN, "oracle": "none"}
    with making(Statement(wildcards=wildcards)):
        choose_best_sentences(*read, wildcards, str(folder / "best.parquet"))


@pytest.fixture
def chosen(tmp_path):
    """Twelve images of three sentences each, and three sentences that were written about each, one of which is best."""
    ids = [f"{number}.png" for number in range(12)]
    write_images(tmp_path, ids)
    people = pd.DataFrame({"image_id": np.repeat(ids, 3), "split": "test", "position": [0, 1, 2] * 12})
    people["text"] = [f"{sentence} {number}" for number in range(12) for sentence in PEOPLE]
    people["caption_id"] = people["image_id"] + people["position"].astype(str)
    schema.write(people, CAPTIONS, tmp_path / "captions.parquet")
    rows = pd.DataFrame({"image_id": np.repeat(ids, 3), "rank": [1, 2, 3] * 12, "score": 0.5, "in_training": False})
    rows["sentence"] = [f"{sentence} {number}" for number in range(12) for sentence in FOUND]
    rows = rows.drop(index=[2, 35])  # some images have fewer sentences
    rows["tokens"], rows["tags"] = rows["sentence"].str.split(), [[] for _ in range(len(rows))]
    rows = rows.assign(**dict.fromkeys(("log_likelihood", "translation", "language"), 0.5))
    schema.write(rows, GENERATED, tmp_path / "written.parquet")
    choose(tmp_path)
    return tmp_path


def test_the_best_sentence_is_that_of_the_highest_cider(chosen):
    best = schema.read(chosen / "best.parquet", GENERATED)
    assert best["sentence"].tolist() == [f"{FOUND[1]} {number}" for number in range(12)]
    assert set(best["rank"]) == {1}
    references = [[f"{PEOPLE[0]} {number}"] for number in range(12)]
    assert np.allclose(best["score"], sentence_metrics(best["sentence"].tolist(), references, [])["cider"])
    assert read_identity(chosen / "best.parquet").variant == "sc_nlm_none_best"


def test_images_without_a_sentence_of_a_person_are_refused(chosen):
    captions = schema.read(chosen / "captions.parquet", CAPTIONS)
    schema.write(captions[captions["image_id"] != "7.png"], CAPTIONS, chosen / "captions.parquet")
    with pytest.raises(InputError, match=r"the image '7\.png' has no sentence"):
        choose(chosen)


def row(writer, known="nothing", without_oracle=None, beside=None):
    rest = {"selection": "", "seeds": [0], "without_oracle": without_oracle, "beside": beside}
    return OracleRow(writer=writer, title=writer, known=known, **rest)


PLANNED = {"title": "Oracles", "split": "test", "reference": "SC-NLM", "sentences": 3, "settings": {}}
ROWS = [row("plain"), row("best", without_oracle="plain"), row("other", beside="best")]


def scored(folder, writers, dataset="scenes"):
    """The scores of what writers wrote, by the files that hold it."""
    scores = []
    for writer, file in writers.items():
        scores.append(str(folder / f"{dataset}_{writer}_scores.parquet"))
        read = (str(folder / f"{name}.parquet") for name in ("images", "captions", file))
        wildcards = {"dataset": dataset, "writer": writer, "seed": "0", "split": "test"}
        with making(Statement(wildcards=wildcards)):
            score_captions(*read, [], wildcards, scores[-1])
    return scores


def test_the_table_has_gains_over_the_row_without_an_oracle_and_leads_over_the_reference(chosen):
    scores = scored(chosen, {"plain": "written", "best": "best", "other": "written"})
    plan, outputs = CaptionOraclePlan(**PLANNED, dataset="scenes", rows=ROWS), outputs_in(chosen)
    make_oracle_table(scores[::-1], plan.model_dump(mode="json"), **outputs._asdict())
    found = schema.read(outputs.parquet, CAPTION_ORACLES).set_index("writer")
    gain = found.loc["best", "cider"] - found.loc["plain", "cider"]
    assert gain > 10
    assert found.loc["best", "gain"] == pytest.approx(gain)
    assert found.loc["other", "lead"] == pytest.approx(-gain)
    assert found["gain"].isna().tolist() == [True, False, True]
    assert found["lead"].isna().tolist() == [True, True, False]
    assert found.loc["best", "gain_low"] <= gain <= found.loc["best", "gain_high"]
    text = (chosen / "table.md").read_text()
    assert "CIDEr minus that of SC-NLM" in text
    assert "Config " in text
    with pytest.raises(InputError, match="no caption scores artifact is of dataset scenes, variant other"):
        make_oracle_table(scores[:2], plan.model_dump(mode="json"), **outputs._asdict())


def test_means_over_resplits_have_the_gain_and_the_lead_of_each(chosen):
    wrote = {"a": ("written", "best", "written"), "b": ("best", "written", "best"), "c": ("written", "best", "best")}
    scores = [
        path
        for dataset, files in wrote.items()
        for path in scored(chosen, dict(zip(("plain", "best", "other"), files, strict=True)), dataset)
    ]
    each = [CaptionOraclePlan(**PLANNED, dataset=name, rows=ROWS) for name in wrote]
    plan = CaptionOracleMeansPlan(title="Means", dataset="whole", resplits=each, train=24, test=12)
    outputs = outputs_in(chosen)
    make_oracle_means(scores[::-1], plan.model_dump(mode="json"), **outputs._asdict())
    found = schema.read(outputs.parquet, CAPTION_ORACLE_MEANS).set_index("writer")
    gain = found.loc["best", "gains"][0]
    assert gain > 10
    assert list(found.loc["best", "gains"]) == pytest.approx([gain, -gain, gain])
    assert list(found.loc["other", "leads"]) == pytest.approx([-gain, gain, 0], abs=1e-6)
    best, other = found.loc["best"], found.loc["other"]
    assert best["gain"] == pytest.approx(gain / 3)
    assert best["cider"] == pytest.approx(found.loc["plain", "cider"] + gain / 3)
    error = np.std([1, -1, 1], ddof=1) * gain * np.sqrt(1 / 3 + 1 / 2)  # 12 test images of 24 for training
    assert best["gain_high"] - best["gain"] == pytest.approx(4.3027 * error, rel=1e-4)  # Student's t, two degrees
    assert other["lead_low"] < other["lead"] < other["lead_high"]
    assert list(other["gains"]) == []
    assert np.isnan(other["gain"])
    assert list(best["resplits"]) == ["a", "b", "c"]
    text = (chosen / "table.md").read_text()
    assert "Means over 3 random splits, each of 24 training and 12 test images" in text
    with pytest.raises(InputError, match="no caption scores artifact is of dataset c, variant other"):
        make_oracle_means(scores[:-1], plan.model_dump(mode="json"), **outputs._asdict())
