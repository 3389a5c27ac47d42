"""Any game as an environment of PettingZoo, one agent a role."""

from __future__ import annotations

from os import PathLike
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray
from pettingzoo import AECEnv, ParallelEnv

from ._ludex import Game
from .gymnasium import draw, make_planes

Observation = dict[str, NDArray[np.int8]]


class _Table:
    """A state, and what each agent sees and may do."""

    def __init__(
        self, rules: Game | str | PathLike[str], max_steps: int, observations: str = "bits"
    ) -> None:
        self.game = rules if isinstance(rules, Game) else Game(rules)
        self.agents = [name for name in self.game.roles if name not in self.game.random_roles]
        self.moves = {agent: self.game.moves(agent) for agent in self.agents}
        self.is_hidden = self.game.has_percepts
        self.max_steps = max_steps
        self.planes = make_planes(self.game, observations)
        self.widths = {agent: self._width(agent) for agent in self.agents}
        self.begin(None)

    def _width(self, agent: str) -> int:
        seen = self.game.percepts(agent) if self.is_hidden else self.game.fluents
        return max(len(seen), 1)

    def begin(self, seed: int | None) -> None:
        self.rng = np.random.default_rng(seed)
        self.state = self.game.initial_state()
        self.n_steps = 0

    def observation_space(self, agent: str) -> gymnasium.spaces.Dict:
        bits: Any = self.planes.shape if self.planes else self.widths[agent]
        n_moves = max(len(self.moves[agent]), 1)
        return gymnasium.spaces.Dict(
            {
                "observation": gymnasium.spaces.MultiBinary(bits),
                "action_mask": gymnasium.spaces.MultiBinary(n_moves),
            }
        )

    def action_space(self, agent: str) -> gymnasium.spaces.Discrete:
        return gymnasium.spaces.Discrete(max(len(self.moves[agent]), 1))

    def mask(self, agent: str) -> NDArray[np.int8]:
        mask = np.zeros(max(len(self.moves[agent]), 1), dtype=np.int8)
        if not self.state.is_terminal:
            mask[self.state.legal_actions(agent)] = 1
        return mask

    def observe(self, agent: str) -> Observation:
        if self.planes is not None:
            planes = self.planes.of(self.state).astype(np.int8)
            return {"observation": planes, "action_mask": self.mask(agent)}
        seen = self.state.percept_observation(agent) if self.is_hidden else self.state.observation()
        bits = np.zeros(self.widths[agent], dtype=np.int8)
        bits[: len(seen)] = seen
        return {"observation": bits, "action_mask": self.mask(agent)}

    def deciders(self) -> list[str]:
        """Returns the agents that have a choice; the first agent if none has."""
        if self.state.is_terminal:
            return []
        return self.state.to_play or self.agents[:1]

    def play(self, actions: dict[str, int]) -> None:
        joint: dict[str, str | int] = dict(actions)
        for role in self.game.roles:
            if role in joint:
                continue
            moves = self.state.legal_moves(role)
            if not moves:
                raise RuntimeError(f"{role!r} has no legal move: the rules are broken here")
            number = 0 if len(moves) == 1 else int(self.rng.integers(len(moves)))
            joint[role] = moves[number]
        self.state = self.state.play(joint)
        self.n_steps += 1

    def rewards(self) -> dict[str, float]:
        goals = self.state.goals
        return {agent: (goals[agent] or 0) / 100 for agent in self.agents}


class _Seats:
    """What both kinds of environment share: a table, and the spaces of its agents."""

    metadata: dict[str, Any] = {
        "render_modes": ["ansi", "svg", "rgb_array"],
        "name": "ludex",
        "render_fps": 4,
    }

    def __init__(
        self,
        rules: Game | str | PathLike[str],
        *,
        max_steps: int = 1_000,
        render_mode: str | None = None,
        observations: str = "bits",
    ) -> None:
        super().__init__()
        self.table = _Table(rules, max_steps, observations)
        self.possible_agents = list(self.table.agents)
        self.agents: list[str] = []
        self.render_mode = render_mode
        self.observation_spaces = {it: self.table.observation_space(it) for it in self.possible_agents}
        self.action_spaces = {it: self.table.action_space(it) for it in self.possible_agents}
        self.metadata = self.metadata | {"name": f"ludex_{self.table.game.name}"}

    def observation_space(self, agent: str) -> gymnasium.spaces.Dict:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> gymnasium.spaces.Discrete:
        return self.action_spaces[agent]

    def render(self) -> str | NDArray[np.uint8] | None:
        return draw(self.table.state, self.render_mode)

    def close(self) -> None:
        pass


class AgentEnv(_Seats, AECEnv):  # type: ignore[misc]
    """A game whose agents act one after the other.

    Agents that choose at the same time are asked in the order of the roles, and none sees what another
    chose before the step is played. An agent with a single legal move is not asked. An illegal action ends
    the game with the reward -1 for the agent and 0 for the others.
    """

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        self.table.begin(seed)
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self.chosen: dict[str, int] = {}
        self.waiting = self.table.deciders()
        self.agent_selection = (self.waiting or self.agents)[0]

    def observe(self, agent: str) -> Observation:
        return self.table.observe(agent)

    def step(self, action: int | None) -> None:
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        if self.table.state.is_terminal:
            # The game is over before the first step: any action ends it.
            self.rewards = self.table.rewards()
            self._end("terminations")
        elif action is None or int(action) not in self.table.state.legal_actions(agent):
            self.rewards[agent] = -1.0
            self.infos[agent] = {"illegal_action": action}
            self._end("terminations")
        else:
            self.chosen[agent] = int(action)
            self.waiting = self.waiting[1:]
            if self.waiting:
                self.agent_selection = self.waiting[0]
            else:
                self._play()
        self._accumulate_rewards()

    def _play(self) -> None:
        self.table.play(self.chosen)
        self.chosen = {}
        if self.table.state.is_terminal:
            self.rewards = self.table.rewards()
            self._end("terminations")
        elif self.table.n_steps >= self.table.max_steps:
            self._end("truncations")
        else:
            self.waiting = self.table.deciders()
            self.agent_selection = self.waiting[0]

    def _end(self, kind: str) -> None:
        setattr(self, kind, dict.fromkeys(self.agents, True))
        self.agent_selection = self.agents[0]


class SimultaneousEnv(_Seats, ParallelEnv):  # type: ignore[misc]
    """A game whose agents all act in every step; an agent without a choice has one legal action.

    An illegal action ends the game with the reward -1 for its agent.
    """

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Observation], dict[str, dict[str, Any]]]:
        self.table.begin(seed)
        self.agents = list(self.possible_agents)
        return self._observations(), self._infos()

    def step(
        self, actions: dict[str, int]
    ) -> tuple[
        dict[str, Observation],
        dict[str, float],
        dict[str, bool],
        dict[str, bool],
        dict[str, dict[str, Any]],
    ]:
        agents = self.agents
        rewards = dict.fromkeys(agents, 0.0)
        is_late = self.table.state.is_terminal
        legal = {agent: self.table.state.legal_actions(agent) for agent in agents}
        wrong = [agent for agent in agents if int(actions[agent]) not in legal[agent]]
        if is_late:
            # The game is over before the first step: any actions end it.
            rewards, is_over = self.table.rewards(), True
        elif wrong:
            rewards |= dict.fromkeys(wrong, -1.0)
            is_over = True
        else:
            self.table.play({agent: int(actions[agent]) for agent in agents})
            is_over = self.table.state.is_terminal
            if is_over:
                rewards = self.table.rewards()
        is_too_long = not is_over and self.table.n_steps >= self.table.max_steps
        if is_over or is_too_long:
            self.agents = []
        observations = {agent: self.table.observe(agent) for agent in agents}
        infos = {agent: {"action_mask": observations[agent]["action_mask"]} for agent in agents}
        ended, too_long = dict.fromkeys(agents, is_over), dict.fromkeys(agents, is_too_long)
        return observations, rewards, ended, too_long, infos

    def _observations(self) -> dict[str, Observation]:
        return {agent: self.table.observe(agent) for agent in self.agents}

    def _infos(self) -> dict[str, dict[str, Any]]:
        return {agent: {"action_mask": self.table.mask(agent)} for agent in self.agents}


def env(rules: Game | str | PathLike[str], **options: Any) -> AgentEnv:
    """Returns a game whose agents act one after the other."""
    return AgentEnv(rules, **options)


def parallel_env(rules: Game | str | PathLike[str], **options: Any) -> SimultaneousEnv:
    """Returns a game whose agents act at the same time."""
    return SimultaneousEnv(rules, **options)
