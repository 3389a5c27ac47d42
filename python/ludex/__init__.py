"""General game playing: any finite game from its rules.

>>> import ludex
>>> game = ludex.Game("tictactoe")
>>> state = game.initial_state()
>>> state.to_play
['xplayer']
>>> len(state.legal_moves("xplayer"))
9
>>> state = state.play({"xplayer": "(mark 2 2)"})
>>> "(cell 2 2 x)" in state.fluents
True
"""

from __future__ import annotations

import importlib
import json
from typing import TYPE_CHECKING, Any

from ._ludex import (
    Diagnostic,
    Game,
    IllegalMoveError,
    Lanes,
    LimitError,
    LudexError,
    RulesError,
    State,
    Symmetries,
    Symmetry,
    __version__,
    check,
    choose,
    games,
    players,
    solve,
    solve_model,
    symmetries,
)
from .efg import to_efg, write_efg
from .matches import (
    Option,
    Player,
    Rating,
    Series,
    StrengthTest,
    play_series,
    player,
    player_options,
    ratings,
    strength_test,
)

if TYPE_CHECKING:
    from .planes import Planes
    from .raster import rgb_array
    from .vector import Step, VectorEnv

__all__ = [
    "Diagnostic",
    "Game",
    "IllegalMoveError",
    "Lanes",
    "LimitError",
    "LudexError",
    "Option",
    "Planes",
    "Player",
    "Rating",
    "RulesError",
    "Series",
    "State",
    "Step",
    "StrengthTest",
    "Symmetries",
    "Symmetry",
    "VectorEnv",
    "__version__",
    "check",
    "choose",
    "games",
    "play_series",
    "player",
    "player_options",
    "players",
    "ratings",
    "rgb_array",
    "solve",
    "solve_model",
    "strength_test",
    "symmetries",
    "to_efg",
    "trace",
    "write_efg",
]


# What needs NumPy, which takes most of the time of an import, is loaded when it is first used.
_LATER = {"Planes": "planes", "Step": "vector", "VectorEnv": "vector", "rgb_array": "raster"}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'ludex' has no attribute {name!r}")
    return getattr(importlib.import_module(f".{_LATER[name]}", __name__), name)


def trace(game: Game, *, time: float = 60.0) -> dict[str, Any]:
    """Plays the two fixed lines that engines are compared on."""
    lines: dict[str, Any] = json.loads(game.trace_json(time=time))
    return lines


def _load(name: str, rules: str) -> Game:
    """Makes a game again from what was pickled."""
    return Game(rules, name=name)


def _restore(game: Game, fluents: list[str]) -> State:
    """Makes a state again from what was pickled."""
    return game.state(fluents)
