"""The environments pass the tests of the libraries that they are for."""

import importlib.util
import warnings
from pathlib import Path

import ludex
import ludex.gymnasium
import ludex.pettingzoo
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import api_test, parallel_api_test, seed_test

SOME = ["tictactoe", "connectfour", "breakthrough-small", "nim"]
GAMES = [name for name in SOME if name in ludex.games()]


def quiet():
    warnings.simplefilter("ignore")


@pytest.mark.parametrize("name", GAMES)
def test_agents_in_turn(name):
    with warnings.catch_warnings():
        quiet()
        api_test(ludex.pettingzoo.env(name), num_cycles=200, verbose_progress=False)
        seed_test(lambda: ludex.pettingzoo.env(name), num_cycles=50)


@pytest.mark.parametrize("name", GAMES)
def test_agents_at_once(name):
    with warnings.catch_warnings():
        quiet()
        parallel_api_test(ludex.pettingzoo.parallel_env(name), num_cycles=200)


@pytest.mark.parametrize("name", GAMES)
def test_one_role_for_gymnasium(name):
    with warnings.catch_warnings():
        quiet()
        game = ludex.Game(name)
        check_env(ludex.gymnasium.Env(game, role=game.roles[0]), skip_render_check=True)


def test_every_game_of_the_library():
    # The task does the same for longer, and for any folder of rulesheets.
    file = Path(__file__).parents[1] / "tasks" / "environments.py"
    spec = importlib.util.spec_from_file_location("environments", file)
    task = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(task)
    found = {name: task.try_game(name, 60.0, 10) for name in ludex.games()}
    assert len(found) >= 60
    assert {name: it for name, it in found.items() if it != ("circuit", ["passed"] * 4)} == {}


def test_a_game_that_is_over_at_the_start_ends_with_any_action():
    rules = "(role a) (role b) (init (x 1)) (legal a m) (legal b m) (next (x 1)) terminal (goal a 70) (goal b 30)"
    agents = ludex.pettingzoo.env(rules)
    with warnings.catch_warnings():
        quiet()
        api_test(agents, num_cycles=10, verbose_progress=False)
        parallel_api_test(ludex.pettingzoo.parallel_env(rules), num_cycles=10)
    agents.reset(seed=1)
    agents.step(0)
    assert agents.rewards == {"a": 0.7, "b": 0.3} and all(agents.terminations.values())
    at_once = ludex.pettingzoo.parallel_env(rules)
    at_once.reset(seed=1)
    _, rewards, ended, _, _ = at_once.step({"a": 0, "b": 0})
    assert rewards == {"a": 0.7, "b": 0.3} and all(ended.values()) and not at_once.agents


def test_a_wrong_environment_is_found(monkeypatch):
    bad = {"observation": np.full(1, 7, dtype=np.int8), "action_mask": np.ones(1, dtype=np.int8)}
    monkeypatch.setattr(ludex.pettingzoo._Table, "observe", lambda self, agent: bad)
    with warnings.catch_warnings(), pytest.raises(AssertionError):
        quiet()
        api_test(ludex.pettingzoo.env("nim"), num_cycles=10, verbose_progress=False)


def test_an_episode_against_a_player():
    env = ludex.gymnasium.Env("tictactoe", role="oplayer", opponents="uct", iterations=200)
    rng = np.random.default_rng(3)
    _, info = env.reset(seed=1)
    is_over = False
    while not is_over:
        action = rng.choice(np.flatnonzero(info["action_mask"]))
        _, reward, is_over, _, info = env.step(action)
    assert reward in (0.0, 0.5, 1.0)


def test_illegal_actions_end_the_game():
    env = ludex.gymnasium.Env("tictactoe", role="xplayer")
    env.reset(seed=1)
    illegal = int(np.flatnonzero(env.action_masks() == 0)[0])
    _, reward, is_over, _, info = env.step(np.int64(illegal))
    assert (reward, is_over, info["illegal_action"]) == (-1.0, True, illegal)
