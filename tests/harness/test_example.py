"""The example runs as the documentation says."""

import runpy
from pathlib import Path


def test_the_harness_example_prints_its_answer(capsys):
    runpy.run_path(str(Path(__file__).parents[2] / "examples" / "harness.py"), run_name="__main__")
    assert capsys.readouterr().out == "The thermometer says 21 °C in the kitchen.\n"
