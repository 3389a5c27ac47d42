"""Matches between players, in this process or shared out."""

from __future__ import annotations

import json
import math
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
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

    def records(self) -> list[dict[str, Any]]:
        """Returns a row for each role of each match, as pandas takes them."""
        return [
            {"match": it["number"], "role": role, "player": player, "goal": goal, "steps": len(it["moves"])}
            | {"ending": it["ending"], "seconds": it["seconds"]}
            for it in self.matches
            for role, player, goal in zip(it["roles"], it["players"], it["goals"])
        ]


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

    def play(self, number: int, stop: _ludex.Stop | None = None) -> str:
        """Plays one match and returns its record as JSON."""
        return _ludex.play_match(
            self.game,
            [player if isinstance(player, str) else _Timed(player) for player in self.players],
            number,
            start_clock=self.start_clock,
            play_clock=self.play_clock,
            iterations=self.iterations,
            seed=self.seed,
            stop=stop,
        )

    def play_all(self, numbers: Sequence[int], threads: int) -> Iterator[str]:
        """Plays matches, several at once, and returns their records in order. Ctrl-C ends them."""
        if threads <= 1:
            yield from map(self.play, numbers)
            return
        stop = _ludex.Stop()
        with ThreadPoolExecutor(max_workers=threads) as pool:
            try:
                yield from pool.map(lambda number: self.play(number, stop), numbers)
            except BaseException:
                stop.set()
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def names(self) -> list[str]:
        """Returns the names of the players."""
        return [_name(player) for player in self.players]

    def match_id(self, number: int) -> str:
        """Returns the name of a match: equal for equal rules, engine, players, clocks, seed and number.

        It is the name that `ludex match` gives to the same match.
        """
        return _ludex.match_id(
            self.game,
            self.names(),
            number,
            start_clock=self.start_clock,
            play_clock=self.play_clock,
            iterations=self.iterations,
            seed=self.seed,
        )

    def series(self, records: Sequence[str], *, test: tuple[float, float] | None = None) -> Series:
        """Adds up the records of matches, in whatever order they came.

        `test` is the margin and the error of a sequential test, whose decision is in `share["stronger"]`.
        """
        text = _ludex.tally(
            self.game,
            self.names(),
            list(records),
            count=self.count,
            start_clock=self.start_clock,
            play_clock=self.play_clock,
            test=test,
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
    for record in plan.play_all(range(count), threads):
        records.append(record)
        if on_match is not None:
            on_match(json.loads(record))
    return plan.series(records)


@dataclass
class StrengthTest:
    """The answer to the question which of two players is stronger."""

    stronger: str | None
    """The stronger player; `None` if the matches were not enough to decide."""
    series: Series


def strength_test(
    rules: Game | str | PathLike[str],
    first: str | Player,
    second: str | Player,
    *,
    margin: float = 0.15,
    error: float = 0.05,
    max_matches: int = 200,
    start_clock: float = 1.0,
    play_clock: float = 1.0,
    iterations: int | None = None,
    seed: int = 0,
    threads: int = 1,
) -> StrengthTest:
    """Plays until a sequential test decides which player is stronger.

    It compares the hypotheses that the share of the first is `0.5 + margin` and that it is `0.5 - margin`, and
    is wrong with a probability of at most `error` if one of them is true.
    """
    game = rules if isinstance(rules, Game) else Game(rules)
    players = (first, second)
    plan = SeriesPlan(game, players, max_matches, start_clock, play_clock, iterations, seed)
    if plan.names()[0] == plan.names()[1]:
        raise ValueError("both players have the same name; give one of yours an attribute `name`")
    records: list[str] = []
    series = plan.series(records, test=(margin, error))
    batch = max(2 * threads, 2)
    for start in range(0, max_matches, batch):
        records.extend(plan.play_all(range(start, min(start + batch, max_matches)), threads))
        series = plan.series(records, test=(margin, error))
        if series.share is not None and series.share["stronger"] is not None:
            return StrengthTest(series.share["stronger"], series)
    return StrengthTest(None, series)


@dataclass(frozen=True)
class Rating:
    """How strong a player is, on the scale of Elo; the mean of all players is 0."""

    player: str
    elo: float
    error: float
    """Half the width of a 95 % interval, as if the strength of the others were known."""
    exchanges: int


def ratings(series: Iterable[Series], *, prior: float = 1.0) -> list[Rating]:
    """Rates players by series between two of them each, the strongest first.

    The model is that of Bradley and Terry; an exchange of seats counts as one result, between 0 and 1. `prior`
    draws between each pair that met keep a player who won everything finite.
    """
    scores: dict[tuple[str, str], float] = {}
    counts: dict[str, int] = {}
    for one in series:
        if one.share is None:
            raise ValueError("ratings need series between two players")
        names = [str(row["name"]) for row in one.table]
        pair = (names[0], names[1])
        results = [0.5 + (a - b) / 200 for a, b in one.share["goals"]]
        for winner, loser, score in [
            (*pair, sum(results)),
            (pair[1], pair[0], len(results) - sum(results)),
        ]:
            scores[winner, loser] = scores.get((winner, loser), 0.0) + score
            counts[winner] = counts.get(winner, 0) + len(results)
    scores = {pair: score + prior / 2 for pair, score in scores.items()}
    strength = dict.fromkeys(counts, 1.0)
    for _ in range(10_000):
        # Minorization and maximization: each step makes the results more likely.
        before = dict(strength)
        for player in strength:
            won = sum(score for (winner, _), score in scores.items() if winner == player)
            met = sum(
                (scores[player, other] + scores[other, player]) / (strength[player] + strength[other])
                for other in strength
                if (player, other) in scores
            )
            strength[player] = won / met
        scale = math.exp(sum(math.log(it) for it in strength.values()) / len(strength))
        strength = {player: it / scale for player, it in strength.items()}
        if all(abs(math.log(strength[it] / before[it])) < 1e-10 for it in strength):
            break
    rated = []
    for player, own in strength.items():
        information = sum(
            (scores[player, other] + scores[other, player]) * own * it / (own + it) ** 2
            for other, it in strength.items()
            if (player, other) in scores
        )
        unit = 400 / math.log(10)
        rated.append(Rating(player, unit * math.log(own), 1.96 * unit / math.sqrt(information), counts[player]))
    return sorted(rated, key=lambda it: -it.elo)


def player(name: str, **options: bool | int | float | str) -> str:
    """Returns the description of a player with options, checked: `player("uct", c=0.7)`.

    `player_options` lists the options of a player.
    """
    words = {True: "yes", False: "no"}
    texts = [f"{key}={words[it] if isinstance(it, bool) else it}" for key, it in options.items()]
    described = ":".join([name, ",".join(texts)]) if texts else name
    _ludex.parse_player(described)
    return described


@dataclass(frozen=True)
class Option:
    """An option of a player."""

    name: str
    default: bool | int | float | str
    about: str


def player_options(name: str) -> list[Option]:
    """Returns the options of a player, with defaults of their types."""
    return [Option(key, _typed(text), about) for key, text, about in _ludex.player_options(name)]


def _typed(text: str) -> bool | int | float | str:
    if text in ("yes", "no"):
        return text == "yes"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
