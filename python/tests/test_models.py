"""Constraint models."""

import ludex
import pytest
from ludex.constraints import Model, all_different, choice, function, total


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


def test_models_are_written_as_expressions():
    model = Model()
    x, y, z = model.exists("x y z", range(1, 4))
    model.goal(all_different(x, y, z), x + y == 5, (x < y) & ~(z == 2))
    answer = model.solve()
    assert answer.kind == "plain" and answer.solution == {"x": 2, "y": 3, "z": 1}
    assert answer.record()["x"] == 2 and answer.record()["verdict"] == "true"
    best = Model()
    a, b = best.exists("a b", {1, 3, 5, 8})
    best.where(a != b, abs(a - b) >= 4)
    best.maximize(a * 2 - b)
    found = best.solve()
    assert (found.value, found.solution) == (15.0, {"a": 8, "b": 1})
    queens = Model()
    rows = queens.exists(" ".join(f"q{n}" for n in range(8)), range(8))
    for shift in (-1, 0, 1):
        queens.goal(all_different(*[q + shift * n for n, q in enumerate(rows)]))
    placed = list(queens.solve().solution.values())
    assert len({q + n for n, q in enumerate(placed)}) == len({q - n for n, q in enumerate(placed)}) == 8
    with pytest.raises(TypeError, match="depends on its variables"):
        bool(x == y)
    with pytest.raises(ValueError, match="used already"):
        model.exists("x", range(3))
    with pytest.raises(TypeError, match="not an expression"):
        x + 0.5


def test_strategies_and_policies_are_objects():
    model = Model()
    (x,) = model.exists("x", range(4))
    (y,) = model.forall("y", range(4))
    model.where(y != x)
    (z,) = model.exists("z", range(8))
    model.goal(z == x + y, x >= 2)
    answer = model.solve()
    assert answer.kind == "quantified" and answer.verdict == "true" and answer.winner == "exists"
    start = answer.plan
    assert (start.by, start.variables) == ("exists", ("x",))
    (own,) = start.choices
    after = start.after(*own)
    assert after.by == "forall" and len(after.choices) == 3
    for choice in after.choices:
        ((last,),) = after.after(*choice).choices
        assert last == own[0] + choice[0]
    with pytest.raises(KeyError):
        after.after(own[0])
    lost = Model()
    (x,) = lost.exists("x", range(3))
    (y,) = lost.forall("y", range(3))
    lost.goal(x != y)
    assert lost.solve().winner == "forall"
    chance = Model()
    (bid,) = chance.exists("bid", range(1, 4))
    drawn = chance.random("drawn", range(1, 4), weight=1)
    chance.goal(bid >= drawn)
    chance.threshold(1, 2)
    policy = chance.solve()
    assert policy.kind == "stochastic" and policy.verdict == "true"
    assert policy.plan.by == "exists" and policy.plan.after(*policy.plan.choices[0]).by == "random"


def test_functions_and_choices():
    model = Model()
    a, b = model.exists("a b", range(5))
    model.goal(function("max", a, b) == 4, choice(a > b, a, b) == 4, total([a, b]) == 6, a.among([2, 3]))
    model.goal(a.mod(2) == 0, b.div(2) == 2)
    assert model.solve().solution == {"a": 2, "b": 4}
    with pytest.raises(ValueError):
        function("not a name")
