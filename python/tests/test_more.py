"""Drawings as pixels, planes, symmetries, extensive forms, options and ratings."""

import re

import ludex
import ludex.gymnasium
import ludex.pettingzoo
import numpy as np
import pytest
from test_game import WALK


def test_drawings_become_pixels():
    state = ludex.Game("connectfour").initial_state()
    empty = ludex.rgb_array(state.svg())
    assert empty.dtype == np.uint8 and empty.ndim == 3 and empty.shape[2] == 3
    # One piece changes a small part of the image; a larger scale has more pixels.
    after = ludex.rgb_array(state.play({"red": "(drop 1)"}).svg())
    changed = (empty != after).any(axis=2)
    assert 0.005 < changed.mean() < 0.2
    large = ludex.rgb_array(state.svg(), scale=2.0)
    assert large.shape[0] == pytest.approx(2 * empty.shape[0], abs=2)
    env = ludex.gymnasium.Env("eight-puzzle", render_mode="rgb_array")
    env.reset(seed=1)
    assert env.render().std() > 10
    for name in ludex.games():
        assert ludex.rgb_array(ludex.Game(name).initial_state().svg()).size > 0


def test_planes_hold_what_the_board_holds():
    game = ludex.Game("tictactoe")
    planes = ludex.Planes(game)
    assert planes.shape[1:] == (3, 3)
    state = game.initial_state().play({"xplayer": "(mark 1 3)"})
    filled = planes.of(state)
    assert filled[planes.names.index("cell x")].sum() == 1
    assert filled[planes.names.index("cell b")].sum() == 8
    # The first coordinate runs to the right, the second one up.
    assert filled[planes.names.index("cell x"), 2, 0] == 1
    turn = planes.names.index("(control oplayer)")
    assert filled[turn].all() and not planes.of(game.initial_state())[turn].any()
    # A vector of states has the planes of each.
    env = ludex.VectorEnv(game, 10)
    many = planes.of(env.reset().observations)
    assert (many == planes.of(game.initial_state())).all()
    with pytest.raises(ValueError, match="no board"):
        ludex.Planes(ludex.Game(WALK))
    seen = ludex.pettingzoo.env("connectfour", observations="planes")
    seen.reset(seed=1)
    assert seen.observe("red")["observation"].shape == seen.observation_space("red")["observation"].shape


def test_arrays_are_shared_by_dlpack():
    env = ludex.VectorEnv("tictactoe", 8, copy=False)
    step = env.reset()
    shared = np.from_dlpack(step.observations)
    env.step(np.full(8, -1))
    assert np.shares_memory(shared, step.observations)
    assert (shared == env.lanes.observations).all()


def test_symmetries_keep_the_rules():
    game = ludex.Game("tictactoe")
    found = ludex.symmetries(game, roles=False)
    assert found.order == 8 and found.is_complete
    state = game.initial_state().play({"xplayer": "(mark 1 1)"})
    images = found.images(state)
    assert images[0][0] == state and len(images) == 4
    assert len({image for image, _ in images}) == 4
    for image, symmetry in images:
        assert symmetry.keeps_roles and symmetry.state(state) == image
        assert symmetry.inverse().state(image) == state
        for move in state.legal_moves("oplayer"):
            role, moved = symmetry.move("oplayer", move)
            after = image.play({role: moved})
            assert after == symmetry.state(state.play({"oplayer": move}))
        # As arrays: observations and actions are rearranged.
        bits = np.zeros_like(state.observation())
        bits[symmetry.fluents()] = state.observation()
        assert (bits == image.observation()).all()
        legal = {symmetry.actions("oplayer")[it] for it in state.legal_actions("oplayer")}
        assert legal == set(image.legal_actions("oplayer"))
    walk = ludex.Game(WALK)
    assert [image for image, _ in ludex.symmetries(walk).images(walk.initial_state())] == [walk.initial_state()]
    with pytest.raises(ValueError, match="another game"):
        found.images(walk.initial_state())


def test_rules_are_printed_and_traced():
    game = ludex.Game("tictactoe")
    assert "<=" in game.print("kif") and ":-" in game.print("infix")
    assert ludex.Game(game.print()).perft(2) == game.perft(2)
    lines = ludex.trace(game)
    assert lines["roles"] == game.roles and len(lines["lines"]["min"]["steps"]) > 3
    assert lines["lines"] == ludex.trace(ludex.Game("tictactoe", engine="reasoner"))["lines"]


def test_extensive_forms():
    text = ludex.to_efg("kuhn-poker")
    assert text.startswith('EFG 2 R "kuhn-poker" { "')
    kinds = [line[0] for line in text.splitlines()[1:]]
    # Six deals, five endings each; a player with a card knows what was bet and nothing else.
    assert (kinds.count("c"), kinds.count("t")) == (1, 30)
    sets = set(re.findall(r'^p "" (\d \d+)', text, re.MULTILINE))
    assert len(sets) == 12
    matching = ludex.to_efg("rock-paper-scissors", max_nodes=100_000)
    first, second = [line for line in matching.splitlines() if line.startswith("p")][:2]
    assert first.startswith('p "" 1 1 ') and second.startswith('p "" 2 1 ')
    with pytest.raises(ludex.LimitError, match="more than 100 nodes"):
        ludex.to_efg("connectfour", max_nodes=100)


def test_gambit_reads_extensive_forms(tmp_path):
    pygambit = pytest.importorskip("pygambit")
    ludex.write_efg("kuhn-poker", tmp_path / "kuhn.efg")
    game = pygambit.read_efg(str(tmp_path / "kuhn.efg"))
    solution = pygambit.nash.lcp_solve(game, use_strategic=False, rational=False).equilibria[0]
    values = [float(solution.payoff(player)) for player in game.players]
    # The first player loses 1/18 of an ante, which is 25 points of the goal.
    assert values[0] == pytest.approx(50 - 25 / 18, abs=1e-6)
    assert values[1] == pytest.approx(50 + 25 / 18, abs=1e-6)


def test_options_have_types():
    options = {it.name: it for it in ludex.player_options("uct")}
    assert isinstance(options["c"].default, float) and options["c"].about
    assert ludex.player("uct", c=0.7) == "uct:c=0.7"
    with pytest.raises(ValueError, match="at byte"):
        ludex.player("uct", nonsense=1)
    state = ludex.Game("tictactoe").initial_state()
    assert ludex.choose(state, "xplayer", ludex.player("uct", c=2.0), iterations=50)["move"]


def test_strength_and_ratings():
    settings = {"iterations": 60, "play_clock": 60, "start_clock": 60}
    test = ludex.strength_test("tictactoe", "uct", "random", max_matches=60, **settings)
    assert test.stronger == "uct" and 2 < len(test.series.matches) < 60
    draw = ludex.strength_test("tictactoe", "random", "uct", max_matches=2, **settings)
    assert draw.stronger is None
    with pytest.raises(ValueError, match="same name"):
        ludex.strength_test("tictactoe", "uct", "uct")
    with pytest.raises(ValueError, match="margin"):
        ludex.strength_test("tictactoe", "uct", "random", margin=0.7)
    rated = ludex.ratings([test.series, draw.series])
    assert [it.player for it in rated] == ["uct", "random"]
    assert rated[0].elo == pytest.approx(-rated[1].elo) and rated[0].error > 0
    rows = test.series.records()
    assert {"match", "role", "player", "goal"} <= set(rows[0]) and len(rows) == 2 * len(test.series.matches)
