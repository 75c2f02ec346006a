"""Files that come with the project are copied, checked."""

import pytest

from densevse.artifacts.files import checksum
from densevse.datasets.download import unpack
from densevse.runtime.errors import InputError
from tests.projects import ROOT

CLASSES = "config/networks/scenes_net_classes.txt"


def test_a_file_is_copied(tmp_path):
    unpack({"packaged": CLASSES, "sha256": checksum(ROOT / CLASSES)}, tmp_path / "classes.txt")
    assert (tmp_path / "classes.txt").read_bytes() == (ROOT / CLASSES).read_bytes()


@pytest.mark.parametrize(("file", "said"), [(CLASSES, "has the sha256"), ("config/none.txt", "is missing")])
def test_another_file_and_none_are_refused(file, said, tmp_path):
    with pytest.raises(InputError, match=rf"{file} {said}"):
        unpack({"packaged": file, "sha256": "0" * 64}, tmp_path / "classes.txt")
    assert not list(tmp_path.iterdir())
