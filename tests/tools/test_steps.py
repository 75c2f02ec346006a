"""The times of steps, rehearsed on the CPU with little data."""

import subprocess
import sys
from types import SimpleNamespace

import pytest
import torch
from torch.autograd import DeviceType

from tests.device.papers import Sizes
from tools.gpu_check.profiling import StepWork, mean_work
from tools.gpu_check.steps import COLUMNS, KINDS, METHODS, Clock, Step, StepPlan, step_sheet

HEAVY = {"cv2", "duckdb", "matplotlib", "nltk", "pytest", "snakemake", "stanza", "torchvision"}
"""Packages that `--steps` does without, so that it also runs where densevse is not installed."""
RUN = f"""
import runpy, sys
try:
    runpy.run_module("tools.gpu_check", run_name="__main__", alter_sys=True)
finally:
    print("imported", *({HEAVY} & sys.modules.keys()))
"""


@pytest.mark.slow
def test_a_rehearsal_writes_a_row_for_each_method_and_needs_few_packages(tmp_path):
    page = tmp_path / "steps.md"
    asked = ["--steps", "--device", "cpu", "--size", "4", "--page", str(page)]
    done = subprocess.run([sys.executable, "-c", RUN, *asked], capture_output=True, text=True, check=True)
    headers, *rows, imported = (line.split("\t") for line in done.stdout.splitlines())
    assert headers == list(COLUMNS)
    assert [tuple(row[:2]) for row in rows] == list(KINDS)
    assert sum(line.startswith("|") for line in page.read_text().splitlines()) == 2 + len(KINDS)
    assert imported == ["imported"]


def test_the_papers_sizes_are_timed():
    plan = StepPlan()
    assert (plan.sizes.vector, plan.sizes.regions, plan.sizes.cells, plan.batch) == (4096, 20, 196, None)
    assert 129 * (plan.warm_up + plan.steps + plan.profiled) <= 5 * (plan.sizes.images - 16), "no batch comes twice"
    assert {method for method, _ in KINDS} == set(METHODS)
    assert plan.sizes == Sizes()


def test_the_work_of_a_step_is_counted_by_the_profiler_s_events():
    def event(name, on_card=True, annotated=False):
        kind = DeviceType.CUDA if on_card else DeviceType.CPU
        span = SimpleNamespace(elapsed_us=lambda: 500.0)
        return SimpleNamespace(name=name, device_type=kind, is_user_annotation=annotated, time_range=span)

    copies = [
        event("Memcpy HtoD (Pageable -> Device)"),
        event("Memcpy HtoD (Pinned -> Device)"),
        event("Memset (Device)"),
    ]
    host = [event("cudaLaunchKernel", False), event("cudaStreamSynchronize", False)]
    events = [event("gemm"), event("add"), *copies, *host, event("Optimizer.step", annotated=True)]
    assert mean_work(events, 2) == StepWork(busy=0.5, kernels=1.0, pageable=0.5, waits=0.5)


def test_a_row_has_the_time_of_an_epoch():
    step = Step("vse", "float32", 100, 360.0, 240.04, StepWork(120.0, 474.3, 4.0, 1.0), 2.5, 2_000_000_000)
    sheet = step_sheet([step])
    assert dict(zip((column.header for column in sheet.columns), sheet.rows[0], strict=True)) == {
        "Method": "vse",
        "Precision": "float32",
        "Batch": "100",
        "with loader, ms": "360.0",
        "ready, ms": "240.0",
        "busy, ms": "120.0",
        "kernels": "474",
        "pageable copies": "4",
        "waits": "1",
        "CPU of a batch, ms": "2.5",
        "memory, GB": "2.0",
        "epoch, min": "8.7",
    }


def test_a_clock_gives_the_times_between_marks():
    clock = Clock(torch.device("cpu"))
    for _ in range(3):
        clock.mark()
    assert len(clock.intervals()) == 2
    assert min(clock.intervals()) >= 0
