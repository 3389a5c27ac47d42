"""The examples of the guide and of the package run."""

import ast
import doctest
import json
import re
from pathlib import Path

import ludex
import ludex.constraints
import pytest

GUIDE = Path(__file__).parents[2] / "docs" / "python.md"


def test_the_guide_runs():
    if not GUIDE.exists():
        pytest.skip("the guide is not beside the package")
    blocks = re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) >= 4
    # The blocks follow each other; clocks are shortened.
    code = "\n".join(blocks).replace("time=0.5", "time=0.05").replace("play_clock=0.1", "play_clock=0.01")
    exec(compile(code, str(GUIDE), "exec"), {})


def test_the_notebook_runs():
    file = GUIDE.with_name("python.ipynb")
    if not file.exists():
        pytest.skip("the notebook is not beside the package")
    notebook = json.loads(file.read_text(encoding="utf-8"))
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert len(cells) >= 8 and all(not cell["outputs"] for cell in cells)
    names, shown = {}, []
    for cell in cells:
        # As in a notebook, the value of a last expression is shown.
        tree = ast.parse("".join(cell["source"]))
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, str(file), "exec"), names)
        if last is not None:
            shown.append(eval(compile(ast.Expression(last.value), str(file), "eval"), names))
    assert shown[0]._repr_svg_().startswith("<svg")
    assert {"xplayer": 50, "oplayer": 50} in shown and [["go"]] * 3 in shown


@pytest.mark.parametrize("module", [ludex, ludex.constraints])
def test_the_examples_of_the_package_run(module):
    results = doctest.testmod(module)
    assert results.attempted > 0 and results.failed == 0
