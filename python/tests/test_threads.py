"""Calls from many threads, faults and Ctrl-C."""

import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor

import ludex
import ludex._ludex
import numpy as np
import pytest


def test_a_thousand_calls_at_once():
    game = ludex.Game("tictactoe")
    start = game.initial_state()
    env = ludex.VectorEnv(game, 300, threads=2)
    step = threading.Lock()

    def vector(seed):
        # One vector is for one thread at a time.
        with step:
            env.step(np.full(300, -1))
        return None

    kinds = [
        lambda seed: start.playouts(64, seed=seed)["mean_goals"],
        lambda seed: ludex.choose(start, "xplayer", "uct", iterations=30, seed=seed)["move"],
        lambda seed: start.play_randomly(seed).play_randomly(seed).fluents,
        lambda seed: ludex.solve_model(f"exists x: 0..9; goal x * x = {seed % 10};")["verdict"],
        lambda seed: ludex.check("(role a) (init (x 1))")[0].code,
        vector,
    ]

    def call(number):
        return kinds[number % len(kinds)](number // 100)

    with ThreadPoolExecutor(max_workers=64) as pool:
        answers = list(pool.map(call, range(1_000)))
    # Equal calls have equal answers, whatever ran beside them.
    for number in range(0, 1_000, 37):
        assert answers[number] == call(number)


def test_a_vector_is_for_one_thread_at_a_time():
    env = ludex.VectorEnv("connectfour", 40_000, threads=1)
    faults = []

    def steps():
        try:
            for _ in range(20):
                env.step(np.full(40_000, -1))
        except RuntimeError as error:
            faults.append(str(error))

    threads = [threading.Thread(target=steps) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # Either they did not meet, or those who met were told.
    assert all("borrowed" in fault for fault in faults)
    env.step(np.full(40_000, -1))


def test_a_panic_becomes_an_exception(capfd):
    with pytest.raises(ludex.LudexError, match="please report it: something broke"):
        ludex._ludex._panic("something broke")
    # The process goes on.
    assert ludex.Game("tictactoe").perft(2) == [9, 72]


def test_python_goes_on_during_a_search():
    state = ludex.Game("connectfour").initial_state()
    search = threading.Thread(target=lambda: ludex.choose(state, "red", "uct", iterations=30_000))
    search.start()
    n_turns = 0
    while search.is_alive():
        n_turns += 1
    assert n_turns > 1_000


LONG = {
    "search": lambda state: ludex.choose(state, "red", "uct", time=3_600),
    "solve": lambda state: ludex.solve(state, time=3_600),
    "playouts": lambda state: state.playouts(10**12),
    "match": lambda state: ludex.play_series(state.game, ["uct", "uct"], count=1, play_clock=3_600),
    "matches": lambda state: ludex.play_series(
        state.game, ["uct", "uct"], count=4, play_clock=3_600, threads=2
    ),
}


@pytest.fixture
def interrupts():
    """Interrupts arrive also where the tests run in the background of a shell, which ignores them."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interrupts")
@pytest.mark.parametrize("name", LONG)
def test_interrupts_end_long_calls(name):
    state = ludex.Game("connectfour").initial_state()
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        LONG[name](state)
    timer.join()
