"""The examples of the guide and of the package run."""

import doctest
import re
from pathlib import Path

import ludex
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


def test_the_example_of_the_package_runs():
    assert doctest.testmod(ludex).failed == 0
