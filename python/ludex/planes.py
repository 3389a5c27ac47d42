"""States as named planes over the boards that the rules describe."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from . import _ludex
from ._ludex import Game, State


class Planes:
    """The planes of a game: one for each kind of content of a board, such as `cell x`.

    A plane has a 1 wherever its content is, row 0 at the bottom. Fluents beside the boards, such as whose
    turn it is, have planes that are all 1 or all 0, unless `others` is `False`. Several boards are laid
    over each other from the bottom left; their planes have the number of the board in front.
    """

    def __init__(self, game: Game, *, others: bool = True) -> None:
        spots = _ludex.spots(game)
        boards = sorted({spot[0] for spot in spots if spot is not None})
        if not boards:
            raise ValueError("no board was recognised in the rules; use the bits of the fluents")
        self.rows = 1 + max(spot[2] for spot in spots if spot is not None)
        self.columns = 1 + max(spot[3] for spot in spots if spot is not None)
        numbers: dict[str, int] = {}
        from_fluents: list[int] = []
        to_cells: list[int] = []
        size = self.rows * self.columns
        for fluent, (text, spot) in enumerate(zip(game.fluents, spots)):
            if spot is None:
                if not others:
                    continue
                plane = numbers.setdefault(text, len(numbers))
                cells = range(plane * size, (plane + 1) * size)
            else:
                board, name, row, column = spot
                name = name if len(boards) == 1 else f"{1 + boards.index(board)}: {name}"
                plane = numbers.setdefault(name, len(numbers))
                cell = plane * size + row * self.columns + column
                cells = range(cell, cell + 1)
            from_fluents.extend(fluent for _ in cells)
            to_cells.extend(cells)
        self.names = list(numbers)
        """The names of the planes, in order."""
        self.shape = (len(self.names), self.rows, self.columns)
        self._from = np.array(from_fluents, dtype=np.intp)
        self._to = np.array(to_cells, dtype=np.intp)

    def of(self, seen: State | NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Returns the planes of a state, or of each row of observations."""
        bits = seen.observation() if isinstance(seen, State) else seen
        planes = np.zeros((*bits.shape[:-1], int(np.prod(self.shape))), dtype=np.uint8)
        # Several fluents may mean the same cell of the same plane only if their texts are equal.
        planes[..., self._to] = bits[..., self._from]
        return planes.reshape((*bits.shape[:-1], *self.shape))
