"""Constraint models."""

import ludex
import pytest

def test_a_network_is_solved_with_data():
    answer = ludex.solve_model("exists x: 0..9; exists y: 0..9; goal x + y = 17; goal x < y;")
    assert answer["verdict"] == "true" and answer["complete"]
    assert answer["solution"] == {"x": 8, "y": 9}
    text = "param n: int; exists x: 0..n; goal x * x = n;"
    assert ludex.solve_model(text, {"n": 49})["solution"] == {"x": 7}
    assert ludex.solve_model(text, {"n": 48})["verdict"] == "false"


def test_an_opponent_and_chance():
    text = "exists x: 0..3; forall y: 0..3 where y != x; goal x + y <= {};"
    assert ludex.solve_model(text.format(4))["verdict"] == "true"
    assert ludex.solve_model(text.format(2))["verdict"] == "false"


def test_mistakes_have_places():
    with pytest.raises(ludex.RulesError, match="model:1:"):
        ludex.solve_model("exists x: 0..3; goal z > 1;")
    with pytest.raises(FileNotFoundError):
        ludex.solve_model("no-such-file.qcp")
