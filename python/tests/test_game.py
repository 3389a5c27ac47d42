"""Games and states."""

import pickle
import subprocess
import sys
import threading

import ludex
import numpy as np
import pytest

WALK = """
(role walker) (init (at 0)) (succ 0 1) (succ 1 2)
(legal walker stay) (legal walker go)
(<= (next (at ?x)) (true (at ?x)) (does walker stay))
(<= (next (at ?y)) (true (at ?x)) (succ ?x ?y) (does walker go))
(<= terminal (true (at 2))) (<= (goal walker 100) (true (at 2)))
"""


def test_rules_come_from_the_library_a_text_or_a_file(tmp_path):
    file = tmp_path / "walk.kif"
    file.write_text(WALK)
    assert ludex.Game("tictactoe").roles == ["xplayer", "oplayer"]
    assert ludex.Game(WALK).roles == ["walker"]
    assert ludex.Game(file).name == "walk"
    assert ludex.Game(str(file)).initial_state().fluents == ["(at 0)"]
    with pytest.raises(ValueError, match="did you mean .*tictactoe"):
        ludex.Game("tictacto")


def test_a_game_is_played_to_its_end():
    state = ludex.Game(WALK).initial_state()
    assert state.to_play == ["walker"]
    assert state.legal_moves("walker") == state.legal_moves(0) == ["go", "stay"]
    state = state.play("go").play(["go"])
    assert state.is_terminal
    assert state.goals == {"walker": 100}
    with pytest.raises(ludex.IllegalMoveError, match="over"):
        state.play("go")


def test_moves_are_texts_or_numbers_and_forced_ones_may_be_left_out():
    game = ludex.Game("tictactoe")
    state = game.initial_state()
    number = game.moves("xplayer").index("(mark 2 2)")
    by_number = state.play({"xplayer": number})
    assert by_number == state.play({"xplayer": "(mark 2 2)"})
    assert by_number == state.play(["(mark 2 2)", "noop"])
    assert hash(by_number) == hash(state.play({0: number}))
    with pytest.raises(ludex.IllegalMoveError, match="not legal"):
        by_number.play({"oplayer": "(mark 2 2)"})
    with pytest.raises(ludex.IllegalMoveError, match="has 8 legal moves"):
        by_number.play({})
    with pytest.raises(ValueError, match="the roles are xplayer, oplayer"):
        state.legal_moves("red")


def test_mistakes_are_said_with_their_places():
    with pytest.raises(ludex.RulesError, match=r"rules:1:\d+"):
        ludex.Game("(role a) (init")
    codes = {it.code for it in ludex.check("(role a) (init (x 1)) (<= terminal (true (y 1)))")}
    assert codes
    with pytest.raises(ludex.LudexError, match="its own negation"):
        ludex.Game("(role a) (init (n z)) (legal a b) (<= p (not p)) (<= terminal p)")
    # Terms that grow without end can't be grounded, and are played all the same.
    growing = "(role a) (init (n z)) (legal a b) (<= (next (n (s ?x))) (true (n ?x)))"
    assert ludex.Game(growing, time=10).engine == "reasoner"


def test_states_and_games_are_pickled():
    state = ludex.Game("connectfour").initial_state().play_randomly(3)
    again = pickle.loads(pickle.dumps(state))
    assert again == state and hash(again) == hash(state)
    assert again.game.name == "connectfour"


def test_the_engines_agree():
    fast, slow = ludex.Game("tictactoe"), ludex.Game("tictactoe", engine="reasoner")
    assert fast.perft(4) == slow.perft(4) == [9, 72, 504, 3024]
    one, other = fast.initial_state(), slow.initial_state()
    for seed in range(5):
        moves = [one.legal_moves(role)[seed % len(one.legal_moves(role))] for role in (0, 1)]
        one, other = one.play(moves), other.play(moves)
        assert one.fluents == other.fluents and one.goals == other.goals
    with pytest.raises(ludex.LudexError, match="no circuit"):
        other.observation()


def test_observations_follow_the_fluents():
    game = ludex.Game("tictactoe")
    state = game.initial_state().play({"xplayer": "(mark 1 3)"})
    bits = state.observation()
    assert bits.dtype == np.uint8
    assert [name for name, bit in zip(game.fluents, bits) if bit] == state.fluents


def test_playouts_and_scrambled_twins():
    game = ludex.Game("tictactoe")
    report = game.initial_state().playouts(2_000, seed=1)
    assert report["count"] == 2_000
    assert 55 < report["mean_goals"]["xplayer"] < 70
    twin, names = game.scramble(7)
    assert twin.perft(3) == game.perft(3)
    assert "(cell" not in twin.rules and len(names) > 5


def test_exact_answers():
    report = ludex.solve(ludex.Game("tictactoe").initial_state(), time=60)
    assert report["solved"]
    assert report["values"] == {"xplayer": 50, "oplayer": 50}
    assert ludex.solve(ludex.Game(WALK).initial_state())["line"] == [["go"], ["go"]]


def test_threads_share_a_game():
    game = ludex.Game("connectfour")
    faults = []

    def play(seed):
        try:
            state = game.initial_state()
            while not state.is_terminal:
                state = state.play_randomly(seed)
        except BaseException as error:  # noqa: BLE001
            faults.append(error)

    threads = [threading.Thread(target=play, args=(seed,)) for seed in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults


def test_states_are_drawn():
    drawing = ludex.Game("connectfour").initial_state()._repr_svg_()
    assert drawing.startswith("<svg") and drawing.rstrip().endswith("</svg>")


def test_an_import_does_not_wait_for_numpy():
    code = "import sys, ludex; assert 'numpy' not in sys.modules; ludex.VectorEnv('nim', 2); import numpy"
    subprocess.run([sys.executable, "-c", code], check=True)
    with pytest.raises(AttributeError, match="nothing"):
        ludex.nothing
