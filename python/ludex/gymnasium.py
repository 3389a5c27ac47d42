"""Any game with one role, or one role of any game against given players, for Gymnasium."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from ._ludex import Game, State, choose
from .planes import Planes
from .raster import rgb_array

Opponent = Callable[[State, str], str]
"""A function from a state and a role to one of the role's legal moves."""


class Env(gymnasium.Env[NDArray[np.int8], np.int64]):
    """One role of a game.

    Observations have a 1 for each fluent that is true, or, where the state is hidden, for each percept of
    the last step. Actions are numbers of moves in the order of `Game.moves(role)`; `info["action_mask"]`
    says which are legal. The reward is the goal divided by 100, when the game ends. An illegal action ends
    the game with the reward -1.

    `opponents` plays the other roles: `"random"`, the name of a player such as `"uct"` (which gets
    `iterations` a move), or a function from a state and a role to a move.

    With `observations="planes"`, an observation has a plane for each kind of content of the board that the
    rules describe, named by `planes.names`.
    """

    metadata = {"render_modes": ["ansi", "svg", "rgb_array"], "render_fps": 4}

    def __init__(
        self,
        rules: Game | str | PathLike[str],
        *,
        role: str | int | None = None,
        opponents: str | Opponent = "random",
        iterations: int = 100,
        max_steps: int = 1_000,
        render_mode: str | None = None,
        observations: str = "bits",
    ) -> None:
        self.game = rules if isinstance(rules, Game) else Game(rules)
        players = [name for name in self.game.roles if name not in self.game.random_roles]
        if role is None:
            if len(players) != 1:
                raise ValueError(f"choose a role: {', '.join(players)}")
            role = players[0]
        self.role = role if isinstance(role, str) else self.game.roles[role]
        if self.role not in players:
            raise ValueError(f"{self.role!r} is not a role of a player: {', '.join(players)}")
        self.opponents = opponents
        self.iterations = iterations
        self.max_steps = max_steps
        self.render_mode = render_mode
        self.is_hidden = self.game.has_percepts
        if self.is_hidden and isinstance(opponents, str) and opponents != "random":
            raise ValueError("players by name need to see the state; use 'random' or a function")
        seen = self.game.percepts(self.role) if self.is_hidden else self.game.fluents
        self.width = max(len(seen), 1)
        self.planes = make_planes(self.game, observations)
        self.observation_space = gymnasium.spaces.MultiBinary(self.planes.shape if self.planes else self.width)
        self.moves = self.game.moves(self.role)
        self.action_space = gymnasium.spaces.Discrete(max(len(self.moves), 1))
        self.state = self.game.initial_state()
        self.n_steps = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.int8], dict[str, Any]]:
        super().reset(seed=seed)
        self.state = self.game.initial_state()
        self.n_steps = 0
        self._advance()
        return self._observation(), self._info()

    def step(
        self, action: np.int64
    ) -> tuple[NDArray[np.int8], float, bool, bool, dict[str, Any]]:
        if self.state.is_terminal:
            return self._observation(), 0.0, True, False, self._info()
        if int(action) not in self.state.legal_actions(self.role):
            info = self._info() | {"illegal_action": int(action)}
            return self._observation(), -1.0, True, False, info
        self._play(self.moves[int(action)])
        self._advance()
        is_over = self.state.is_terminal
        reward = (self.state.goals[self.role] or 0) / 100 if is_over else 0.0
        is_too_long = not is_over and self.n_steps >= self.max_steps
        return self._observation(), reward, is_over, is_too_long, self._info()

    def render(self) -> str | NDArray[np.uint8] | None:
        return draw(self.state, self.render_mode)

    def action_masks(self) -> NDArray[np.bool_]:
        """Returns which actions are legal."""
        mask = np.zeros(max(len(self.moves), 1), dtype=np.bool_)
        if not self.state.is_terminal:
            mask[self.state.legal_actions(self.role)] = True
        return mask

    def _advance(self) -> None:
        """Plays on while the role has only one move, so that every action is a choice."""
        while not self.state.is_terminal and self.n_steps < self.max_steps:
            moves = self.state.legal_moves(self.role)
            if len(moves) != 1:
                break
            if self.is_hidden and self.state.percepts(self.role):
                break
            self._play(moves[0])

    def _play(self, own: str) -> None:
        joint: dict[str, str | int] = {self.role: own}
        for role in self.game.roles:
            if role != self.role:
                joint[role] = self._answer(role)
        self.state = self.state.play(joint)
        self.n_steps += 1

    def _answer(self, role: str) -> str:
        moves = self.state.legal_moves(role)
        if len(moves) == 1:
            return moves[0]
        if role in self.game.random_roles or self.opponents == "random":
            return moves[int(self.np_random.integers(len(moves)))]
        if callable(self.opponents):
            return self.opponents(self.state, role)
        seed = int(self.np_random.integers(2**63))
        found = choose(self.state, role, self.opponents, iterations=self.iterations, seed=seed)
        return str(found["move"])

    def _observation(self) -> NDArray[np.int8]:
        if self.planes is not None:
            return self.planes.of(self.state).astype(np.int8)
        seen = self.state.percept_observation(self.role) if self.is_hidden else self.state.observation()
        bits = np.zeros(self.width, dtype=np.int8)
        bits[: len(seen)] = seen
        return bits

    def _info(self) -> dict[str, Any]:
        return {"action_mask": self.action_masks().astype(np.int8), "steps": self.n_steps}


def make_planes(game: Game, observations: str) -> Planes | None:
    """Returns the planes that observations are made of; `None` for bits."""
    if observations == "bits":
        return None
    if observations != "planes":
        raise ValueError(f"observations are 'bits' or 'planes', not {observations!r}")
    if game.has_percepts:
        raise ValueError("roles of this game do not see the state, so there are no planes; use 'bits'")
    return Planes(game)


def draw(state: State, mode: str | None) -> str | NDArray[np.uint8] | None:
    """Draws a state for `render`."""
    if mode == "ansi":
        return str(state)
    if mode == "svg":
        return state.svg()
    return rgb_array(state.svg()) if mode == "rgb_array" else None
