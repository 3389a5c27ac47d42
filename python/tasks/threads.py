"""Do Python threads run at once? Measures playouts, searches, solves and vectors on one thread and on two.

    pip install ./python && python python/tasks/threads.py [ROUNDS]

Each round measures both in turn. Wall-clock time on a busy machine says little: what others leave decides it.
Two numbers do not depend on the load. `wanted` is how many cores the threads would have used if they had been
free: the time in which they ran or waited for a core, but not for a lock, by the time that passed (Linux).
`cost` is the processor time of two calls at once by that of two calls one after the other.
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


class Demand:
    """Watches how long the threads of this process, but for the one that called, run or wait for a core."""

    def __init__(self) -> None:
        self.first: dict[str, int] = {}
        self.last: dict[str, int] = {}
        self.is_over = threading.Event()
        self.own = {str(threading.get_native_id())}
        self.watcher = threading.Thread(target=self._watch)

    def _look(self) -> None:
        for task in os.listdir("/proc/self/task"):
            if task in self.own:
                continue
            try:
                with open(f"/proc/self/task/{task}/schedstat", encoding="ascii") as file:
                    ran, waited, _ = (int(word) for word in file.read().split())
            except OSError:
                continue
            self.first.setdefault(task, ran + waited)
            self.last[task] = ran + waited

    def _watch(self) -> None:
        self.own.add(str(threading.get_native_id()))
        while not self.is_over.wait(0.01):
            self._look()

    def of(self, run: Callable[[], tuple[float, float]], n_threads: int) -> tuple[float, float, float]:
        """Returns the times of the work, and how many cores its threads wanted on average.

        Beside the threads that work there are some that wait for them; they are left out.
        """
        self.watcher.start()
        wall, processor = run()
        self.is_over.set()
        self.watcher.join()
        each = sorted((self.last[it] - self.first[it]) / 1e9 / wall for it in self.last)
        return wall, processor, sum(min(it, 1.0) for it in each[-n_threads:])


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
        "playouts": lambda number: connect_four.playouts(10_000_000, seed=number),
        "searches": lambda number: ludex.choose(
            connect_four, "red", "uct", iterations=150_000, seed=number
        ),
        "solves": lambda number: [ludex.solve(tic_tac_toe) for _ in range(150)],
    }
    print(f"load {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores, {ROUNDS} rounds\n")
    print("| what | two threads by one, wall: median | best | cores got by two: median | wanted by one | wanted by two | cost |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name, work in works.items():
        ratios, cores, costs, wanted_one, wanted_two = [], [], [], [], []
        for _ in range(ROUNDS):
            one, alone, wanted = Demand().of(lambda: spent(work, 1), 1)
            wanted_one.append(wanted)
            two, processor, wanted = Demand().of(lambda: spent(work, 2), 2)
            wanted_two.append(wanted)
            ratios.append(2 * one / two)
            cores.append(processor / two)
            costs.append(processor / (2 * alone))
        row = [statistics.median(ratios), max(ratios), statistics.median(cores)]
        row += [statistics.median(it) for it in (wanted_one, wanted_two, costs)]
        print(f"| {name} | {' | '.join(f'{it:.2f}' for it in row)} |", flush=True)
    for count in (8_192, 65_536):
        ratios, cores, costs = [], [], []
        for _ in range(ROUNDS):
            one, alone = lanes(1, count)
            two, processor = lanes(2, count)
            ratios.append(one / two)
            cores.append(processor / two)
            costs.append(processor / alone)
        row = [statistics.median(ratios), max(ratios), statistics.median(cores)]
        name = f"200 steps of {count:,} games in a vector, its own threads"
        cost = statistics.median(costs)
        print(f"| {name} | {' | '.join(f'{it:.2f}' for it in row)} | | | {cost:.2f} |", flush=True)


if __name__ == "__main__":
    main()
