"""The programs of docs/api.md and docs/models.md run, and find what a search finds."""

import re

import numpy as np
import pytest

import densevse
from tests.inference.models import folder_of
from tests.projects import ROOT


def programs(page):
    """The programs of a page, as they are for the models of these tests."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    found = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    return [one.replace("results/scenes", "results/mine") for one in found]


def recipe(library):
    """The program of docs/models.md that imports a library first."""
    (found,) = (one for one in programs("models.md") if one.startswith(f"import {library}\n"))
    return found


@pytest.fixture
def encoded(project, photographs):
    """A model with the variables that the recipes read."""
    model = densevse.load(folder_of(project, "vse"))
    images, sentences = model.encode_images(photographs), model.encode_sentences(["a red dog", "the cat sleeps"])
    return model, {"images": images, "sentences": sentences, "names": [path.name for path in photographs]}


def test_a_model_takes_three_lines(project, photographs, monkeypatch):
    monkeypatch.chdir(project)
    program, *_ = programs("api.md")
    variables = {}
    exec(compile(program, "docs/api.md", "exec"), variables)
    assert variables["found"]["rank"].tolist() == [1, 2]


def test_faiss_finds_what_a_search_finds(encoded):
    pytest.importorskip("faiss", reason="faiss-cpu, of envs/locks/dev.txt, is not installed")
    model, variables = encoded
    exec(compile(recipe("faiss"), "docs/models.md", "exec"), variables)
    expected = model.search(variables["images"], variables["sentences"], top=3)
    assert variables["rows"].ravel().tolist() == expected["answer"].tolist()
    np.testing.assert_allclose(variables["scores"].ravel(), expected["score"], atol=1e-5)


def test_duckdb_finds_what_a_search_finds(encoded):
    model, variables = encoded
    exec(compile(recipe("duckdb"), "docs/models.md", "exec"), variables)
    expected = model.search(variables["images"], variables["sentences"][:1], top=3)
    assert [name for (name,) in variables["nearest"]] == [variables["names"][row] for row in expected["answer"]]
