"""The folders of results and downloads are separate folders, and hold no file of the project."""

from pathlib import Path

import pytest

from densevse.dag.project import Project
from densevse.runtime.errors import InputError

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("key", ["results", "resources"])
@pytest.mark.parametrize(
    ("folder", "message"),
    [
        (".", "holds files of the project; name a separate folder"),
        ("config", "holds files of the project"),
        ("densevse/mine", "holds files of the project"),
        ("Snakefile", "Snakefile is a file; name a folder"),
    ],
)
def test_a_folder_that_cannot_be_is_refused_by_its_key(monkeypatch, key, folder, message):
    monkeypatch.chdir(ROOT)
    with pytest.raises(InputError, match=rf"^{key}: .*{message}"):
        Project(ROOT, {key: folder})


def test_results_and_downloads_share_no_folder():
    with pytest.raises(InputError, match=r"^results: 'resources' is also the folder of resources"):
        Project(ROOT, {"results": "resources"})
