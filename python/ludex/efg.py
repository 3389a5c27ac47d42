"""Games as extensive forms for Gambit.

Roles that choose at the same time are asked one after the other, and none is told what another chose
before the step is played. A role knows its own moves and what it saw of each step, or all moves where the
rules have no `sees`.
"""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike
from pathlib import Path

from ._ludex import Game, LimitError, LudexError, State

Known = tuple[tuple[str, ...], ...]
"""What each role knows, in the order of the roles."""


def to_efg(rules: Game | str | PathLike[str], *, max_nodes: int = 1_000_000) -> str:
    """Returns the whole tree of a game in the format of `.efg` files.

    Raises `LimitError` if it has more nodes.
    """
    game = rules if isinstance(rules, Game) else Game(rules)
    return "".join(_lines(game, max_nodes))


def write_efg(
    rules: Game | str | PathLike[str], path: str | PathLike[str], *, max_nodes: int = 1_000_000
) -> None:
    """Writes the whole tree of a game to a file, which appears when it is complete."""
    text = to_efg(rules, max_nodes=max_nodes)
    Path(path).write_text(text, encoding="utf-8")


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _lines(game: Game, max_nodes: int) -> Iterator[str]:
    roles = [role for role in game.roles if role not in game.random_roles]
    yield f"EFG 2 R {_quoted(game.name)} {{ {' '.join(_quoted(role) for role in roles)} }}\n"
    sets: dict[tuple[str, tuple[str, ...]], tuple[int, tuple[str, ...]]] = {}
    counts = dict.fromkeys(roles, 0)
    n_nodes = n_ends = n_draws = 0
    start: tuple[State, dict[str, str], Known] = (game.initial_state(), {}, tuple(() for _ in roles))
    stack = [start]
    while stack:
        state, chosen, known = stack.pop()
        n_nodes += 1
        if n_nodes > max_nodes:
            raise LimitError(f"the tree has more than {max_nodes} nodes; allow more by `max_nodes`")
        role: str | None = None
        moves: list[str] = []
        while not state.is_terminal:
            role, moves = _waiting(game, state, roles, chosen)
            if role is not None:
                break
            state, known = _play(game, state, roles, chosen, known)
            chosen = {}
        if role is None:
            n_ends += 1
            goals = state.goals
            payoffs = ", ".join(str(goals[role] or 0) for role in roles)
            yield f't "" {n_ends} "" {{ {payoffs} }}\n'
            continue
        if role in game.random_roles:
            n_draws += 1
            actions = " ".join(f"{_quoted(move)} 1/{len(moves)}" for move in moves)
            yield f'c "" {n_draws} "" {{ {actions} }} 0\n'
        else:
            key = (role, known[roles.index(role)])
            if key not in sets:
                counts[role] += 1
                sets[key] = (counts[role], tuple(moves))
            number, there = sets[key]
            if there != tuple(moves):
                message = f"{role!r} cannot tell states with other legal moves apart: the rules are broken"
                raise LudexError(message)
            actions = " ".join(_quoted(move) for move in moves)
            yield f'p "" {roles.index(role) + 1} {number} "" {{ {actions} }} 0\n'
        stack.extend((state, {**chosen, role: move}, known) for move in reversed(moves))


def _waiting(
    game: Game, state: State, roles: list[str], chosen: dict[str, str]
) -> tuple[str | None, list[str]]:
    """Returns the role that chooses next and its moves: players first, then chance."""
    for role in [*roles, *game.random_roles]:
        if role not in chosen:
            moves = sorted(state.legal_moves(role))
            if len(moves) > 1:
                return role, moves
    return None, []


def _play(
    game: Game, state: State, roles: list[str], chosen: dict[str, str], known: Known
) -> tuple[State, Known]:
    joint = {role: chosen.get(role) or state.legal_moves(role)[0] for role in game.roles}
    after = state.play(joint)
    if game.has_percepts:
        seen = [(joint[role], *sorted(after.percepts(role))) for role in roles]
    else:
        seen = [tuple(joint.values()) for _ in roles]
    return after, tuple((*old, " ".join(new)) for old, new in zip(known, seen))
