"""Runs the tests of Gymnasium and PettingZoo on many games and prints a table.

    pip install "./python[gymnasium,pettingzoo]"
    python python/tasks/environments.py [--sample N] [--seconds S] [FOLDER of rulesheets]

Without a folder it takes the games of the library. `--sample` takes N of the folder, evenly by name.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

from gymnasium.utils.env_checker import check_env
from pettingzoo.test import api_test, parallel_api_test, seed_test

import ludex
import ludex.gymnasium
import ludex.pettingzoo


def checks(game: ludex.Game, cycles: int) -> dict[str, Callable[[], object]]:
    """Returns the tests of a game by name."""
    agents = [role for role in game.roles if role not in game.random_roles]

    def env() -> ludex.pettingzoo.AgentEnv:
        return ludex.pettingzoo.env(game, max_steps=50)

    def parallel() -> ludex.pettingzoo.SimultaneousEnv:
        return ludex.pettingzoo.parallel_env(game, max_steps=50)

    return {
        "api_test": lambda: api_test(env(), num_cycles=cycles, verbose_progress=False),
        "parallel_api_test": lambda: parallel_api_test(parallel(), num_cycles=cycles),
        "seed_test": lambda: seed_test(env, num_cycles=max(cycles // 4, 5)),
        "check_env": lambda: check_env(
            ludex.gymnasium.Env(game, role=agents[0], max_steps=50), skip_render_check=True
        ),
    }


def try_game(rules: str, seconds: float, cycles: int) -> tuple[str, list[str]]:
    """Returns the engine, or why there is none, and the result of each test."""
    try:
        game = ludex.Game(rules, time=seconds)
    except ludex.LudexError as error:
        return f"not loaded: {str(error).splitlines()[0][:80]}", []
    if game.engine != "circuit":
        return "no circuit within the time: its moves are not numbered", []
    results = []
    for name, check in checks(game, cycles).items():
        try:
            with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
                warnings.simplefilter("ignore")
                check()
            results.append("passed")
        except Exception as error:  # noqa: BLE001
            results.append(f"{name}: {type(error).__name__}: {str(error)[:120]}")
    return game.engine, results


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--sample", type=int)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--cycles", type=int, default=40)
    options = parser.parse_args()
    if options.folder is None:
        names = {name: name for name in ludex.games()}
    else:
        names = {path.stem: str(path) for path in sorted(options.folder.rglob("*.kif"))}
    if options.sample is not None and options.sample < len(names):
        every = len(names) / options.sample
        wanted = [list(names)[int(idx * every)] for idx in range(options.sample)]
        names = {name: names[name] for name in wanted}
    n_passed = n_failed = n_left_out = 0
    print("| game | engine | api_test | parallel_api_test | seed_test | check_env | s |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name, rules in names.items():
        start = time.process_time()
        engine, results = try_game(rules, options.seconds, options.cycles)
        spent = time.process_time() - start
        passed = [it for it in results if it == "passed"]
        n_left_out += not results
        n_passed += bool(results) and len(passed) == len(results)
        n_failed += bool(results) and len(passed) < len(results)
        columns = results or ["", "", "", ""]
        print(f"| {name} | {engine} | {' | '.join(columns)} | {spent:.1f} |", flush=True)
    print(f"\n{n_passed} games passed all tests, {n_failed} failed one, {n_left_out} were left out.")
    return int(n_failed > 0)


if __name__ == "__main__":
    sys.exit(main())
