"""Alignments on the tested device equal those on the CPU."""

import numpy as np
import torch

from densevse.analyses.alignments.aligning import align, find_triplet_regions
from densevse.models.files import open_model
from densevse.runtime.numerics import device
from tests.device.jobs import compute_on, made, on_both, same_draws, untrained

__all__ = ["compute_on", "made", "on_both", "same_draws"]


def test_alignments(made, on_both):
    def job(folder):
        parameters = {"dimension": 5, "word_vectors": "learned", "word_dimension": 4}
        files, model = untrained(made, folder, "defrag", ["triplets"], ["regions"], **parameters)
        inputs, method = open_model(files, model, device())
        pairs = inputs.pairs("test")
        method.eval()
        with torch.no_grad():
            rows = align(method, inputs, pairs, np.zeros((1, 2), np.int64))
            best = find_triplet_regions(method, inputs, pairs, [])
        return {
            "scores": rows["score"].to_numpy(),
            "regions": rows["region"].to_numpy(),
            "best": best["score"].to_numpy(),
        }

    on_both(job)
