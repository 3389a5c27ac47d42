"""Matches on many machines, by Ray.

A series is a list of match numbers. Each is played by a task anywhere in the cluster, from the same game,
players, clocks and seed, so that it does not matter who plays it: the table is the same whatever the
number of workers. Records are appended to a file as they come. A worker that dies loses the match that it
was playing; Ray plays it again elsewhere.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import ray

from ._ludex import Game
from .matches import Series, SeriesPlan


def match_id(plan: SeriesPlan, number: int) -> str:
    """Returns a name of one match: equal for equal rules, players, clocks, seed and number."""
    settings = [
        plan.game.rules,
        plan.names(),
        plan.start_clock,
        plan.play_clock,
        plan.iterations,
        plan.seed,
        number,
    ]
    return hashlib.sha256(json.dumps(settings).encode()).hexdigest()[:32]


def _play(plan: SeriesPlan, number: int) -> tuple[str, str]:
    return match_id(plan, number), plan.play(number)


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
    """Plays a series in the cluster that `ray.init` has connected to, or in a local one.

    With `file`, the matches in it are not played again, so that an interrupted series goes on.
    """
    game = rules if isinstance(rules, Game) else Game(rules)
    plan = SeriesPlan(game, tuple(players), count, start_clock, play_clock, iterations, seed)
    if not ray.is_initialized():
        ray.init()
    wanted = {match_id(plan, number): number for number in range(count)}
    records: dict[str, str] = {}
    path = Path(file) if file is not None else None
    if path is not None and path.exists():
        records = {key: record for key, record in _read(path) if key in wanted}
    missing = [number for key, number in wanted.items() if key not in records]
    task = ray.remote(_play).options(num_cpus=cpus_per_match, max_retries=-1)
    shared = ray.put(plan)
    pending = [task.remote(shared, number) for number in missing]
    while pending:
        ready, pending = ray.wait(pending)
        for key, record in ray.get(ready):
            records[key] = record
            if path is not None:
                _append(path, key, record)
            if on_match is not None:
                on_match(json.loads(record))
    return plan.series(list(records.values()))


def _append(path: Path, key: str, record: str) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"id": key, "match": record}) + "\n")
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
