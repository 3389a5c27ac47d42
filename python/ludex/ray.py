"""Work on many machines, by Ray.

A series is a list of match numbers. Each is played by a task anywhere in the cluster, from the same game,
players, clocks and seed, so that it does not matter who plays it: the table is the same whatever the
number of workers. Records are appended to a file as they come. A worker that dies loses the match that it
was playing; Ray plays it again elsewhere.

All functions use the cluster that `ray.init` has connected to, any address, or else a local one.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import ray
from numpy.typing import NDArray

from . import _ludex
from ._ludex import Game, State
from .matches import Series, SeriesPlan, StrengthTest


def _play(plan: SeriesPlan, number: int) -> tuple[str, str]:
    return plan.match_id(number), plan.play(number)


def _connect() -> None:
    if not ray.is_initialized():
        ray.init()


def _task(function: Callable[..., Any], cpus: float) -> Any:
    """Makes a task that is done again, anywhere, if its worker dies."""
    return ray.remote(function).options(num_cpus=cpus, max_retries=-1)


def play_series(
    rules: Game | str | PathLike[str],
    players: Sequence[Any],
    *,
    count: int,
    start_clock: float = 1.0,
    play_clock: float = 1.0,
    iterations: int | None = None,
    seed: int = 0,
    file: str | PathLike[str] | None = None,
    cpus_per_match: float = 1.0,
    on_match: Callable[[dict[str, Any]], None] | None = None,
) -> Series:
    """Plays a series in the cluster.

    With `file`, the matches in it are not played again, so that an interrupted series goes on.
    """
    game = rules if isinstance(rules, Game) else Game(rules)
    plan = SeriesPlan(game, tuple(players), count, start_clock, play_clock, iterations, seed)
    records = dict(_matches(plan, range(count), file, cpus_per_match, on_match))
    return plan.series(list(records.values()))


def _matches(
    plan: SeriesPlan,
    numbers: Sequence[int],
    file: str | PathLike[str] | None,
    cpus: float,
    on_match: Callable[[dict[str, Any]], None] | None,
) -> Iterator[tuple[str, str]]:
    """Plays the matches that the file does not have, and returns all of them as they come."""
    _connect()
    wanted = {plan.match_id(number): number for number in numbers}
    path = Path(file) if file is not None else None
    known: set[str] = set()
    if path is not None and path.exists():
        for key, record in _read(path):
            if key in wanted and key not in known:
                known.add(key)
                yield key, record
    task, shared = _task(_play, cpus), ray.put(plan)
    pending = [task.remote(shared, number) for key, number in wanted.items() if key not in known]
    while pending:
        ready, pending = ray.wait(pending)
        for key, record in ray.get(ready):
            if path is not None:
                _append(path, key, record)
            if on_match is not None:
                on_match(json.loads(record))
            yield key, record


def strength_test(
    rules: Game | str | PathLike[str],
    first: Any,
    second: Any,
    *,
    margin: float = 0.15,
    error: float = 0.05,
    max_matches: int = 200,
    batch: int = 16,
    start_clock: float = 1.0,
    play_clock: float = 1.0,
    iterations: int | None = None,
    seed: int = 0,
    file: str | PathLike[str] | None = None,
    cpus_per_match: float = 1.0,
) -> StrengthTest:
    """Plays batches of matches until a sequential test decides which player is stronger."""
    game = rules if isinstance(rules, Game) else Game(rules)
    plan = SeriesPlan(game, (first, second), max_matches, start_clock, play_clock, iterations, seed)
    records: dict[str, str] = {}
    series = plan.series([], test=(margin, error))
    for start in range(0, max_matches, batch):
        numbers = range(start, min(start + batch, max_matches))
        records |= dict(_matches(plan, numbers, file, cpus_per_match, None))
        series = plan.series(list(records.values()), test=(margin, error))
        if series.share is not None and series.share["stronger"] is not None:
            return StrengthTest(series.share["stronger"], series)
    return StrengthTest(None, series)


@dataclass(frozen=True)
class Tournament:
    """The series of all pairs of players."""

    series: dict[tuple[str, str], Series]

    @property
    def table(self) -> list[dict[str, Any]]:
        """A row for each pair: both names, the share of the first with its interval, and its matches."""
        rows = []
        for (first, second), one in self.series.items():
            share = one.share or {}
            rows.append(
                {"first": first, "second": second, "matches": len(one.matches)}
                | {"percent": share.get("percent"), "ci95": share.get("ci95")}
            )
        return rows


def play_tournament(
    rules: Game | str | PathLike[str],
    players: Sequence[str],
    *,
    count: int,
    file: str | PathLike[str] | None = None,
    cpus_per_match: float = 1.0,
    start_clock: float = 1.0,
    play_clock: float = 1.0,
    iterations: int | None = None,
    seed: int = 0,
) -> Tournament:
    """Lets each player meet each other one in `count` matches, all in one pool of tasks."""
    _connect()
    game = rules if isinstance(rules, Game) else Game(rules)
    pairs = [(a, b) for idx, a in enumerate(players) for b in players[idx + 1 :]]
    plans = [SeriesPlan(game, pair, count, start_clock, play_clock, iterations, seed) for pair in pairs]
    records: list[dict[str, str]] = [{} for _ in plans]
    known: dict[str, str] = {}
    path = Path(file) if file is not None else None
    if path is not None and path.exists():
        known = dict(_read(path))
    task, pending = _task(_play, cpus_per_match), {}
    for place, plan in enumerate(plans):
        shared = ray.put(plan)
        for number in range(count):
            key = plan.match_id(number)
            if key in known:
                records[place][key] = known[key]
            else:
                pending[task.remote(shared, number)] = place
    while pending:
        ready, _ = ray.wait(list(pending))
        for one in ready:
            key, record = ray.get(one)
            records[pending.pop(one)][key] = record
            if path is not None:
                _append(path, key, record)
    return Tournament(
        {pair: plan.series(list(own.values())) for pair, plan, own in zip(pairs, plans, records)}
    )


def _search(state: State, role: str, player: str, options: dict[str, Any]) -> dict[str, Any]:
    return _ludex.choose(state, role, player, **options)


def choose(
    state: State,
    role: str,
    player: str = "uct",
    *,
    workers: int,
    time: float | None = None,
    iterations: int | None = None,
    seed: int = 0,
    cpus_per_search: float = 1.0,
) -> dict[str, Any]:
    """Searches one move by several trees at once, and adds up the visits of their roots.

    The move with the most visits is chosen. A tree that proves a move decides at once what is chosen. With
    `iterations` and without `time`, the answer depends on `seed` and `workers` alone.
    """
    _connect()
    task, shared = _task(_search, cpus_per_search), ray.put(state)
    options = [{"time": time, "iterations": iterations, "seed": seed + idx} for idx in range(workers)]
    found = ray.get([task.remote(shared, role, player, it) for it in options])
    visits: dict[str, int] = {}
    sums: dict[str, float] = {}
    for report in found:
        for move, value, n_visits in report["moves"]:
            visits[move] = visits.get(move, 0) + n_visits
            sums[move] = sums.get(move, 0.0) + (value or 0.0) * n_visits
    proved = [report for report in found if report["proved"]]
    best = proved[0]["move"] if proved else max(visits, key=lambda it: (visits[it], it))
    moves = [(move, sums[move] / n if n else None, n) for move, n in visits.items()]
    return {
        "move": best,
        "proved": bool(proved),
        "iterations": sum(report["iterations"] for report in found),
        "playouts": sum(report["playouts"] for report in found),
        "moves": sorted(moves, key=lambda it: -it[2]),
    }


def _solve(state: State, options: dict[str, Any]) -> dict[str, Any]:
    return _ludex.solve(state, **options)


def solve(
    states: Sequence[State] | State,
    *,
    portfolio: Sequence[dict[str, Any]] = ({"shortest": False}, {"shortest": True}),
    time: float = 60.0,
    cpus_per_solve: float = 1.0,
) -> list[dict[str, Any]]:
    """Solves states exactly, each by all settings of a portfolio; the first that solves one ends the others.

    Where none does, the bounds of all of them are joined.
    """
    _connect()
    many = [states] if isinstance(states, State) else list(states)
    task, pending = _task(_solve, cpus_per_solve), {}
    answers: list[dict[str, Any] | None] = [None] * len(many)
    for place, state in enumerate(many):
        shared = ray.put(state)
        for options in portfolio:
            pending[task.remote(shared, {"time": time, **options})] = place
    while pending:
        ready, _ = ray.wait(list(pending))
        for one in ready:
            place = pending.pop(one)
            answers[place] = _better(answers[place], ray.get(one))
            if answers[place] is not None and answers[place]["solved"]:  # type: ignore[index]
                for other in [it for it, at in pending.items() if at == place]:
                    ray.cancel(other, force=True)
                    del pending[other]
    return [answer for answer in answers if answer is not None]


def _better(one: dict[str, Any] | None, other: dict[str, Any]) -> dict[str, Any]:
    if one is None or other["solved"]:
        return other
    if one["solved"]:
        return one
    bounds = {
        role: (max(low, other["bounds"][role][0]), min(high, other["bounds"][role][1]))
        for role, (low, high) in one["bounds"].items()
    }
    values = {role: low if low == high else None for role, (low, high) in bounds.items()}
    return one | {"bounds": bounds, "values": values, "solved": None not in values.values()}


@dataclass(frozen=True)
class Examples:
    """What self-play teaches: a row for each state in which a role chose."""

    observations: NDArray[np.uint8]
    roles: NDArray[np.uint8]
    """The number of the role that chose."""
    visits: NDArray[np.float32]
    """The share of the visits of each action of that role."""
    goals: NDArray[np.float32]
    """The goal that the role reached, between 0 and 1."""


class SelfPlayer:
    """Plays games against itself by a search; one actor a process, with the game loaded once."""

    def __init__(self, game: Game, player: str, iterations: int) -> None:
        self.game, self.player, self.iterations = game, player, iterations
        self.numbers = {role: {it: n for n, it in enumerate(game.moves(role))} for role in game.roles}
        self.width = max(len(it) for it in self.numbers.values())

    def play(self, seed: int, max_steps: int) -> Examples:
        """Plays one game; moves are drawn in proportion to visits."""
        rng = np.random.default_rng(seed)
        state = self.game.initial_state()
        seen, roles, shares = [], [], []
        for _ in range(max_steps):
            if state.is_terminal:
                break
            joint: dict[str, str | int] = {}
            for number, role in enumerate(self.game.roles):
                legal = state.legal_moves(role)
                if len(legal) == 1:
                    continue
                if role in self.game.random_roles:
                    joint[role] = legal[int(rng.integers(len(legal)))]
                    continue
                part = int(rng.integers(2**62))
                found = _ludex.choose(state, role, self.player, iterations=self.iterations, seed=part)
                visits = np.zeros(self.width, dtype=np.float32)
                for move, _, n_visits in found["moves"]:
                    visits[self.numbers[role][move]] = n_visits
                if visits.sum() == 0:
                    visits[self.numbers[role][found["move"]]] = 1
                visits /= visits.sum()
                chosen = rng.choice(self.width, p=visits.astype(np.float64) / visits.sum(dtype=np.float64))
                joint[role] = int(chosen)
                seen.append(state.observation())
                roles.append(number)
                shares.append(visits)
            state = state.play(joint)
        goals = state.goals if state.is_terminal else {}
        reached = [(goals.get(self.game.roles[number]) or 0) / 100 for number in roles]
        n_fluents = len(self.game.fluents)
        return Examples(
            np.array(seen, dtype=np.uint8).reshape(-1, n_fluents),
            np.array(roles, dtype=np.uint8),
            np.array(shares, dtype=np.float32).reshape(-1, self.width),
            np.array(reached, dtype=np.float32),
        )


def self_play(
    rules: Game | str | PathLike[str],
    *,
    games: int,
    workers: int,
    player: str = "uct",
    iterations: int = 100,
    seed: int = 0,
    max_steps: int = 1_000,
    cpus_per_worker: float = 1.0,
) -> Examples:
    """Plays games on several actors; the examples do not depend on the number of workers."""
    _connect()
    game = rules if isinstance(rules, Game) else Game(rules)
    if game.has_percepts:
        raise ValueError("roles of this game do not see the state; let players play a match")
    # An actor that dies is made again, and what it was doing is done again.
    made: Any = ray.remote(SelfPlayer)
    remote = made.options(num_cpus=cpus_per_worker, max_restarts=-1, max_task_retries=-1)
    actors: list[Any] = [remote.remote(game, player, iterations) for _ in range(min(workers, games))]
    calls = [actors[idx % len(actors)].play.remote(seed + idx, max_steps) for idx in range(games)]
    parts: list[Examples] = ray.get(calls)
    return Examples(
        np.concatenate([it.observations for it in parts]),
        np.concatenate([it.roles for it in parts]),
        np.concatenate([it.visits for it in parts]),
        np.concatenate([it.goals for it in parts]),
    )


def _append(path: Path, key: str, record: str) -> None:
    with path.open("a+b") as file:
        # A process that was killed may have left half a line.
        size = file.seek(0, os.SEEK_END)
        file.seek(max(size - 1, 0))
        end = b"" if file.read(1) in (b"", b"\n") else b"\n"
        file.write(end + json.dumps({"id": key, "match": record}).encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())


def _read(path: Path) -> Iterator[tuple[str, str]]:
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            entry = json.loads(line)
        except json.JSONDecodeError:
            # The last line of a process that was killed.
            continue
        yield entry["id"], entry["match"]
