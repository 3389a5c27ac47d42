"""Drawings of states as arrays of pixels, without other libraries.

It reads only what `State.svg` writes: rectangles, circles, convex polygons, lines and texts.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

Image = NDArray[np.uint8]

# Letters of three columns and five rows: each digit is a row, its bits are the columns.
_LETTERS = {
    "0": "75557", "1": "26227", "2": "71747", "3": "71717", "4": "55711", "5": "74717",
    "6": "74757", "7": "71222", "8": "75757", "9": "75717", "A": "25755", "B": "65656",
    "C": "34443", "D": "65556", "E": "74647", "F": "74644", "G": "34553", "H": "55755",
    "I": "72227", "J": "11152", "K": "55655", "L": "44447", "M": "57755", "N": "65555",
    "O": "25552", "P": "65644", "Q": "25563", "R": "65655", "S": "34216", "T": "72222",
    "U": "55557", "V": "55552", "W": "55775", "X": "55255", "Y": "55222", "Z": "71247",
    " ": "00000", "-": "00700", ".": "00002", ":": "02020", "+": "02720", "=": "07070",
    "(": "12221", ")": "42224", "/": "11244", ",": "00024", "'": "22000", "_": "00007",
    "#": "57575", "*": "52500", "<": "12421", ">": "42124",
}  # fmt: skip
_UNKNOWN = "71202"
_PIECES = dict(zip("♔♕♖♗♘♙♚♛♜♝♞♟", "KQRBNPKQRBNP"))


class _Canvas:
    def __init__(self, width: float, height: float, scale: float) -> None:
        self.scale = scale
        size = (max(round(height * scale), 1), max(round(width * scale), 1), 3)
        self.pixels: Image = np.full(size, 255, dtype=np.uint8)

    def box(self, left: float, top: float, right: float, bottom: float) -> tuple[slice, slice]:
        """Returns the pixels that a shape can touch."""
        rows = slice(max(math.floor(top * self.scale), 0), max(math.ceil(bottom * self.scale) + 1, 0))
        columns = slice(max(math.floor(left * self.scale), 0), max(math.ceil(right * self.scale) + 1, 0))
        return rows, columns

    def places(self, box: tuple[slice, slice]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Returns the centers of pixels in the units of the drawing."""
        n_rows, n_columns = self.pixels[box].shape[:2]
        y = (np.arange(n_rows) + box[0].start + 0.5)[:, None] / self.scale
        x = (np.arange(n_columns) + box[1].start + 0.5)[None, :] / self.scale
        return x, y

    def polygon(self, corners: list[tuple[float, float]], fill: str | None, stroke: str | None, width: float) -> None:
        xs, ys = [x for x, _ in corners], [y for _, y in corners]
        box = self.box(min(xs), min(ys), max(xs), max(ys))
        x, y = self.places(box)
        edges = list(zip(corners, corners[1:] + corners[:1]))
        if fill is not None:
            sides = [(bx - ax) * (y - ay) - (by - ay) * (x - ax) for (ax, ay), (bx, by) in edges]
            inside = np.logical_and.reduce([side >= 0 for side in sides])
            inside |= np.logical_and.reduce([side <= 0 for side in sides])
            self.pixels[box][inside] = _color(fill)
        if stroke is not None:
            for (ax, ay), (bx, by) in edges:
                self.line(ax, ay, bx, by, stroke, width)

    def circle(self, cx: float, cy: float, radius: float, fill: str | None, stroke: str | None, width: float) -> None:
        box = self.box(cx - radius - width, cy - radius - width, cx + radius + width, cy + radius + width)
        x, y = self.places(box)
        distance = np.hypot(x - cx, y - cy)
        if fill is not None:
            self.pixels[box][distance <= radius] = _color(fill)
        if stroke is not None:
            self.pixels[box][np.abs(distance - radius) <= max(width, 1 / self.scale) / 2] = _color(stroke)

    def line(self, ax: float, ay: float, bx: float, by: float, stroke: str, width: float) -> None:
        box = self.box(min(ax, bx) - width, min(ay, by) - width, max(ax, bx) + width, max(ay, by) + width)
        x, y = self.places(box)
        length = max((bx - ax) ** 2 + (by - ay) ** 2, 1e-9)
        part = np.clip(((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / length, 0, 1)
        near = np.hypot(x - ax - part * (bx - ax), y - ay - part * (by - ay)) <= max(width, 1 / self.scale) / 2
        self.pixels[box][near] = _color(stroke)

    def text(self, words: str, x: float, y: float, size: float, fill: str) -> None:
        """Writes words; `x` and `y` are the left and the top of the first letter."""
        dot = 0.7 * size / 5
        for place, letter in enumerate(words):
            rows = _LETTERS.get(_PIECES.get(letter, letter).upper(), _UNKNOWN)
            for row, bits in enumerate(rows):
                for column in range(3):
                    if int(bits) >> (2 - column) & 1:
                        left, top = x + (4 * place + column) * dot, y + row * dot
                        first_row, last_row = round(top * self.scale), round((top + dot) * self.scale)
                        first, last = round(left * self.scale), round((left + dot) * self.scale)
                        if min(first_row, first) >= 0:
                            self.pixels[first_row : max(last_row, first_row + 1), first : max(last, first + 1)] = _color(fill)


def _color(text: str) -> tuple[int, int, int]:
    digits = text.lstrip("#")
    if len(digits) == 3:
        digits = "".join(2 * digit for digit in digits)
    return int(digits[0:2], 16), int(digits[2:4], 16), int(digits[4:6], 16)


def _corners(text: str) -> list[tuple[float, float]]:
    numbers = [float(word) for word in re.findall(r"-?[\d.]+", text)]
    return list(zip(numbers[::2], numbers[1::2]))


def _elements(root: ElementTree.Element) -> Iterable[ElementTree.Element]:
    return (element for element in root.iter() if isinstance(element.tag, str))


def rgb_array(svg: str, *, scale: float = 1.0) -> Image:
    """Returns a drawing as pixels: rows, columns, and red, green and blue."""
    root = ElementTree.fromstring(svg)
    canvas = _Canvas(float(root.get("width", "1")), float(root.get("height", "1")), scale)
    for element in _elements(root):
        kind = element.tag.rpartition("}")[2]

        def number(name: str, otherwise: float = 0.0, element: ElementTree.Element = element) -> float:
            return float(element.get(name, otherwise))

        fill, stroke, width = element.get("fill"), element.get("stroke"), number("stroke-width", 1.0)
        if kind == "rect":
            left, top = number("x"), number("y")
            right, bottom = left + number("width"), top + number("height")
            corners = [(left, top), (right, top), (right, bottom), (left, bottom)]
            canvas.polygon(corners, fill, stroke, width)
        elif kind == "polygon":
            canvas.polygon(_corners(element.get("points", "")), fill, stroke, width)
        elif kind == "circle":
            canvas.circle(number("cx"), number("cy"), number("r"), fill, stroke, width)
        elif kind == "line" and stroke is not None:
            canvas.line(number("x1"), number("y1"), number("x2"), number("y2"), stroke, width)
        elif kind == "text" and element.text:
            size, words = number("font-size", 12.0), element.text
            dot = 0.7 * size / 5
            left, top = number("x"), number("y") - 5 * dot
            if element.get("text-anchor") == "middle":
                left -= (4 * len(words) - 1) * dot / 2
            if element.get("dominant-baseline") == "central":
                top += 2.5 * dot
            canvas.text(words, left, top, size, fill or "#000")
    return canvas.pixels
