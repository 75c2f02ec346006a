"""The tutorials run as they are, one after the other, in an empty folder; the one that adds a method in a checkout.

`make environment` makes the project known to an environment; the same is done here, in one of the test's own.

A block whose first line is a comment with a file's name is written to that file. A block of bash is run. A block of
text shows lines of what the block of bash before it prints; numbers may differ.
"""

import os
import re
import shutil
import subprocess
import sys
import sysconfig

import numpy as np
import pytest
import torch
import torchvision
from PIL import Image
from safetensors.torch import save_file

from tests.projects import ROOT, copy_code

FOLDER = ROOT / "docs/tutorials"
PAGES = re.findall(r"^tutorials/(\w+)$", (ROOT / "docs/index.md").read_text(encoding="utf-8"), re.MULTILINE)
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"# (\S+\.\w+)\n")
NAMED = re.compile(r"`((?:benchmarks|config|densevse|tests)/[\w/]+\.\w+)`")
NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")


IN_CHECKOUT = "add_a_method"
"""The tutorial that edits the project; it takes `small.yaml` of another one."""
OF_PHOTOGRAPHS = "photographs"
"""The tutorial whose photographs and sentences are the reader's own."""


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """A copy of the project with what a tutorial's own test compares with."""
    copy = copy_code(tmp_path_factory.mktemp("checkout"))
    shutil.copytree(ROOT / "tests/kernels", copy / "tests/kernels", ignore=shutil.ignore_patterns("test_*"))
    shutil.copy2(ROOT / "tests/__init__.py", copy / "tests")
    return copy


@pytest.fixture(scope="module")
def shell(checkout, tmp_path_factory):
    """The variables of a shell after `source .venv/bin/activate`, where only that environment knows the project."""
    environment = tmp_path_factory.mktemp("environment") / ".venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    packages = next(environment.glob("lib/python*/site-packages"))
    (packages / "a_packages.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    subprocess.run([environment / "bin/python", checkout / "envs/command.py"], check=True)
    kept = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    return kept | {"PATH": os.pathsep.join([str(environment / "bin"), os.environ["PATH"]])}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The folder in which a user works."""
    return tmp_path_factory.mktemp("work")


@pytest.fixture(scope="module")
def album(checkout, tmp_path_factory):
    """A folder of photographs with sentences; random weights stand where the networks of the project are downloaded."""
    open_clip = pytest.importorskip("open_clip", reason="the extra `networks` is not installed")
    folder = tmp_path_factory.mktemp("album")
    save_file(open_clip.create_model("ViT-B-32").state_dict(), folder / "clip.safetensors")
    torch.save(torchvision.models.mobilenet_v2().state_dict(), folder / "mobilenet.pth")
    for network, file in {"clip_vit_b_32": "clip.safetensors", "mobilenet_v2": "mobilenet.pth"}.items():
        with (checkout / f"config/networks/{network}.yaml").open("a") as entry:
            entry.write(f"local: {folder / file}\n")
    write_photographs(folder)
    return folder


def write_photographs(folder):
    """40 photographs, and a table of two sentences for each."""
    random = np.random.default_rng(0)
    lines = ["filename,caption,split"]
    (folder / "photographs").mkdir()
    for number in range(40):
        name, split = f"IMG_{number:04}.jpg", {7: "val", 8: "test", 9: "test"}.get(number % 10, "train")
        Image.fromarray(random.integers(0, 256, (48, 64, 3), dtype=np.uint8)).save(folder / "photographs" / name)
        lines += [f"{name},a dog runs on beach {number},{split}", f"{name},{number} children play,{split}"]
    (folder / "captions.csv").write_text("\n".join(lines))


def shape(line):
    """A line without the values of its numbers and the widths of its columns."""
    return " ".join(NUMBER.sub("0", line).split())


def printed(command, folder, shell):
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command],
        cwd=folder,
        env=shell,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout[-6000:]}"
    return done.stdout


@pytest.mark.long
@pytest.mark.parametrize("page", PAGES)
def test_a_tutorial_runs_as_it_stands(page, folder, checkout, shell, request):
    if page == IN_CHECKOUT:
        shutil.copy2(folder / "small.yaml", checkout)
        folder = checkout
    if page == OF_PHOTOGRAPHS:
        folder = request.getfixturevalue("album")
    output = ""
    for language, text in BLOCK.findall((FOLDER / f"{page}.md").read_text(encoding="utf-8")):
        if language == "bash":
            output = printed(text, folder, shell)
        elif language == "text":
            missing = {shape(line) for line in text.splitlines()} - {shape(line) for line in output.splitlines()}
            assert not missing, output[-6000:]
        else:
            (folder / FILE.match(text)[1]).write_text(text)


def test_every_block_of_a_tutorial_has_a_use_and_files_that_it_names_exist_or_are_written():
    """tests/test_docs.py checks that each tutorial is a page of the site."""
    for page in PAGES:
        text = (FOLDER / f"{page}.md").read_text(encoding="utf-8")
        blocks = BLOCK.findall(text)
        assert any(language == "bash" for language, _ in blocks)
        assert not [text for language, text in blocks if language not in ("bash", "text") and not FILE.match(text)]
        written = {file[1] for _, block in blocks if (file := FILE.match(block))}
        assert not [name for name in NAMED.findall(text) if name not in written and not (ROOT / name).is_file()]
