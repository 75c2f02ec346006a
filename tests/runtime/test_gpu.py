"""The requested GPUs exist and work, or the error says what to do; each job on a machine has a card of its own."""

import os
import signal
import socket
import subprocess
import sys
from types import SimpleNamespace

import pytest
import torch

from densevse.runtime import gpu
from densevse.runtime.project import GPU, JOBS_PER_GPU
from snakeproof.errors import InputError

WHEEL = ["sm_75", "sm_80", "sm_86", "sm_90", "sm_100", "sm_120", "compute_120"]


@pytest.fixture
def cards(monkeypatch, tmp_path):
    """A function that lets torch see GPUs of a compute capability, and sets the configuration's request."""

    def refuse():
        raise RuntimeError("The NVIDIA driver on your system is too old (found version 12020).\nmore")

    def see(count, asked="auto", capability=(8, 6), available=True, works=True, built=WHEEL):
        gpu._choose_device.cache_clear()
        monkeypatch.setenv(GPU, asked)
        monkeypatch.setattr(torch.cuda, "device_count", lambda: count)
        monkeypatch.setattr(torch.cuda, "init", lambda: available or refuse())
        monkeypatch.setattr(torch.cuda, "get_device_name", lambda card: f"card {card.index}")
        monkeypatch.setattr(torch.cuda, "get_device_capability", lambda card: capability)
        monkeypatch.setattr(
            torch.cuda, "get_device_properties", lambda number: SimpleNamespace(uuid=f"{tmp_path.name}-{number}")
        )
        monkeypatch.setattr(torch.cuda, "set_device", lambda card: None)
        monkeypatch.setattr(torch.cuda, "get_arch_list", lambda: built)
        monkeypatch.setattr(torch.version, "cuda", "13.0")
        ones = torch.ones
        used = []

        def made(*sizes, device):
            used.append(device)
            if not works:
                raise RuntimeError("CUDA error: no kernel image is available\nmore")
            return ones(*sizes)

        monkeypatch.setattr(torch, "ones", made)
        return used

    yield see
    gpu._choose_device.cache_clear()
    while gpu._held:
        gpu._held.pop().close()


@pytest.mark.parametrize(
    ("count", "asked", "expected", "tried"),
    [
        (0, "auto", "cpu", 0),
        (0, "0", "cpu", 0),
        (2, "0", "cpu", 0),
        (2, "auto", "cuda:0", 1),
        (1, "1", "cuda:0", 1),
        (2, "2", "cuda:0", 1),
    ],
)
def test_a_job_computes_where_it_is_asked_to(cards, count, asked, expected, tried):
    used = cards(count, asked)
    assert gpu.usable_device() == torch.device(expected)
    assert used == [torch.device("cuda", number) for number in range(tried)]


def test_a_card_that_another_job_computes_on_is_left_to_it(cards, monkeypatch):
    cards(2)
    assert gpu.usable_device() == torch.device("cuda:0")
    gpu._choose_device.cache_clear()  # as another job's process would begin
    assert gpu.usable_device() == torch.device("cuda:1")
    monkeypatch.setenv(JOBS_PER_GPU, "2")
    gpu._choose_device.cache_clear()
    assert gpu.usable_device() == torch.device("cuda:0")


@pytest.mark.parametrize(
    ("runs", "jobs", "expected"),
    [
        (True, 1, ["NVIDIA's MPS daemon runs ({}): jobs on this GPU compute at the same time"]),
        (True, 2, ["NVIDIA's MPS daemon runs ({}): jobs on this GPU compute at the same time"]),
        (False, 2, ["jobs_per_gpu is 2, and no MPS daemon runs ({}): jobs on this GPU take turns"]),
        (False, 1, []),
    ],
)
def test_the_log_says_whether_jobs_share_the_card_through_mps(
    cards, monkeypatch, tmp_path, caplog, runs, jobs, expected
):
    cards(1)
    caplog.set_level("INFO")
    monkeypatch.setenv(JOBS_PER_GPU, str(jobs))
    monkeypatch.setenv("CUDA_MPS_PIPE_DIRECTORY", str(tmp_path))
    with socket.socket(socket.AF_UNIX) as daemon:
        if runs:
            daemon.bind(str(tmp_path / "control"))
        assert gpu.usable_device() == torch.device("cuda:0")
    assert caplog.messages == [line.format(tmp_path) for line in expected]


def test_a_job_that_is_not_asked_takes_what_is_there(cards, monkeypatch):
    cards(1)
    monkeypatch.delenv(GPU)
    assert gpu.usable_device().type == "cuda"


@pytest.mark.parametrize("shown", [None, "3"])
def test_fewer_gpus_than_asked_for_are_an_error(cards, monkeypatch, shown):
    cards(1, "2")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if shown:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", shown)
    with pytest.raises(InputError, match="gpu: 2 requested, but this job sees 1") as error:
        gpu.usable_device()
    assert ("CUDA_VISIBLE_DEVICES is '3'" in str(error.value)) == bool(shown)


@pytest.mark.parametrize("asked", ["auto", "1"])
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"available": False}, r"CUDA does not start: The NVIDIA driver .* CUDA 13\.0\. If the driver is .* newer"),
        ({"capability": (7, 0)}, r"card 0 has the compute capability 7\.0, .* built for sm_75, .* older CUDA"),
        (
            {"works": False},
            r"first computation failed: CUDA error: no kernel image is available\. Driver",
        ),
    ],
)
def test_a_gpu_that_is_visible_but_not_usable_is_an_error(cards, asked, changes, message):
    cards(1, asked, **changes)
    with pytest.raises(InputError, match=message) as error:
        gpu.usable_device()
    assert "gpu=0" in str(error.value)
    cards(1, "0", **changes)
    assert gpu.usable_device().type == "cpu"


@pytest.mark.parametrize(
    ("capability", "built", "runs"),
    [
        ((8, 9), ["sm_86"], True),
        ((8, 0), ["sm_86"], False),
        ((9, 0), ["sm_86"], False),
        ((9, 0), ["compute_86"], True),
        ((7, 5), ["compute_86"], False),
        ((9, 0), ["sm_90a"], True),
        ((12, 1), ["sm_120"], True),
        ((9, 0), ["gfx90a", "sm_9"], False),
    ],
)
def test_machine_code_runs_on_its_own_generation_and_later_code_on_all_that_are_newer(capability, built, runs):
    assert any(gpu._runs(architecture, capability) for architecture in built) == runs


JOB = """
import sys, time
from pathlib import Path
from densevse.runtime import gpu
gpu.WAIT = 0.05
print(gpu.lock_card(["a", "b"], int(sys.argv[2]), Path(sys.argv[1])), flush=True)
time.sleep(60)
"""


@pytest.fixture
def start(tmp_path):
    """A function that starts a job, which prints its card when it has one."""
    jobs = []

    def begin(jobs_per_card=1):
        command = [sys.executable, "-c", JOB, str(tmp_path), str(jobs_per_card)]
        jobs.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
        return jobs[-1]

    yield begin
    for job in jobs:
        job.kill()
        job.wait()


def card_of(job):
    return int(job.stdout.readline())


def test_two_jobs_have_two_cards_and_a_third_has_that_of_one_that_dies(start):
    first, second = start(), start()
    taken = {card_of(first): first, card_of(second): second}
    assert taken.keys() == {0, 1}
    third = start()
    taken[1].send_signal(signal.SIGKILL)
    assert card_of(third) == 1


def test_cards_are_shared_where_that_is_allowed_and_free_ones_come_first(start):
    assert sorted(card_of(start(jobs_per_card=2)) for _ in range(4)) == [0, 0, 1, 1]


def test_waiting_is_said_in_the_log(tmp_path, monkeypatch, caplog):
    assert gpu.lock_card(["only"], 1, tmp_path) == 0
    monkeypatch.setattr(gpu.time, "sleep", lambda seconds: gpu._held.pop().close())
    with caplog.at_level("INFO"):
        assert gpu.lock_card(["only"], 1, tmp_path) == 0
    assert "waiting for a GPU: other jobs use all of only" in caplog.text
    gpu._held.pop().close()


@pytest.mark.parametrize("kind", ["link", "dangling link", "file", "open to all"])
def test_a_folder_of_locks_that_is_not_this_user_s_own_is_refused(kind, tmp_path, monkeypatch):
    monkeypatch.setattr(gpu.tempfile, "gettempdir", lambda: str(tmp_path))
    place = tmp_path / f"densevse-gpus-{os.getuid()}"
    elsewhere = tmp_path / "elsewhere"
    if kind == "link":
        elsewhere.mkdir()
    if kind in ("link", "dangling link"):
        place.symlink_to(elsewhere)
    elif kind == "file":
        place.write_text("")
    else:
        place.mkdir()
        place.chmod(0o777)
    with pytest.raises(InputError, match="expected a folder of this user that nobody else may write to"):
        gpu.lock_card(["only"])
    assert not elsewhere.exists() or not list(elsewhere.iterdir())


def test_a_lock_that_is_a_link_is_not_followed(tmp_path):
    (tmp_path / "only-0.lock").symlink_to(tmp_path / "precious")
    with pytest.raises(OSError, match="symbolic"):
        gpu.lock_card(["only"], 1, tmp_path)
    assert not (tmp_path / "precious").exists()
