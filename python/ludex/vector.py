"""Thousands of games side by side, with actions from outside."""

from __future__ import annotations

from os import PathLike
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._ludex import Game, Lanes


class Step(NamedTuple):
    """What one step of all games says; each array has a row for each game."""

    observations: NDArray[np.uint8]
    """1 for each fluent that is true, in the order of `Game.fluents`."""
    rewards: NDArray[np.float32]
    """By role, the goal divided by 100 where a game has just ended, else 0."""
    terminated: NDArray[np.bool_]
    """Whether the game has just ended; its row shows the next game already."""
    truncated: NDArray[np.bool_]
    """Whether the game was given up because it took too many steps."""
    masks: NDArray[np.bool_]
    """The legal actions of the role that decides."""
    deciders: NDArray[np.uint8]
    """The role that decides: the first with several legal moves, or the first role if none has."""


class VectorEnv:
    """`count` games of one kind side by side; a game that ends begins again at once.

    Actions are numbers of moves in the order of `Game.moves(role)`: one for each game, of the role that
    decides there, or one for each game and role. A negative action is drawn among the legal ones, as are
    the moves of chance and of roles that have only one.

    With `copy=False` the arrays of a step are the same objects every time and the next step overwrites
    them: fast, and right if you are done with them by then.
    """

    def __init__(
        self,
        rules: Game | str | PathLike[str],
        count: int,
        *,
        seed: int = 0,
        threads: int = 0,
        max_steps: int = 0,
        copy: bool = True,
    ) -> None:
        self.game = rules if isinstance(rules, Game) else Game(rules)
        if self.game.has_percepts:
            raise ValueError("roles of this game do not see the state; use ludex.pettingzoo")
        self.count = count
        self.copy = copy
        self.lanes = Lanes(self.game, count, seed=seed, threads=threads, max_steps=max_steps)
        self.n_fluents = self.lanes.observations.shape[1]
        self.n_actions = self.lanes.masks.shape[1]

    def reset(self) -> Step:
        """Begins all games again."""
        self.lanes.reset()
        return self._step()

    def step(self, actions: NDArray[np.integer]) -> Step:
        """Plays a step of every game. Raises `IllegalMoveError` before anything is played."""
        self.lanes.step(np.ascontiguousarray(actions, dtype=np.int32))
        return self._step()

    def sample(self, rng: np.random.Generator) -> NDArray[np.int32]:
        """Draws a legal action for the role that decides in each game."""
        weights = rng.random(self.lanes.masks.shape, dtype=np.float32)
        weights[~self.lanes.masks] = -1.0
        best: NDArray[np.int32] = weights.argmax(axis=1).astype(np.int32)
        return best

    def _step(self) -> Step:
        lanes = self.lanes
        step = Step(
            lanes.observations,
            lanes.rewards,
            lanes.terminated,
            lanes.truncated,
            lanes.masks,
            lanes.deciders,
        )
        if not self.copy:
            return step
        return Step(
            step.observations.copy(),
            step.rewards.copy(),
            step.terminated.copy(),
            step.truncated.copy(),
            step.masks.copy(),
            step.deciders.copy(),
        )
