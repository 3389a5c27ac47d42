"""Do Python threads run at once? Measures playouts, searches, solves and vectors on one thread and on two.

    pip install ./python && python python/tasks/threads.py [ROUNDS]

Each round measures both in turn. Wall-clock time on a busy machine says little, so that the processor time a
second, which counts how many cores were at work, is given beside it.
"""

from __future__ import annotations

import os
import statistics
import sys
import threading
import time
from collections.abc import Callable

import numpy as np

import ludex

ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 7


def spent(work: Callable[[int], object], n_threads: int) -> tuple[float, float]:
    """Returns the wall-clock and the processor time of the work done once by each thread."""
    threads = [threading.Thread(target=work, args=(number,)) for number in range(n_threads)]
    wall, processor = time.perf_counter(), time.process_time()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.perf_counter() - wall, time.process_time() - processor


def lanes(n_threads: int, count: int) -> tuple[float, float]:
    """Returns the wall-clock and the processor time of steps of a vector."""
    env = ludex.VectorEnv("connectfour", count, copy=False, threads=n_threads)
    env.reset()
    rng = np.random.default_rng(0)
    total = [0.0, 0.0]
    for _ in range(200):
        actions = env.sample(rng)
        wall, processor = time.perf_counter(), time.process_time()
        env.lanes.step(actions)
        total[0] += time.perf_counter() - wall
        total[1] += time.process_time() - processor
    return total[0], total[1]


def main() -> None:
    connect_four = ludex.Game("connectfour").initial_state()
    tic_tac_toe = ludex.Game("tictactoe").initial_state()
    works: dict[str, Callable[[int], object]] = {
        "playouts": lambda number: connect_four.playouts(100_000, seed=number),
        "searches": lambda number: ludex.choose(
            connect_four, "red", "uct", iterations=10_000, seed=number
        ),
        "solves": lambda number: [ludex.solve(tic_tac_toe) for _ in range(3)],
    }
    print(f"load {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores, {ROUNDS} rounds\n")
    print("| what | two threads by one, wall: median | best | cores at work with two: median | best |")
    print("| --- | --- | --- | --- | --- |")
    for name, work in works.items():
        ratios, cores = [], []
        for _ in range(ROUNDS):
            one, _ = spent(work, 1)
            two, processor = spent(work, 2)
            ratios.append(2 * one / two)
            cores.append(processor / two)
        row = [statistics.median(ratios), max(ratios), statistics.median(cores), max(cores)]
        print(f"| {name} | {' | '.join(f'{it:.2f}' for it in row)} |", flush=True)
    for count in (8_192, 65_536):
        ratios, cores = [], []
        for _ in range(ROUNDS):
            one, _ = lanes(1, count)
            two, processor = lanes(2, count)
            ratios.append(one / two)
            cores.append(processor / two)
        row = [statistics.median(ratios), max(ratios), statistics.median(cores), max(cores)]
        name = f"steps of {count:,} games in a vector, its own threads"
        print(f"| {name} | {' | '.join(f'{it:.2f}' for it in row)} |", flush=True)


if __name__ == "__main__":
    main()
