"""Steps a second with actions from outside and masks delivered, beside other libraries in the same run.

    pip install ./python open_spiel pgx pettingzoo[classic] && python python/tasks/speed.py [SECONDS]

Each library is given random legal actions that were chosen by NumPy or by its own means, outside the time
that is measured where it lets us; what cannot be had is said.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable

import numpy as np

import ludex

SECONDS = float(sys.argv[1]) if len(sys.argv) > 1 else 3.0


def rate(step: Callable[[], int]) -> float:
    """Runs steps for a while and returns how many games' steps a second they were."""
    step()
    done, start = 0, time.perf_counter()
    while time.perf_counter() - start < SECONDS:
        done += step()
    return done / (time.perf_counter() - start)


def ours(name: str, count: int, threads: int) -> float:
    env = ludex.VectorEnv(name, count, copy=False, threads=threads)
    env.reset()
    rng = np.random.default_rng(0)
    spent, done = 0.0, 0
    end = time.perf_counter() + SECONDS
    while time.perf_counter() < end:
        actions = env.sample(rng)
        start = time.perf_counter()
        env.lanes.step(actions)
        spent += time.perf_counter() - start
        done += count
    return done / spent


def pgx(name: str, count: int) -> float:
    import jax
    import pgx as library

    env = library.make(name)
    step, init = jax.jit(jax.vmap(env.step)), jax.jit(jax.vmap(env.init))
    state = init(jax.random.split(jax.random.PRNGKey(0), count))
    draw = jax.jit(
        lambda key, mask: jax.random.categorical(key, jax.numpy.log(mask.astype(jax.numpy.float32)), axis=1)
    )
    key = jax.random.PRNGKey(1)
    spent, done = 0.0, 0
    step(state, draw(key, state.legal_action_mask))
    while spent < SECONDS:
        key, part = jax.random.split(key)
        actions = draw(part, state.legal_action_mask).block_until_ready()
        start = time.perf_counter()
        state = step(state, actions)
        jax.block_until_ready((state.observation, state.legal_action_mask, state.rewards))
        spent += time.perf_counter() - start
        done += count
        if bool(state.terminated.all()):
            state = init(jax.random.split(part, count))
    return done / spent


def open_spiel(name: str) -> float:
    import pyspiel

    game, rng = pyspiel.load_game(name), random.Random(0)
    state = game.new_initial_state()

    def step() -> int:
        nonlocal state
        if state.is_terminal():
            state = game.new_initial_state()
        state.apply_action(rng.choice(state.legal_actions()))
        if not state.is_terminal():
            state.legal_actions_mask()
            state.observation_tensor()
        return 1

    return rate(step)


def pettingzoo(module: str) -> float:
    import importlib

    env, rng = importlib.import_module(f"pettingzoo.classic.{module}").env(), np.random.default_rng(0)
    env.reset(seed=0)

    def step() -> int:
        observation, _, is_over, is_cut, _ = env.last()
        if is_over or is_cut:
            env.reset()
            return 0
        env.step(int(rng.choice(np.flatnonzero(observation["action_mask"]))))
        return 1

    return rate(step)


GAMES: dict[str, list[tuple[str, Callable[[], float]]]] = {
    "connectfour": [
        ("pgx", lambda: pgx("connect_four", 4_096)),
        ("OpenSpiel", lambda: open_spiel("connect_four")),
        ("PettingZoo", lambda: pettingzoo("connect_four_v3")),
    ],
    "tictactoe": [
        ("pgx", lambda: pgx("tic_tac_toe", 4_096)),
        ("OpenSpiel", lambda: open_spiel("tic_tac_toe")),
        ("PettingZoo", lambda: pettingzoo("tictactoe_v3")),
    ],
    "reversi": [
        ("pgx", lambda: pgx("othello", 4_096)),
        ("OpenSpiel", lambda: open_spiel("othello")),
    ],
    "breakthrough": [("OpenSpiel", lambda: open_spiel("breakthrough"))],
    "hex": [("OpenSpiel", lambda: open_spiel("hex(board_size=7)"))],
}


def main() -> None:
    print("| game | library | million steps a second |\n| --- | --- | --- |")
    for name, others in GAMES.items():
        for threads in (1, 2):
            speed = ours(name, 8_192, threads)
            print(f"| {name} | ludex, 8,192 games, {threads} threads | {speed / 1e6:.3f} |", flush=True)
        for library, measure in others:
            try:
                print(f"| {name} | {library} | {measure() / 1e6:.4f} |", flush=True)
            except ImportError as error:
                print(f"| {name} | {library} | not installed: {error.name} |", flush=True)


if __name__ == "__main__":
    main()
