"""Scores of generated sentences, compared with the package's own evaluation, their table and their picture."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from pycocoevalcap.bleu.bleu import Bleu
from pycocoevalcap.cider.cider import Cider
from pycocoevalcap.rouge.rouge import Rouge
from pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer

from densevse.analyses.caption_scores.baselines import copy_captions, write_first_captions
from densevse.analyses.caption_scores.scores import score_captions, sentence_metrics
from densevse.analyses.caption_scores.settings import CaptionTablePlan, WriterPlan
from densevse.analyses.caption_scores.table import PUBLISHED_CAPTIONS, bleu, draw_captions, make_caption_table
from densevse.artifacts.identity import Identity, read_identity
from densevse.artifacts.schemas.captions import CAPTION_SCORES, CAPTION_TABLE, GENERATED, ORDERS
from densevse.artifacts.schemas.datasets import CAPTIONS
from densevse.artifacts.schemas.features import EMBEDDINGS
from densevse.language.tokens import tokenize_for_metrics
from densevse.report.plan import PicturePlan
from densevse.report.published import read_rows
from snakeproof import schema
from snakeproof.errors import InputError
from snakeproof.statements import Statement, making
from snakeproof.store import FeatureWriter
from tests.miniature import files, folder
from tests.pictures import write_images
from tests.tables import outputs_in

__all__ = ["files", "folder"]

SENTENCES = ["a dog runs on the grass", "two men play", "a cat", "a red ball lies there in the sun"]
REFERENCES = [
    ["a dog is running on grass", "the dog runs across a field of grass"],
    ["two men are playing football", "men play a game", "two people"],
    ["a small cat sleeps on a chair", "a cat sleeps"],
    ["a red ball", "the ball lies in the grass", "a ball in the sun"],
]
TRICKY = [
    'A man says "hello" to a boy\'s dog.',
    "Two black-and-white dogs -- one small -- run, jump; and play!",
    "The girl isn't here (she has left)...",
    "A 10-year-old sits at 5 o'clock : alone ?",
    "A man \N{EN DASH} with a hat\N{EM DASH}smiles .. and waits.... today",
    "Two [big] dogs {and cats} ( catching ? ) in Washington D.C.",
    "In the U.S. at 5 p.m .",
    "Dogs, cats etc.",
]


def package(metric):
    truth = dict(enumerate(REFERENCES))
    return metric.compute_score(truth, {number: [sentence] for number, sentence in enumerate(SENTENCES)})


def test_metrics_are_those_of_the_package():
    rows = sentence_metrics(SENTENCES, REFERENCES, ["bleu", "rouge_l", "cider"])
    assert np.allclose(rows["cider"], package(Cider())[1])
    assert np.allclose(rows["rouge_l"], package(Rouge())[1])
    counts = [[rows[f"{name}_{n}"].sum() for n in ORDERS] for name in ("correct", "guessed")]
    length = np.array(sum(len(sentence.split()) for sentence in SENTENCES), float)
    metrics = bleu(*counts, length, rows["reference_length"].sum())
    expected, _ = package(Bleu(4))
    assert np.allclose([metrics[f"bleu_{n}"] for n in ORDERS], expected, rtol=1e-12)
    assert rows[["meteor", "meteor_of_all", "spice"]].isna().all(axis=None)


def test_the_brevity_penalty_is_left_out_where_that_is_asked_for():
    counts = [np.array([4.0, 2.0]) for _ in ORDERS], [np.array([4.0, 4.0]) for _ in ORDERS]
    metrics = bleu(*counts, np.array([4.0, 4.0]), np.array([8.0, 2.0]))
    assert np.allclose(metrics["bleu_1_without_penalty"], [1.0, 0.5])
    assert np.allclose(metrics["bleu_1"], [np.exp(1 - 8 / 4), 0.5])
    assert np.allclose(metrics["bleu_4_without_penalty"], [1.0, 0.5])


@pytest.mark.skipif(shutil.which("java") is None, reason="the package's tokenizer and METEOR need Java")
def test_sentences_are_cut_as_the_package_cuts_them():
    theirs = PTBTokenizer().tokenize({number: [{"caption": text}] for number, text in enumerate(TRICKY)})
    assert [" ".join(tokenize_for_metrics(text)) for text in TRICKY] == [
        theirs[number][0] for number in range(len(TRICKY))
    ]


def test_words_to_compare_need_no_java_to_be_cut():
    words = [
        "a man with a hat smiles and waits today",
        "two -lsb- big -rsb- dogs -lcb- and cats -rcb- -lrb- catching -rrb- in washington d.c.",
        "in the u.s. at 5 p.m",
        "dogs cats etc.",
    ]
    assert [" ".join(tokenize_for_metrics(text)) for text in TRICKY[4:]] == words


@pytest.mark.long
@pytest.mark.skipif(shutil.which("java") is None, reason="METEOR needs Java")
def test_meteor_is_measured_where_there_is_java():
    rows = sentence_metrics(REFERENCES[0][:1] * 2, [REFERENCES[0], REFERENCES[1]], ["meteor"])
    assert rows["meteor"][0] == pytest.approx(1, abs=0.01)
    assert rows["meteor"][1] < 0.3
    assert rows["meteor_of_all"].nunique() == 1


def test_a_meteor_that_ends_at_once_ends_the_job(tmp_path):
    """Java starts, and says its version, but the program fails: the package's own class would wait for ever."""
    java = tmp_path / "java"
    java.write_text('#!/bin/sh\ncase "$*" in *-version*) exit 0;; esac\necho no heap >&2\nexit 1\n')
    java.chmod(0o755)
    code = "from densevse.analyses.caption_scores.scores import _meteor; _meteor({0: ['a dog']}, {0: ['a dog']})"
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env={**os.environ, "PATH": path}, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    assert re.search(r"InputError: METEOR failed .*; Java's output:\nno heap", done.stderr)


@pytest.fixture
def scored(folder):
    """Scores of two seeds of a generator, of copied sentences and of a person's."""
    captions = schema.read(folder / "captions.parquet", CAPTIONS)
    ids = captions["image_id"].unique()
    for split in ("train", "test"):
        of_split = [image for image in ids if image.startswith(split)]
        rows = pd.DataFrame({"image_id": of_split, "kind": "image", "caption_id": "", "text": ""})
        numbers = dict.fromkeys(("start", "end", "rank"), 0) | dict.fromkeys(("x", "y", "width", "height"), 0.0)
        with FeatureWriter(folder / f"{split}.parquet", EMBEDDINGS, (3,), np.float16) as file:
            file.append(rows.assign(**numbers), np.random.default_rng(len(of_split)).normal(size=(len(of_split), 3)))
    tables = [str(folder / f"{name}.parquet") for name in ("captions", "tokens")]
    embeddings = [str(folder / f"{split}.parquet") for split in ("train", "test")]
    wildcards = {"dataset": "scenes", "split": "test"}
    with making(Statement(wildcards={**wildcards, "seed": "0"})):
        copy_captions(*embeddings, *tables, str(folder / "copied.parquet"))
    assert read_identity(folder / "copied.parquet") == Identity("scenes", "copied", 0, split="test")
    with making(Statement(wildcards=wildcards)):
        write_first_captions(str(folder / "images.parquet"), *tables, wildcards, str(folder / "person.parquet"))
    assert read_identity(folder / "person.parquet") == Identity("scenes", "person", 0, split="test")
    scores = []
    for name, writer, seed in (("copied", "sc_nlm", 0), ("copied", "sc_nlm", 1), ("person", "person", 0)):
        path = folder / f"{name}{len(scores)}_scores.parquet"
        files = str(folder / "images.parquet"), tables[0], str(folder / f"{name}.parquet")
        of = {**wildcards, "writer": writer, "seed": str(seed)}
        with making(Statement(wildcards=of)):
            score_captions(*files, ["bleu", "rouge_l", "cider"], of, str(path))
        scores.append(str(path))
    return folder, scores


def test_a_copied_sentence_is_that_of_the_nearest_training_image(scored):
    folder, _ = scored
    copied = schema.read(folder / "copied.parquet", GENERATED)
    captions = schema.read(folder / "captions.parquet", CAPTIONS)
    first = captions[(captions["split"] == "train") & (captions["position"] == 0)]
    assert copied["in_training"].all()
    assert set(copied["sentence"]) <= set(first["text"])
    assert copied["image_id"].tolist() == ["test16", "test17", "test18"]


def test_a_person_is_compared_with_the_others_only(scored):
    folder, scores = scored
    rows = schema.read(scores[2], CAPTION_SCORES)
    everyone, others = (rows[rows["references"] == name].set_index("image_id") for name in ("all", "others"))
    captions = schema.read(folder / "captions.parquet", CAPTIONS)
    several = captions.loc[(captions["split"] == "test") & (captions["position"] > 0), "image_id"].unique()
    assert set(others.index) == set(several)
    assert np.allclose(everyone["rouge_l"], 1)  # its own sentence is among all of them
    assert (others["rouge_l"] < 1).any()


def make(folder, scores, metrics=("bleu", "cider"), published=None):
    outputs = outputs_in(folder)
    writers = {"sc_nlm": WriterPlan(title="SC-NLM", seeds=[0, 1]), "person": WriterPlan(title="a person", seeds=[0])}
    of = {"dataset": "scenes", "split": "test", "reference": "sc_nlm"}
    plan = CaptionTablePlan(title="Sentences", **of, metrics=list(metrics), writers=writers)
    make_caption_table(scores, plan.model_dump(mode="json"), published, **outputs._asdict())
    return schema.read(outputs.parquet, CAPTION_TABLE), (folder / "table.md").read_text()


def test_the_table_has_each_row_against_both_sets_of_references(scored):
    rows, text = make(*scored)
    assert rows[["references", "generator"]].to_numpy().tolist() == [
        ["all", "sc_nlm"],
        ["others", "sc_nlm"],
        ["others", "person"],
    ]
    run = schema.read(scored[1][0], CAPTION_SCORES)
    of_all = run[run["references"] == "all"]
    assert rows["cider"].iloc[0] == pytest.approx(100 * of_all["cider"].mean(), rel=1e-5)
    assert rows["new"].iloc[0] == 0
    assert rows["gain"].isna().tolist() == [True, True, False]
    assert "METEOR is missing: it is not asked for" in text
    assert not re.search(r"\| (METEOR|SPICE) ", text)


def test_a_single_image_has_no_cider_and_the_table_says_so(scored):
    folder, scores = scored
    for path in scores:
        of_one = schema.read(path, CAPTION_SCORES).iloc[[0, -1]].assign(image_id="test16")
        schema.write(of_one, CAPTION_SCORES, path, **read_identity(path).values())
    assert "CIDEr is 0 for a single image: " in make(folder, scores)[1]


def test_intervals_hold_the_figures_and_too_few_images_have_none(scored):
    folder, scores = scored
    rows, text = make(folder, scores)
    assert rows[["cider_low", "cider_high", "gain_low"]].isna().all(axis=None)
    assert "Fewer than 10 images or families are too few" in text
    for path in scores:
        of_few = schema.read(path, CAPTION_SCORES)
        copies = [of_few.assign(image_id=of_few["image_id"] + n, family=of_few["family"] + n) for n in "abcdefgh"]
        schema.write(pd.concat(copies, ignore_index=True), CAPTION_SCORES, path, **read_identity(path).values())
    rows, _ = make(folder, scores)
    assert (rows["cider_low"] < rows["cider"]).all()
    assert (rows["cider"] < rows["cider_high"]).all()


def test_the_order_of_scores_changes_no_byte_and_missing_ones_are_named(scored):
    folder, scores = scored
    found = []
    for order in (scores, scores[::-1], [*scores[1:], scores[0]]):
        make(folder, order)
        found.append([Path(file).read_bytes() for file in outputs_in(folder)])
    assert found[0] == found[1] == found[2]
    with pytest.raises(InputError, match="no caption scores artifact is of dataset scenes, variant sc_nlm, seed 1"):
        make(folder, [scores[0], scores[2]])


def test_the_table_says_what_java_would_have_added(scored):
    _, text = make(*scored, metrics=["bleu", "meteor", "spice"])
    assert "METEOR is missing: it needs Java" in text
    assert "SPICE is missing: it needs Java and Maven" in text


def test_published_rows_come_with_what_is_known_of_them(scored):
    folder, scores = scored
    names = "method,source,bleu,bleu_1,bleu_2,bleu_3,bleu_4,meteor,rouge_l,cider,spice,note"
    file = folder / "published.csv"
    file.write_text(f"{names}\nNIC,a paper,without,63,41,27,,,,,,as printed\n")
    rows, text = make(folder, scores, published=str(file))
    assert rows["bleu_1_without_penalty"].iloc[0] == 63
    assert pd.isna(rows["bleu_1"].iloc[0])
    assert "NIC (a paper): as printed." in text
    file.write_text(f"{names}\nNIC,a paper,perhaps,63,41,27,,,,,,as printed\n")
    with pytest.raises(InputError, match="line 2: bleu says neither with nor without"):
        make(folder, scores, published=str(file))


def test_sentences_about_other_images_are_refused(scored):
    folder, scores = scored
    rows = schema.read(scores[1], CAPTION_SCORES)
    schema.write(rows[rows["image_id"] != "test17"], CAPTION_SCORES, scores[1], **read_identity(scores[1]).values())
    with pytest.raises(InputError, match="other images"):
        make(folder, scores)


@pytest.mark.skipif(shutil.which("java") is None, reason="SPICE needs Java")
def test_spice_without_its_jars_says_what_java_says(tmp_path):
    with pytest.raises(InputError, match="SPICE failed; Java's output"):
        sentence_metrics(SENTENCES, REFERENCES, ["spice"], str(tmp_path))


def test_a_sentence_without_words_scores_nothing():
    rows = sentence_metrics(["", SENTENCES[1]], REFERENCES[:2], [])
    assert rows.loc[0, ["correct_1", "guessed_1", "rouge_l", "cider"]].tolist() == [0, 0, 0, 0]
    assert rows.loc[1, "rouge_l"] > 0


def test_every_published_file_fits_its_columns():
    files = list((Path(__file__).parents[1] / "published").glob("*.csv"))
    assert files
    assert all(read_rows(file, PUBLISHED_CAPTIONS) for file in files)


IDS = list(map(str, range(11)))


@pytest.fixture
def drawn(tmp_path):
    write_images(tmp_path, IDS, drawn=True)
    return tmp_path


def written(folder, name, ids, sentence):
    rows = pd.DataFrame({"image_id": np.repeat(ids, 2), "rank": [1, 2] * len(ids), "sentence": sentence})
    rows["tokens"] = [sentence.split()] * len(rows)
    rows["tags"] = [[] for _ in range(len(rows))]
    scores = dict.fromkeys(("score", "log_likelihood", "translation", "language"), 0.5)
    path = folder / f"{name}.parquet"
    schema.write(rows.assign(**scores, in_training=name == "copied"), GENERATED, path, **of(name).values())
    return str(path)


def of(name):
    return Identity("scenes", name, 0, split="test")


def draw(folder, ids, sentence, name, order=1):
    files = [written(folder, "sc_nlm", ids, sentence), written(folder, "copied", ids[:-1], "a cat")]
    shown = {"SC-NLM": of("sc_nlm"), "copied": of("copied")}
    plan, path = PicturePlan(title="Sentences", shown=shown).model_dump(mode="json"), folder / name
    sources = {"images": str(folder / "images")}
    draw_captions(files[::order], str(folder / "images.parquet"), sources, plan, str(path))
    return path.read_bytes()


def test_the_figure_shows_what_was_written(drawn):
    one = draw(drawn, IDS, "a dog that costs $5 runs " * 20, "one.png")
    assert one == draw(drawn, IDS, "a dog that costs $5 runs " * 20, "same.png")
    assert one != draw(drawn, IDS, "a cat sleeps", "other.png")


def test_artifacts_are_found_by_what_they_are_of_in_any_order(drawn):
    assert draw(drawn, IDS, "a dog", "one.png") == draw(drawn, IDS, "a dog", "other.png", order=-1)


def test_two_images_are_enough(drawn):
    assert draw(drawn, IDS[:2], "a dog", "two.png")
