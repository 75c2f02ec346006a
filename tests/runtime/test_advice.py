"""What a job says after an error of a library; snakeproof/tests/test_logs.py tests the rest."""

import runpy

import pytest
import torch

from snakeproof.logs import log_job
from tests.projects import ROOT

ADVICE = runpy.run_path(str(ROOT / "workflow/scripts/job.py"))["ADVICE"]


def test_too_little_memory_on_a_gpu_says_what_to_lower(tmp_path, capsys):
    log = tmp_path / "job.log"
    with pytest.raises(SystemExit), log_job(str(log), ADVICE):
        raise torch.cuda.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")
    said = capsys.readouterr().err
    assert "Tried to allocate 2.00 GiB" in said
    assert "batch_size" in said
    assert "error in the program" not in said
    assert str(log) in said
