"""A training step on a device, and ranking there.

A step's number of launches does not depend on the batch, and the host hardly waits. In half precision losses are
float32, and nothing overflows: a CPU's autocast tries where there is no GPU.
"""

import numpy as np
import pytest
import torch

from densevse.config.load import variant
from densevse.evaluation.protocols import TestSet, folds
from densevse.evaluation.retrieval import retrieve
from densevse.methods.interface import Moment
from densevse.methods.moving import to_device
from tests.device.chosen import CPU, DEVICE, REAL, begin, counting_waits, launches, to_host
from tests.device.test_methods import CONFIG, DATASET, STEPPED, job_of
from tests.device.trainers import trainer_on

PLACE = DEVICE if REAL else CPU


def trainer_of(made, name, device=DEVICE):
    entry = variant(CONFIG, DATASET, name)
    return trainer_on(device, made, entry, job_of(entry))


def counted(trainer, sentences):
    """The launches, by operator, and the waits of a step on these sentences; the optimiser's state is there already."""
    for _ in range(2):
        batch = to_device(trainer.task.batch(sentences, 1), DEVICE)
        begin()
        with counting_waits() as waits:
            trainer.step(batch, Moment(1, "main", trainer.task.parameters), 0.01)
            found = waits()
    return launches(), found


@pytest.mark.parametrize("name", STEPPED)
def test_a_step_waits_once_at_most_and_a_larger_batch_has_no_more_launches(made, compute_on, name):
    compute_on(DEVICE)
    trainer = trainer_of(made, name)
    chosen = np.arange(12)
    (few, waits), (many, _) = (counted(trainer, rows) for rows in (chosen, np.concatenate((chosen, chosen))))
    assert waits <= 1
    assert not many - few, "operators that are launched more often"


def loss_of(trainer, half):
    torch.manual_seed(0)
    batch = to_device(trainer.task.batch(np.arange(12), 1), PLACE)
    trainer.task.module.zero_grad()
    with torch.autocast(PLACE.type, torch.bfloat16, enabled=half):
        loss = trainer.task.loss(batch, Moment(1, "main", trainer.task.parameters))
    loss.backward()
    return loss.detach(), [weight.grad for weight in trainer.weights.values() if weight.grad is not None]


@pytest.mark.parametrize("name", STEPPED)
def test_the_loss_is_float32_and_near_that_of_float32(made, compute_on, name):
    compute_on(PLACE)
    trainer = trainer_of(made, name, PLACE)
    (loss, gradients), (expected, _) = loss_of(trainer, half=True), loss_of(trainer, half=False)
    assert loss.dtype == torch.float32
    assert all(gradient.dtype == torch.float32 and gradient.isfinite().all() for gradient in gradients)
    torch.testing.assert_close(loss, expected, rtol=0.1, atol=0.1)


def test_ranking_copies_no_scores(compute_on):
    """Ranks and the best candidates are computed on the scores' device; the host gets them after all tiles."""
    images, sentences, owner = torch.randn(12, 4), torch.randn(30, 4), torch.arange(30) * 12 // 30
    rows = TestSet(
        *(np.array([f"{kind}{row}" for row in range(size)], object) for kind, size in (("i", 12), ("s", 30))),
        owner.numpy(),
        np.array(["f"] * 12, object),
    )
    found, waited, copied = [], [], []
    for device in (CPU, DEVICE):
        compute_on(device)
        placed = [part.to(device) for part in (images, sentences)]
        for block in (12, 3):  # one tile, and sixteen
            begin()
            scorer = lambda *_: lambda i, j: placed[0][i] @ placed[1][j].T  # noqa: B023, E731
            with counting_waits() as waits:
                found.append(retrieve(scorer, rows, folds(rows, "full"), block=block, top=3))
                waited.append(waits())
            copied.append(to_host())
    for other in found[1:]:
        assert other["rank"].equals(found[0]["rank"])
        np.testing.assert_allclose(np.stack(other["top_scores"][:12]), np.stack(found[0]["top_scores"][:12]), rtol=1e-5)
    assert waited[2] == waited[3]
    if copied[2] is not None:
        assert copied[3] == copied[2]  # one answer for all tiles: whether a score is not a number
