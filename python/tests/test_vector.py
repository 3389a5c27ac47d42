"""Many games side by side."""

import ludex
import numpy as np
import pytest


@pytest.mark.parametrize("name", ["tictactoe", "connectfour", "breakthrough-small"])
def test_rows_are_those_of_single_states(name):
    env = ludex.VectorEnv(name, 300, seed=1)
    game, rng = env.game, np.random.default_rng(0)
    step = env.reset()
    followed = range(0, 300, 37)
    states = {number: game.initial_state() for number in followed}
    for _ in range(60):
        for number, state in states.items():
            role = int(step.deciders[number])
            assert step.observations[number].tolist() == state.observation().tolist()
            legal = np.flatnonzero(step.masks[number]).tolist()
            assert legal == sorted(state.legal_actions(role))
        actions = env.sample(rng)
        before, step = step, env.step(actions)
        for number in followed:
            role = int(before.deciders[number])
            states[number] = states[number].play({role: int(actions[number])})
            assert bool(step.terminated[number]) == states[number].is_terminal
            if states[number].is_terminal:
                goals = [states[number].goals[name] / 100 for name in game.roles]
                assert step.rewards[number].tolist() == pytest.approx(goals)
                states[number] = game.initial_state()
            else:
                assert not step.rewards[number].any()


def test_joint_actions_and_draws():
    env = ludex.VectorEnv("tictactoe", 10)
    env.reset()
    step = env.step(np.full((10, 2), -1))
    assert (step.observations.sum(axis=1) > 0).all()
    assert not step.terminated.any()


def test_an_illegal_action_changes_nothing():
    env = ludex.VectorEnv("tictactoe", 600)
    before = env.reset()
    actions = env.sample(np.random.default_rng(0))
    actions[555] = 999
    with pytest.raises(ludex.IllegalMoveError, match="game 555; nothing was played"):
        env.step(actions)
    assert (env.lanes.observations == before.observations).all()


def test_long_games_are_given_up():
    env = ludex.VectorEnv("tictactoe", 5, max_steps=2)
    env.reset()
    env.step(np.full(5, -1))
    step = env.step(np.full(5, -1))
    assert step.truncated.all() and not step.terminated.any()
    assert step.observations.tolist() == env.reset().observations.tolist()


def test_arrays_are_copied_unless_told_otherwise():
    kept = ludex.VectorEnv("tictactoe", 4)
    first = kept.reset()
    kept.step(np.full(4, -1))
    assert (first.observations == kept.reset().observations).all()
    shared = ludex.VectorEnv("tictactoe", 4, copy=False)
    assert shared.reset().observations is shared.step(np.full(4, -1)).observations


def test_equal_seeds_give_equal_games():
    rows = []
    for _ in range(2):
        env = ludex.VectorEnv("connectfour", 700, seed=9, threads=2)
        env.reset()
        for _ in range(30):
            step = env.step(np.full(700, -1))
        rows.append(step.observations)
    assert (rows[0] == rows[1]).all()
