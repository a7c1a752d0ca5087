# SPDX-License-Identifier: Apache-2.0
"""The tutorials run from top to bottom; they assert what they claim."""
import pathlib

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")
notebooks = sorted((pathlib.Path(__file__).parent.parent / "tutorials").glob("*.ipynb"))


def test_there_are_three():
    assert len(notebooks) == 3


@pytest.mark.parametrize("notebook", notebooks, ids=lambda path: path.stem)
def test_runs(notebook, tmp_path):
    cells = nbformat.read(notebook, 4)
    assert not any(cell.get("outputs") for cell in cells.cells), "notebooks are kept without their outputs"
    nbclient.NotebookClient(cells, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert any("image/png" in output.get("data", {}) for cell in cells.cells for output in cell.get("outputs", []))
