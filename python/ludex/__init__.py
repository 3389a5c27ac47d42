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

from ._ludex import (
    Diagnostic,
    Game,
    IllegalMoveError,
    Lanes,
    LimitError,
    LudexError,
    RulesError,
    State,
    __version__,
    check,
    choose,
    games,
    players,
    solve,
    solve_model,
)
from .matches import Player, Series, play_series
from .vector import Step, VectorEnv

__all__ = [
    "Diagnostic",
    "Game",
    "IllegalMoveError",
    "Lanes",
    "LimitError",
    "LudexError",
    "Player",
    "RulesError",
    "Series",
    "State",
    "Step",
    "VectorEnv",
    "__version__",
    "check",
    "choose",
    "games",
    "play_series",
    "players",
    "solve",
    "solve_model",
]


def _load(name: str, rules: str) -> Game:
    """Makes a game again from what was pickled."""
    return Game(rules, name=name)


def _restore(game: Game, fluents: list[str]) -> State:
    """Makes a state again from what was pickled."""
    return game.state(fluents)
