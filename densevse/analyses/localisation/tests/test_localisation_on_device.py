"""Localisation on the tested device has the CPU's scores."""

import numpy as np

from densevse.analyses.localisation.localising import _encode_phrases, _scores
from densevse.models.files import open_model
from densevse.runtime.numerics import device
from tests.device.jobs import VSE, compute_on, made, on_both, same_draws, untrained

__all__ = ["compute_on", "made", "on_both", "same_draws"]


def test_localisation(made, on_both):
    def job(folder):
        files, model = untrained(made, folder, "vse", ["words"], ["whole"], **VSE)
        inputs, space = open_model(files, model, device())
        phrases = _encode_phrases(space, ["a red dog", "blue"], inputs.vocabulary)
        windows = np.random.default_rng(0).random((5, 6), np.float32)
        return {"scores": _scores(space, "whole", windows, phrases)}

    on_both(job)
