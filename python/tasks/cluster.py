"""Plays a tournament on a Ray cluster of four nodes, kills one of them in the middle, and compares.

    pip install ./python "ray>=2.30" && python python/tasks/cluster.py [MATCHES]

The table must be that of one process without Ray, and so must be that of shards by `ludex match` if the
command is in `LUDEX`. Also tries a root-parallel search, a portfolio of exact solvers and self-play.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import ray
from ray.cluster_utils import Cluster

import ludex
import ludex.ray

GAME, PLAYERS, SEED, ITERATIONS = "tictactoe", ["uct", "random"], 5, 300
SETTINGS: dict[str, Any] = {
    "iterations": ITERATIONS,
    "start_clock": 600.0,
    "play_clock": 600.0,
    "seed": SEED,
}


def timed(work: Any) -> tuple[Any, float]:
    start = time.perf_counter()
    result = work()
    return result, time.perf_counter() - start


def same(one: ludex.Series, other: ludex.Series) -> bool:
    moves = [[it["moves"] for it in series.matches] for series in (one, other)]
    return one.table == other.table and one.share == other.share and moves[0] == moves[1]


def on_nodes(count: int, n_nodes: int, kill_after: int | None) -> tuple[ludex.Series, float, int]:
    """Plays the series on a cluster; kills a node after some matches. Returns how many had ended."""
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    nodes = [cluster.add_node(num_cpus=1) for _ in range(n_nodes - 1)]
    cluster.wait_for_nodes()
    ray.init(address=cluster.address, log_to_driver=False)
    done = 0
    killed_at = 0

    def on_match(_: dict[str, Any]) -> None:
        nonlocal done, killed_at
        done += 1
        if kill_after is not None and done == kill_after:
            killed_at = done
            threading.Thread(target=lambda: cluster.remove_node(nodes[0], allow_graceful=False)).start()

    try:
        # Workers start before the clock does.
        ludex.ray.play_series(GAME, PLAYERS, count=4 * n_nodes, **SETTINGS | {"seed": 999})
        series, seconds = timed(
            lambda: ludex.ray.play_series(GAME, PLAYERS, count=count, on_match=on_match, **SETTINGS)
        )
    finally:
        ray.shutdown()
        cluster.shutdown()
    return series, seconds, killed_at


def by_shards(command: str, count: int, n_shards: int) -> Any:
    """Plays shards by the command, kills one on the way, merges them."""
    with tempfile.TemporaryDirectory() as folder:
        base = [command, "match", GAME, "--players", ",".join(PLAYERS), "--count", str(count)]
        base += ["--iterations", str(ITERATIONS), "--start-clock", "600", "--play-clock", "600"]
        base += ["--seed", str(SEED)]
        files = [str(Path(folder, f"{part}.jsonl")) for part in range(n_shards)]
        calls = [
            [*base, "--shard", f"{part + 1}/{n_shards}", "--output", file, "--threads", "1"]
            for part, file in enumerate(files)
        ]
        running = [subprocess.Popen(call, stdout=subprocess.DEVNULL) for call in calls]
        # Its file has some matches and lacks others.
        while not (Path(files[0]).exists() and Path(files[0]).read_bytes().count(b"\n") > 10):
            time.sleep(0.01)
        running[0].kill()
        n_kept = Path(files[0]).read_bytes().count(b"\n") - 1
        for one in running:
            one.wait()
        subprocess.run([*calls[0], "--resume"], stdout=subprocess.DEVNULL, check=True)
        text = subprocess.run([command, "merge", *files, "--json"], capture_output=True, check=True).stdout
        return json.loads(text), n_kept


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    alone, seconds = timed(lambda: ludex.play_series(GAME, PLAYERS, count=count, **SETTINGS))
    print(f"load {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores, {count} matches of {GAME}, {ITERATIONS} iterations")
    print("| how | seconds | speed-up | same table and moves |\n| --- | --- | --- | --- |", flush=True)
    print(f"| one process, no Ray | {seconds:.1f} | | |", flush=True)
    one, base, _ = on_nodes(count, 1, None)
    print(f"| Ray, 1 node | {base:.1f} | 1.00 | {same(alone, one)} |", flush=True)
    four, spent, _ = on_nodes(count, 4, None)
    print(f"| Ray, 4 nodes | {spent:.1f} | {base / spent:.2f} | {same(alone, four)} |", flush=True)
    killed, spent, at = on_nodes(count, 4, count // 2)
    how = f"Ray, 4 nodes, one killed after {at} matches"
    print(f"| {how} | {spent:.1f} | {base / spent:.2f} | {same(alone, killed)} |", flush=True)
    command = os.environ.get("LUDEX")
    if command:
        (merged, n_kept), spent = timed(lambda: by_shards(command, count, 4))
        equal = merged["players"] == alone.table and [it["moves"] for it in merged["matches"]] == [
            it["moves"] for it in alone.matches
        ]
        how = f"4 shards by `ludex match`, one killed after {n_kept} matches, resumed and merged"
        print(f"| {how} | {spent:.1f} | | {equal} |", flush=True)
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    state = ludex.Game("connectfour").initial_state()
    found = ludex.ray.choose(state, "red", "uct", workers=4, iterations=2_000)
    print(f"\nroot-parallel search, 4 trees: {found['move']}, {found['iterations']} iterations")
    answer = ludex.ray.solve(ludex.Game("tictactoe").initial_state(), time=120)
    print(f"portfolio of exact solvers: {answer[0]['values']}")
    examples = [
        ludex.ray.self_play("tictactoe", games=20, workers=n_workers, iterations=50) for n_workers in (1, 2)
    ]
    equal = all((getattr(examples[0], it) == getattr(examples[1], it)).all() for it in ("visits", "goals"))
    print(f"self-play of 20 games: {len(examples[0].goals)} examples, equal by 1 and 2 workers: {equal}")
    ray.shutdown()


if __name__ == "__main__":
    main()
