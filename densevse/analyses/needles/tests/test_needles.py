"""Needles: the contents of images and sentences, and that attention solves a world where the mean of cells fails."""

import numpy as np
import pytest
import torch

from densevse.analyses.needles.settings import NEEDLES, Needles
from densevse.analyses.needles.world import _FILLERS, _SENTENCES, generate, images
from densevse.config.load import load
from densevse.dag.project import Project
from densevse.methods.interface import Batch, Images, Moment, Sentences, Shapes
from densevse.methods.parameters.sm_lstm import Parameters
from densevse.methods.sm_lstm import SMLSTM
from densevse.methods.structures import words_from_index
from snakeproof.errors import InputError
from tests.rule_values import job_of
from tests.rules import ROOT

SMALL = {"cells": 12, "groups": 2, "length": 16, "noise": 0.1}
FEW = {"train": 3, "val": 2, "test": 2}


def made(count=40, **settings):
    return images(Needles(**{**SMALL, **settings}), count, np.random.default_rng(1))


def test_the_mean_of_an_images_cells_tells_nothing_of_it():
    found = made(told_by="nothing", noise=0)
    np.testing.assert_allclose(found.cells.mean(axis=1), found.cells[:1].mean(axis=1).repeat(40, 0), atol=1e-5)
    assert len(np.unique(found.cells[:, 0], axis=0)) > 12, "cells stand in another order in each image"


@pytest.mark.parametrize("told_by", ["nothing", "context", "sentence"])
def test_sentences_name_the_symbols_under_one_mark(told_by):
    found = made(told_by=told_by)
    words = np.array([sentence.split() for sentence in found.sentences]).reshape(40, _SENTENCES, -1)
    symbols = [[{word for word in sentence if word.startswith("symbol")} for sentence in of] for of in words]
    assert all(len(sentence) == NEEDLES for of in symbols for sentence in of)
    same = [len({frozenset(sentence) for sentence in of}) == 1 for of in symbols]
    assert all(same) == (told_by != "sentence")
    marks = {word for word in words.ravel() if not word.startswith("symbol")} - set(_FILLERS)
    assert marks == ({"mark0", "mark1"} if told_by == "sentence" else set())


def test_the_vector_of_the_whole_image_tells_the_mark_where_it_should():
    found = made(told_by="context", noise=0)
    assert len(np.unique(found.contexts.round(3), axis=0)) == SMALL["groups"]
    of_sentence = made(told_by="sentence", noise=0).contexts
    assert of_sentence.any()
    np.testing.assert_array_equal(of_sentence, of_sentence[:1].repeat(40, axis=0))


def test_the_same_options_give_the_same_bytes(tmp_path):
    options = Needles(told_by="sentence", images=FEW, **SMALL).model_dump(mode="json")
    for folder in ("first", "second"):
        (tmp_path / folder).mkdir()
        generate(options, tmp_path / folder / "a", tmp_path / folder / "whole.npy", tmp_path / folder / "ids.txt")
    first, second = (sorted(path for path in (tmp_path / folder).rglob("*.*")) for folder in ("first", "second"))
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]
    assert len(first) == 3 * 3 + 2
    assert len((tmp_path / "first/ids.txt").read_text().splitlines()) == sum(FEW.values())


def test_a_job_is_given_all_settings_of_its_data_set():
    project = Project(ROOT, {"needles": {"fixed": {"seed": 7, "images": FEW}}})
    options = job_of("make_needles", project, needles="fixed").settings["options"]
    assert options.keys() == Needles.model_fields.keys()
    assert (options["told_by"], options["seed"], options["images"]) == ("nothing", 7, FEW)


def test_too_many_marks_are_refused_by_their_path():
    with pytest.raises(InputError, match=r"needles\.fixed.*17 of 3 cells each do not fit into 48 cells"):
        load(ROOT / "config", {"needles": {"fixed": {"groups": 17}}})


def rsum_of(select):
    """R@1 of both directions on 40 images, after a short training on 200 others."""
    torch.manual_seed(0)
    sizes = dict.fromkeys(("hidden", "word_hidden", "word_dimension", "similarity", "score_units"), 16)
    parameters = Parameters(
        **sizes,
        context=False,
        select=select,
        context_dimension=4,
        attention_units=16,
        mismatched=15,
        balance=0.0,
        steps=1,
    )
    splits = [made(count, told_by="nothing") for count in (200, 40)]
    words = sorted({word for split in splits for sentence in split.sentences for word in sentence.split()})
    number = {word: place for place, word in enumerate(words, start=2)}
    model = SMLSTM(parameters, Shapes({"grid": SMALL["length"], "whole": SMALL["length"]}, len(words) + 2))
    optimizer = torch.optim.Adam(model.parameters(), 0.01)

    def batch(split, rows):
        views = {"grid": torch.from_numpy(split.cells[rows]), "whole": torch.from_numpy(split.contexts[rows])}
        index = np.array([[number[word] for word in split.sentences[_SENTENCES * row].split()] for row in rows])
        sentences = Sentences({"words": words_from_index(index, torch.device("cpu"))})
        return Batch(
            Images(views, torch.ones(len(rows), 0, dtype=torch.bool)), sentences, torch.eye(len(rows), dtype=torch.bool)
        )

    random = np.random.default_rng(0)
    for _ in range(120):
        of_step = batch(splits[0], random.choice(200, 32, replace=False))
        optimizer.zero_grad()
        model.loss(*model.encode_batch(of_step), of_step, Moment(1, "main", parameters)).backward()
        optimizer.step()
    scores = model.eval().score(*model.encode_batch(batch(splits[1], np.arange(40)))).detach()
    right = scores.diagonal()
    return float((scores >= right[:, None]).sum(1).eq(1).float().mean() + (scores >= right).sum(0).eq(1).float().mean())


@pytest.mark.slow
def test_attention_finds_what_the_mean_cannot():
    assert rsum_of("attention") > 1.0
    assert rsum_of("mean") < 0.3
