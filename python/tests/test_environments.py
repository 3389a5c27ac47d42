"""The environments pass the tests of the libraries that they are for."""

import warnings

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
