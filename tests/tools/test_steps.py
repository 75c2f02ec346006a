"""The times of steps, on a CPU and a data set of a few images."""

import pytest

from densevse.runtime import numerics
from tests.device.miniature import FurtherSizes
from tests.miniature import Sizes
from tools.gpu_check import steps
from tools.gpu_check.steps import Step, step_sheet, steps_at_full_size

SMALL = Sizes(splits={"train": 9, "val": 2, "test": 2}, captions=(2,), regions=(3,), vector=8)
FURTHER = FurtherSizes(grid=(2, 4), concepts=3, word_vector=300)


@pytest.mark.slow
def test_each_method_is_timed_in_each_precision(tmp_path, monkeypatch):
    monkeypatch.setattr(steps, "WARM_UP", 1)
    monkeypatch.setattr(steps, "MOST", 1)
    monkeypatch.setattr(steps, "PRECISIONS", ("float32", "bf16"))
    done, step = [], steps._step
    monkeypatch.setattr(
        steps, "_step", lambda trainer, batch: done.append(type(trainer.task.module)) or step(trainer, batch)
    )
    found = list(steps_at_full_size(tmp_path, SMALL, FURTHER))
    assert [(row.method, row.precision) for row in found] == [(m, p) for m in steps.METHODS for p in steps.PRECISIONS]
    assert len(done) == 2 * len(found)
    assert len(set(done)) == len(steps.METHODS)
    assert all(row.seconds > 0 and row.memory == 0 for row in found)
    assert numerics.device().type == "cpu"


def test_the_table_has_hours_of_all_epochs():
    given = [Step("vse", "float32", 100, 10, 0.36, 2_000_000_000), Step("vse", "bf16", 100, 10, 0.1, 1_500_000_000)]
    sheet = step_sheet(given)
    cells = dict(zip((column.header for column in sheet.columns), sheet.rows[0], strict=True))
    assert cells == {
        "Method": "vse",
        "Batch": "100",
        "float32, ms": "360",
        "bf16, ms": "100",
        "float32, GB": "2.0",
        "bf16, GB": "1.5",
        "An epoch of Flickr30k in float32, min": "8.7",
        "epochs": "10",
        "hours": "1.4",
    }
