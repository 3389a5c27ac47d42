"""Plays the same random games here and in OpenSpiel: legal moves, ends and rewards must agree.

    pip install ./python open_spiel && python python/tasks/compare_open_spiel.py [PLAYOUTS]
"""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass

import pyspiel

import ludex

Translate = Callable[[str, int, "pyspiel.State"], int]
"""From the text of a move, the number of the player and the other state to the action there."""


@dataclass(frozen=True)
class Pair:
    rules: str
    other: str
    translate: Translate
    rewards: Callable[[int], float]


def numbers(text: str) -> list[int]:
    return [int(word) for word in re.findall(r"\d+", text)]


def by_text(write: Callable[[str], str]) -> Translate:
    """Translates by the text that OpenSpiel writes for the action; it marks captures with a star."""

    def translate(text: str, player: int, state: pyspiel.State) -> int:
        wanted = write(text)
        for action in state.legal_actions():
            if state.action_to_string(player, action).rstrip("*") == wanted:
                return int(action)
        raise KeyError(f"no action {wanted!r} for {text!r}:\n{state}")

    return translate


def cell(column: int, row: int) -> str:
    return f"{'abcdefghij'[column - 1]}{row}"


def tictactoe(text: str) -> str:
    row, column = numbers(text)
    return f"({row - 1},{column - 1})"


def breakthrough(text: str) -> str:
    # Its first player begins at the top.
    a, b, c, d = numbers(text)
    return cell(a, 9 - b) + cell(c, 9 - d)


def nim(text: str) -> str:
    _, pile, count = text.strip("()").split()
    return f"pile:{'abcd'.index(pile) + 1}, take:{count};"


def zero_sum(goal: int) -> float:
    return (goal - 50) / 50


PAIRS = [
    Pair(
        "tictactoe",
        "tic_tac_toe",
        lambda text, player, state: by_text(lambda it: "xo"[player] + tictactoe(it))(text, player, state),
        zero_sum,
    ),
    Pair(
        "connectfour",
        "connect_four",
        lambda text, player, state: numbers(text)[0] - 1,
        zero_sum,
    ),
    Pair("breakthrough", "breakthrough", by_text(breakthrough), zero_sum),
    Pair("hex", "hex(board_size=7)", by_text(lambda text: cell(*numbers(text))), zero_sum),
    Pair("reversi", "othello", by_text(lambda text: cell(*numbers(text))), zero_sum),
    Pair("nim", "nim(is_misere=false)", by_text(nim), zero_sum),
    Pair("kuhn-poker", "kuhn_poker", by_text(str.capitalize), lambda goal: (goal - 50) / 25),
]


def settle(state: ludex.State, twin: pyspiel.State, rng: random.Random) -> ludex.State:
    """Plays what nobody chooses: deals, and steps in which all moves are forced."""
    while not state.is_terminal and not state.to_play:
        if twin.is_chance_node():
            deals = state.legal_moves("random")
            deal = rng.choice(deals)
            cards = [["jack", "queen", "king"].index(card) for card in deal.strip("()").split()[1:]]
            for card in cards:
                twin.apply_action(card)
            state = state.play({"random": deal})
        else:
            if len(twin.legal_actions()) != 1:
                raise KeyError(f"a step is forced here and not there:\n{twin}")
            twin.apply_action(twin.legal_actions()[0])
            state = state.play({})
    return state


def compare(pair: Pair, n_playouts: int) -> str:
    """Returns what differs, or that nothing does."""
    game, other = ludex.Game(pair.rules), pyspiel.load_game(pair.other)
    rng = random.Random(0)
    n_states = 0
    for _ in range(n_playouts):
        state, twin = game.initial_state(), other.new_initial_state()
        while not (state := settle(state, twin, rng)).is_terminal:
            player = twin.current_player()
            role = game.roles[player]
            moves = state.legal_moves(role)
            translated = {pair.translate(move, player, twin): move for move in moves}
            if sorted(translated) != sorted(twin.legal_actions()):
                return f"legal moves differ after {twin.history()}: {sorted(translated)}"
            action = rng.choice(sorted(translated))
            state = state.play({role: translated[action]})
            twin.apply_action(action)
            n_states += 1
        roles = [role for role in game.roles if role not in game.random_roles]
        goals = [pair.rewards(state.goals[role] or 0) for role in roles]
        if not twin.is_terminal() or goals != twin.returns():
            return f"ends differ after {twin.history()}: {goals} and {twin.returns()}"
    return f"no difference in {n_playouts} playouts, {n_states} states"


def main() -> int:
    n_playouts = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000
    has_failed = False
    for pair in PAIRS:
        found = compare(pair, n_playouts)
        has_failed |= not found.startswith("no difference")
        print(f"{pair.rules} and {pair.other}: {found}", flush=True)
    return int(has_failed)


if __name__ == "__main__":
    sys.exit(main())
