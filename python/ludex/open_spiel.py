"""Any game for OpenSpiel, so that its algorithms run on any rulesheet.

Roles that choose at the same time are asked one after the other, and none is told what another chose
before the step is played; chance comes last. What a player knows is in `information_state_string`.
"""

from __future__ import annotations

from os import PathLike
from typing import Any

import numpy as np
import pyspiel
from numpy.typing import NDArray

from ._ludex import Game


def load(rules: Game | str | PathLike[str], *, max_steps: int = 1_000) -> SpielGame:
    """Returns a game of OpenSpiel."""
    return SpielGame(rules if isinstance(rules, Game) else Game(rules), max_steps)


class SpielGame(pyspiel.Game):  # type: ignore[misc]
    """A game of OpenSpiel played by Ludex."""

    def __init__(self, game: Game, max_steps: int) -> None:
        self.ludex_game = game
        self.roles = [name for name in game.roles if name not in game.random_roles]
        self.moves = {role: game.moves(role) for role in game.roles}
        self.max_steps = max_steps
        self.is_open = not game.has_percepts
        n_chance = max((len(self.moves[role]) for role in game.random_roles), default=0)
        kind = pyspiel.GameType(
            short_name=f"ludex_{game.name}",
            long_name=game.name,
            dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
            chance_mode=(
                pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC
                if game.random_roles
                else pyspiel.GameType.ChanceMode.DETERMINISTIC
            ),
            information=(
                pyspiel.GameType.Information.PERFECT_INFORMATION
                if self.is_open
                else pyspiel.GameType.Information.IMPERFECT_INFORMATION
            ),
            utility=pyspiel.GameType.Utility.GENERAL_SUM,
            reward_model=pyspiel.GameType.RewardModel.TERMINAL,
            max_num_players=len(self.roles),
            min_num_players=len(self.roles),
            provides_information_state_string=True,
            provides_information_state_tensor=False,
            provides_observation_string=True,
            provides_observation_tensor=True,
            parameter_specification={},
        )
        info = pyspiel.GameInfo(
            num_distinct_actions=max(len(self.moves[role]) for role in self.roles),
            max_chance_outcomes=n_chance,
            num_players=len(self.roles),
            min_utility=0.0,
            max_utility=100.0,
            utility_sum=None,
            max_game_length=max_steps * len(self.roles),
        )
        super().__init__(kind, info, {})

    def __deepcopy__(self, memo: dict[int, Any]) -> SpielGame:
        # OpenSpiel copies what a state refers to when it clones the state.
        return self

    def new_initial_state(self) -> SpielState:
        return SpielState(self)

    def make_py_observer(
        self, iig_obs_type: Any = None, params: dict[str, Any] | None = None
    ) -> SpielObserver:
        return SpielObserver(self)


class SpielState(pyspiel.State):  # type: ignore[misc]
    """A state of OpenSpiel: a state of Ludex, and the moves of this step that are chosen already."""

    def __init__(self, game: SpielGame) -> None:
        super().__init__(game)
        self.spiel_game = game
        self.state = game.ludex_game.initial_state()
        self.chosen: dict[str, int] = {}
        self.n_steps = 0
        self.seen: dict[str, list[str]] = {role: [] for role in game.roles}

    def _waiting(self) -> str | None:
        """Returns the role that chooses next: players first, then chance."""
        game = self.spiel_game
        for role in [*game.roles, *game.ludex_game.random_roles]:
            if role not in self.chosen and len(self.state.legal_actions(role)) > 1:
                return role
        return None

    def _settle(self) -> None:
        """Plays the steps in which nobody has anything left to choose."""
        while not self.is_terminal() and self._waiting() is None:
            self._play()

    def _play(self) -> None:
        game = self.spiel_game
        before, texts = self.state, {}
        for role in game.ludex_game.roles:
            number = self.chosen.get(role, before.legal_actions(role)[0])
            texts[role] = game.moves[role][number]
        self.state = before.play(texts)
        for role in game.roles:
            public = [texts[role], *self.state.percepts(role)]
            self.seen[role].append(" ".join(public if not game.is_open else texts.values()))
        self.chosen = {}
        self.n_steps += 1

    def current_player(self) -> int:
        if self.is_terminal():
            return int(pyspiel.PlayerId.TERMINAL)
        role = self._waiting()
        if role is None:
            self._settle()
            return self.current_player()
        if role in self.spiel_game.ludex_game.random_roles:
            return int(pyspiel.PlayerId.CHANCE)
        return self.spiel_game.roles.index(role)

    def _legal_actions(self, player: int) -> list[int]:
        self._settle()
        if self.is_terminal():
            return []
        if player == int(pyspiel.PlayerId.CHANCE):
            role = self._waiting()
            return sorted(self.state.legal_actions(role)) if role else []
        return sorted(self.state.legal_actions(self.spiel_game.roles[player]))

    def chance_outcomes(self) -> list[tuple[int, float]]:
        actions = self._legal_actions(int(pyspiel.PlayerId.CHANCE))
        return [(action, 1 / len(actions)) for action in actions]

    def _apply_action(self, action: int) -> None:
        self._settle()
        role = self._waiting()
        if role is None:
            raise ValueError("the game is over")
        self.chosen[role] = action
        self._settle()

    def _action_to_string(self, player: int, action: int) -> str:
        game = self.spiel_game
        if player == int(pyspiel.PlayerId.CHANCE):
            role = self._waiting() or game.ludex_game.random_roles[0]
        else:
            role = game.roles[player]
        return game.moves[role][action]

    def is_terminal(self) -> bool:
        return self.state.is_terminal or self.n_steps >= self.spiel_game.max_steps

    def returns(self) -> list[float]:
        if not self.state.is_terminal:
            return [0.0] * len(self.spiel_game.roles)
        goals = self.state.goals
        return [float(goals[role] or 0) for role in self.spiel_game.roles]

    def information_state_string(self, player: int | None = None) -> str:
        player = self.current_player() if player is None else player
        role = self.spiel_game.roles[player]
        own = self.chosen.get(role)
        return f"{role}: {' | '.join(self.seen[role])}; {own}"

    def observation_string(self, player: int | None = None) -> str:
        player = self.current_player() if player is None else player
        role = self.spiel_game.roles[player]
        if self.spiel_game.is_open:
            return " ".join(self.state.fluents)
        return " ".join(self.state.percepts(role))

    def __str__(self) -> str:
        return "\n".join([*self.state.fluents, *(f"{it}?" for it in self.chosen)])


class SpielObserver:
    """Writes what a player sees as a vector."""

    def __init__(self, game: SpielGame) -> None:
        widths = [len(game.ludex_game.fluents)]
        if not game.is_open:
            widths = [len(game.ludex_game.percepts(role)) for role in game.roles]
        self.game = game
        self.tensor = np.zeros(max(widths), dtype=np.float32)
        self.dict: dict[str, NDArray[np.float32]] = {"observation": self.tensor}

    def set_from(self, state: SpielState, player: int) -> None:
        """Writes the observation of a player."""
        self.tensor.fill(0)
        if self.game.is_open:
            seen = state.state.observation()
        else:
            seen = state.state.percept_observation(self.game.roles[player])
        self.tensor[: len(seen)] = seen

    def string_from(self, state: SpielState, player: int) -> str:
        """Returns the observation of a player as text."""
        return str(state.observation_string(player))
