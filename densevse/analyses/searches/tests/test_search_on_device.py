"""A search on the tested device has the CPU's answers."""

from functools import partial

import pytest

from densevse.analyses.searches.searching import SentencesOf
from densevse.models.encodings import KeptImages, write_encodings
from densevse.models.files import open_model
from densevse.models.searching import score_encodings, search
from densevse.runtime.numerics import device
from tests.device.jobs import VSE, compute_on, made, on_both, same_draws, untrained

__all__ = ["compute_on", "made", "on_both", "same_draws"]


@pytest.mark.parametrize("asked", ["sentences", "photographs"])
def test_a_search(made, on_both, asked):
    def job(folder):
        files, model = untrained(made, folder, "vse", ["words"], ["whole"], **VSE)
        inputs, method = open_model(files, model, device())
        write_encodings(method, inputs, "val", folder / "kept.parquet")
        kept = KeptImages(folder / "kept.parquet", type(method), device())
        found = search(partial(score_encodings, method), kept, SentencesOf(method, inputs.pairs("val")), asked, 2)
        return {"rows": found.row, "scores": found.score}

    on_both(job)
