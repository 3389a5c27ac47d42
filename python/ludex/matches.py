"""Matches between players, in this process or shared out."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from os import PathLike
from typing import Any, Protocol

from . import _ludex
from ._ludex import Game


class Player(Protocol):
    """A player of your own.

    `choose` gets the name of its role, the true fluents and the legal moves (`None` if the role does not
    see the state), what it saw of the last step, and the seconds left. It returns one of the legal moves.
    A move that is late or illegal is replaced by a random one and counted.
    """

    def choose(
        self,
        role: str,
        fluents: list[str] | None,
        legal_moves: list[str] | None,
        seen: list[str],
        seconds: float,
    ) -> str: ...


@dataclass
class Series:
    """The matches of a series, and its table."""

    matches: list[dict[str, Any]]
    """One record a match: number, seed, roles, players, moves, goals, ending, errors."""
    table: list[dict[str, Any]]
    """One row a player: mean goal with its interval, wins, draws, losses, faults."""
    share: dict[str, Any] | None = field(default=None)
    """For two players, the share of the first with its interval."""


@dataclass(frozen=True)
class SeriesPlan:
    """What a series consists of: whoever plays its match number 7 plays the same match."""

    game: Game
    players: tuple[Any, ...]
    count: int
    start_clock: float
    play_clock: float
    iterations: int | None
    seed: int

    def play(self, number: int) -> str:
        """Plays one match and returns its record as JSON."""
        return _ludex.play_match(
            self.game,
            [player if isinstance(player, str) else _Timed(player) for player in self.players],
            number,
            start_clock=self.start_clock,
            play_clock=self.play_clock,
            iterations=self.iterations,
            seed=self.seed,
        )

    def names(self) -> list[str]:
        """Returns the names of the players."""
        return [_name(player) for player in self.players]

    def series(self, records: Sequence[str]) -> Series:
        """Adds up the records of matches, in whatever order they came."""
        text = _ludex.tally(
            self.game,
            self.names(),
            list(records),
            count=self.count,
            start_clock=self.start_clock,
            play_clock=self.play_clock,
        )
        report = json.loads(text)
        matches = sorted((json.loads(record) for record in records), key=lambda it: int(it["number"]))
        return Series(matches, report["players"], report.get("share"))


class _Timed:
    """Calls a player on a thread that can be left behind when it is late."""

    def __init__(self, player: Player) -> None:
        self.player = player
        self.name = _name(player)
        self.ready = threading.Event()
        self.ready.set()

    def choose(
        self,
        role: str,
        fluents: list[str] | None,
        legal_moves: list[str] | None,
        seen: list[str],
        seconds: float,
    ) -> str:
        end = time.monotonic() + seconds
        # A late call must come back before the next one.
        if not self.ready.wait(seconds):
            raise TimeoutError
        answers: list[str] = []
        errors: list[Exception] = []
        ready = self.ready = threading.Event()

        def call() -> None:
            try:
                answers.append(self.player.choose(role, fluents, legal_moves, seen, end - time.monotonic()))
            except Exception as error:  # noqa: BLE001
                errors.append(error)
            ready.set()

        # The interpreter does not wait for such a thread when it ends.
        threading.Thread(target=call, daemon=True).start()
        if not ready.wait(max(end - time.monotonic(), 0)):
            raise TimeoutError
        if errors:
            raise errors[0]
        return answers[0]


def _name(player: Any) -> str:
    if isinstance(player, str):
        return player
    return str(getattr(player, "name", type(player).__name__))


def play_series(
    rules: Game | str | PathLike[str],
    players: Sequence[str | Player],
    *,
    count: int = 2,
    start_clock: float = 1.0,
    play_clock: float = 1.0,
    iterations: int | None = None,
    seed: int = 0,
    threads: int = 1,
    on_match: Callable[[dict[str, Any]], None] | None = None,
) -> Series:
    """Plays matches; players change seats from one to the next.

    With `iterations` and clocks that are long enough, equal seeds give equal matches.
    """
    game = rules if isinstance(rules, Game) else Game(rules)
    plan = SeriesPlan(game, tuple(players), count, start_clock, play_clock, iterations, seed)
    records: list[str] = []
    with ThreadPoolExecutor(max_workers=max(threads, 1)) as pool:
        for record in pool.map(plan.play, range(count)):
            records.append(record)
            if on_match is not None:
                on_match(json.loads(record))
    return plan.series(records)
