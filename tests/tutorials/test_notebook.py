"""The notebook runs from its first cell to its last on the results of scenes."""

import base64
import io

import nbformat
import pytest
from PIL import Image

from tests.projects import ROOT

NOTEBOOK = ROOT / "docs/tutorials/quickstart.ipynb"
MISSING = "`make developing` installs what runs notebooks"


def executed(nbclient, folder):
    """The notebook after a run in `folder`."""
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    return nbclient.NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(folder)}}).execute()


def results_of(notebook):
    """The last value of each cell that shows one."""
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    return [output["data"] for output in outputs if output["output_type"] == "execute_result"]


def test_the_notebook_is_kept_without_results():
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(notebook)
    cells = [cell for cell in notebook.cells if cell["cell_type"] == "code"]
    assert not any(cell["outputs"] or cell["execution_count"] for cell in cells)


@pytest.mark.long
def test_the_notebook_runs_as_it_stands(request, monkeypatch):
    nbclient = pytest.importorskip("nbclient", reason=MISSING)
    finished_rounds = request.getfixturevalue("finished_rounds")  # after the skip, as it takes minutes
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    matrix, table, answers, found, phrases, drawn = results_of(executed(nbclient, finished_rounds.folder))
    assert "'i2t_r1': 50.0" in matrix["text/plain"]
    assert "HM-LSTM" in table["text/plain"]
    assert "answer" in answers["text/plain"]
    assert "confidence" in phrases["text/plain"]
    sizes = [Image.open(io.BytesIO(base64.b64decode(one["image/png"]))).size for one in (found, drawn)]
    assert sizes[1][0] > sizes[0][0]
