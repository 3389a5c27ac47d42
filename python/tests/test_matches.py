"""Players and matches."""

import time

import ludex
import pytest


def test_a_search_finds_the_win():
    state = ludex.Game("tictactoe").initial_state()
    for own, other in [("(mark 1 1)", "(mark 2 1)"), ("(mark 1 2)", "(mark 2 2)")]:
        state = state.play({"xplayer": own}).play({"oplayer": other})
    found = ludex.choose(state, "xplayer", "uct", iterations=2_000)
    assert found["move"] == "(mark 1 3)"
    assert found["moves"][0][0] in state.legal_moves("xplayer")
    with pytest.raises(ValueError, match="player"):
        ludex.choose(state, "xplayer", "nobody")


def test_equal_seeds_give_equal_matches():
    def play(threads):
        return ludex.play_series(
            "tictactoe", ["uct", "random"], count=4, iterations=50, play_clock=20, seed=5, threads=threads
        )

    one, two = play(1), play(2)
    assert [it["moves"] for it in one.matches] == [it["moves"] for it in two.matches]
    assert [row["name"] for row in one.table] == ["uct", "random"]
    assert one.table == two.table


class First:
    """Plays the first legal move."""

    name = "first"

    def choose(self, role, fluents, legal_moves, seen, seconds):
        assert fluents and seconds > 0
        return legal_moves[0]


class Slow:
    """Never answers in time."""

    def choose(self, role, fluents, legal_moves, seen, seconds):
        time.sleep(seconds + 0.2)
        return legal_moves[0]


class Wrong:
    """Answers with nonsense, or not at all."""

    def choose(self, role, fluents, legal_moves, seen, seconds):
        if len(legal_moves) % 2:
            raise RuntimeError("no idea")
        return "nonsense"


def test_players_written_in_python():
    series = ludex.play_series("tictactoe", [First(), "random"], count=2, play_clock=20)
    assert [row["name"] for row in series.table] == ["first", "random"]
    assert all(match["ending"] == "terminal" for match in series.matches)


def test_late_and_wrong_moves_are_replaced_and_counted():
    series = ludex.play_series("tictactoe", [Slow(), Wrong()], count=1, play_clock=0.1)
    assert series.matches[0]["ending"] == "terminal"
    slow, wrong = series.table
    assert slow["late"] > 0 and wrong["illegal"] + wrong["failed"] > 0
