"""Constraint models from Python expressions: plain, quantified and stochastic.

>>> from ludex.constraints import Model, all_different
>>> model = Model()
>>> x, y, z = model.exists("x y z", range(1, 4))
>>> model.goal(all_different(x, y, z), x + y == 5, x < y)
>>> model.solve().solution
{'x': 2, 'y': 3, 'z': 1}
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from . import _ludex


class Expression:
    """A number or a condition over variables. `==` makes a condition; `is` compares objects."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return f"<{self.text}>"

    def __bool__(self) -> bool:
        raise TypeError("the truth of a condition depends on its variables; use & | ~ and `implies`")

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> Expression:  # type: ignore[override]
        return _pair(self, "=", other)

    def __ne__(self, other: object) -> Expression:  # type: ignore[override]
        return _pair(self, "!=", other)

    def __lt__(self, other: Value) -> Expression:
        return _pair(self, "<", other)

    def __le__(self, other: Value) -> Expression:
        return _pair(self, "<=", other)

    def __gt__(self, other: Value) -> Expression:
        return _pair(self, ">", other)

    def __ge__(self, other: Value) -> Expression:
        return _pair(self, ">=", other)

    def __add__(self, other: Value) -> Expression:
        return _pair(self, "+", other)

    def __radd__(self, other: Value) -> Expression:
        return _pair(other, "+", self)

    def __sub__(self, other: Value) -> Expression:
        return _pair(self, "-", other)

    def __rsub__(self, other: Value) -> Expression:
        return _pair(other, "-", self)

    def __mul__(self, other: Value) -> Expression:
        return _pair(self, "*", other)

    def __rmul__(self, other: Value) -> Expression:
        return _pair(other, "*", self)

    def __neg__(self) -> Expression:
        return Expression(f"(-{self.text})")

    def __abs__(self) -> Expression:
        return Expression(f"abs({self.text})")

    def div(self, other: Value) -> Expression:
        """Divides and truncates towards zero, unlike `//` of Python."""
        return _pair(self, "div", other)

    def mod(self, other: Value) -> Expression:
        """Returns the remainder, with the sign of the dividend, unlike `%` of Python."""
        return _pair(self, "mod", other)

    def __and__(self, other: Value) -> Expression:
        return _pair(self, "/\\", other)

    def __or__(self, other: Value) -> Expression:
        return _pair(self, "\\/", other)

    def __invert__(self) -> Expression:
        return Expression(f"(not {self.text})")

    def implies(self, other: Value) -> Expression:
        """Returns whether the other condition holds wherever this one does."""
        return _pair(self, "->", other)

    def among(self, values: Iterable[int]) -> Expression:
        """Returns whether the number is one of these."""
        return Expression(f"({self.text} in {_domain(values)})")


Value = Expression | int | bool


def _text(value: object) -> str:
    if isinstance(value, Expression):
        return value.text
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value) if value >= 0 else f"({value})"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return f"[{', '.join(_text(it) for it in value)}]"
    raise TypeError(f"{value!r} is not an expression, a whole number, a condition or a list of them")


def _pair(left: object, sign: str, right: object) -> Expression:
    return Expression(f"({_text(left)} {sign} {_text(right)})")


def _domain(values: Iterable[int]) -> str:
    if isinstance(values, range) and values.step == 1 and len(values) > 0:
        return f"{values.start}..{values.stop - 1}"
    numbers = sorted(set(values))
    if not numbers:
        raise ValueError("a variable needs at least one value")
    return "{" + ", ".join(str(number) for number in numbers) + "}"


def function(name: str, *arguments: object) -> Expression:
    """Returns any function or global constraint of the language by its name: see `docs/language.md`."""
    if not name.isidentifier():
        raise ValueError(f"{name!r} is not the name of a function")
    return Expression(f"{name}({', '.join(_text(it) for it in arguments)})")


def all_different(*values: Value) -> Expression:
    """Returns whether no two are equal."""
    return function("all_different", list(values))


def total(values: Iterable[Value]) -> Expression:
    """Returns the sum; of conditions, how many hold."""
    return function("sum", list(values))


def choice(condition: Value, then: Value, otherwise: Value) -> Expression:
    """Returns one number or the other."""
    return Expression(f"(if {_text(condition)} then {_text(then)} else {_text(otherwise)} endif)")


@dataclass(frozen=True)
class Plan:
    """One place of a strategy or a policy: who chooses which variables, and what follows."""

    by: str
    """`exists`, `forall` or `random`; `end`, or `given-up` where a policy stops early."""
    variables: tuple[str, ...]
    nodes: tuple[dict[str, Any], ...] = field(repr=False)
    number: int = field(repr=False)

    @staticmethod
    def at(nodes: tuple[dict[str, Any], ...], number: int) -> Plan:
        """Returns a place of a plan by its number."""
        node = nodes[number]
        return Plan(node["by"], tuple(node["variables"]), nodes, number)

    @property
    def choices(self) -> list[tuple[int, ...]]:
        """The values of the variables that can follow: one choice of the winner, all of the others."""
        return [tuple(values) for values, _ in self.nodes[self.number]["branches"]]

    def after(self, *values: int) -> Plan:
        """Returns the place after a choice."""
        for chosen, number in self.nodes[self.number]["branches"]:
            if tuple(chosen) == values:
                return Plan.at(self.nodes, number)
        raise KeyError(f"{values} is not among the choices of {', '.join(self.variables)}")


@dataclass(frozen=True)
class Answer:
    """What solving a model says."""

    kind: str
    """`plain`, `quantified` or `stochastic`."""
    verdict: str
    """`true`, `false` or `unknown`."""
    value: float | None
    """The optimum, or the satisfaction of a policy."""
    solution: dict[str, int | str] | None
    complete: bool
    nodes: int
    winner: str | None
    """Whose plan it is: `exists` or `forall`."""
    plan: Plan | None
    """A winning strategy, or the policy."""

    def record(self) -> dict[str, Any]:
        """Returns one flat row, as pandas takes them."""
        row = {name: getattr(self, name) for name in ("kind", "verdict", "value", "complete", "nodes")}
        return row | dict(self.solution or {})


def solve(model: str, data: dict[str, Any] | None = None, *, time: float = 3_600.0) -> Answer:
    """Solves a text or a file, as `ludex.solve_model` does, and returns objects."""
    found = _ludex.solve_model(model, data, time=time)
    strategy = None if found["strategy"] is None else json.loads(found["strategy"])
    return Answer(
        found["kind"],
        found["verdict"],
        found["value"],
        found["solution"],
        found["complete"],
        found["nodes"],
        None if strategy is None else strategy["winner"],
        None if strategy is None else Plan.at(tuple(strategy["nodes"]), strategy["root"]),
    )


class Model:
    """A model: scopes in the order of play, each with its variables, and goals."""

    def __init__(self) -> None:
        self._scopes: list[dict[str, Any]] = []
        self._goals: list[str] = []
        self._names: set[str] = set()

    def _scope(self, quantifier: str, names: str, values: Iterable[int]) -> tuple[Expression, ...]:
        words = names.replace(",", " ").split()
        for word in words:
            if not word.isidentifier() or word in self._names:
                raise ValueError(f"{word!r} is not a name, or is used already")
            self._names.add(word)
        if not words:
            raise ValueError("name at least one variable")
        head = f"{quantifier} {', '.join(words)}: {_domain(values)}"
        self._scopes.append({"head": head, "where": [], "clauses": []})
        return tuple(Expression(word) for word in words)

    def exists(self, names: str, values: Iterable[int]) -> tuple[Expression, ...]:
        """Adds a scope of the player who wants the goals; returns its variables."""
        return self._scope("exists", names, values)

    def forall(self, names: str, values: Iterable[int]) -> tuple[Expression, ...]:
        """Adds a scope of the opponent."""
        return self._scope("forall", names, values)

    def random(self, name: str, values: Iterable[int], *, weight: Value | None = None) -> Expression:
        """Adds a variable that is drawn, in proportion to a weight if there is one."""
        (variable,) = self._scope("random", name, values)
        if weight is not None:
            self._scopes[-1]["clauses"].append(f"weight {_text(weight)}")
        return variable

    def where(self, *conditions: Value) -> None:
        """Restricts the choices of the last scope."""
        self._last()["where"].extend(_text(it) for it in conditions)

    def minimize(self, value: Value) -> None:
        """Lets the player of the last scope choose the least value among the ways to win."""
        self._last()["clauses"].append(f"minimize {_text(value)}")

    def maximize(self, value: Value) -> None:
        """Lets the player of the last scope choose the greatest value among the ways to win."""
        self._last()["clauses"].append(f"maximize {_text(value)}")

    def _last(self) -> dict[str, Any]:
        if not self._scopes:
            raise ValueError("the model has no scope yet")
        return self._scopes[-1]

    def goal(self, *conditions: Value, threshold: tuple[int, int] | None = None) -> None:
        """Adds goals; with a threshold, each must hold with a probability of at least `a` of `b`."""
        more = "" if threshold is None else f" threshold {threshold[0]} of {threshold[1]}"
        self._goals.extend(f"goal {_text(it)}{more};" for it in conditions)

    def threshold(self, part: int, of: int) -> None:
        """Says how likely all goals must hold together."""
        self._goals.append(f"threshold {part} of {of};")

    def utility(self, value: Value) -> None:
        """Says what a play is worth in which the goals hold."""
        self._goals.append(f"utility {_text(value)};")

    @property
    def text(self) -> str:
        """The model in the language of `.qcp` files."""
        lines = []
        for scope in self._scopes:
            where = ["where " + " /\\ ".join(scope["where"])] if scope["where"] else []
            lines.append(" ".join([scope["head"], *where, *scope["clauses"]]) + ";")
        return "\n".join([*lines, *self._goals]) + "\n"

    def solve(self, *, time: float = 3_600.0) -> Answer:
        """Solves the model. The solution has the variables that were named, and no auxiliary ones."""
        answer = solve(self.text, time=time)
        if answer.solution is None:
            return answer
        return replace(answer, solution={it: n for it, n in answer.solution.items() if it in self._names})
