"""A picture of matplotlib as SVG inside of a page: it takes its colours and its font from there."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from typing import Any
from xml.etree import ElementTree

import matplotlib
from markupsafe import Markup
from matplotlib.figure import Figure

from airflow_common_ai.evals.report.plain import plain

__all__ = ["Colour", "drawing", "inline_svg"]


class Colour(StrEnum):
    """
    What is drawn in this stands in the page as a variable of its style sheet, so light and dark are one picture.

    The values are no colours that anybody chose: they are found again and replaced.
    """

    INK = "#5eed01"
    MUTED = "#5eed02"
    LINE = "#5eed03"
    ACCENT = "#5eed04"
    WARN = "#5eed05"
    BAD = "#5eed06"


_STYLE: Mapping[Any, object] = {
    "svg.fonttype": "none",  # text stays text: it can be read aloud, found and copied
    "svg.id": None,
    "text.parse_math": False,  # a $ in a stranger's category is no formula
    "axes.unicode_minus": False,
    "font.size": 11.0,
    "text.color": Colour.INK.value,
    "axes.labelcolor": Colour.MUTED.value,
    "axes.edgecolor": Colour.LINE.value,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": Colour.LINE.value,
    "ytick.color": Colour.LINE.value,
    "xtick.labelcolor": Colour.MUTED.value,
    "ytick.labelcolor": Colour.MUTED.value,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": Colour.LINE.value,
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "legend.labelcolor": Colour.INK.value,
}
_NO_METADATA = dict.fromkeys(("Date", "Creator", "Format", "Type"))  # a date would make every report a new one
_COLOUR = re.compile("|".join(colour.value for colour in Colour))
_FONT_FAMILY = re.compile(r"font-family: [^;]*;? ?")
_REFERENCE = re.compile(r"^#|(?<=^url\()#")
_UNUSED = ("metadata", "style")


@contextmanager
def drawing(name: str) -> Iterator[None]:
    """Draw in our style, whatever style the user has set, and the same bytes each time."""
    with matplotlib.rc_context(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")  # the reader's font is another one anyway
        matplotlib.rcdefaults()
        matplotlib.rcParams.update({**_STYLE, "svg.hashsalt": name})
        yield


def inline_svg(figure: Figure, name: str, title: str, description: str) -> Markup:
    """
    Return a figure as an ``<svg>`` element.

    :param name: No other picture of the page has it.
    :param title: What is seen; read aloud.
    :param description: What it says, in words.
    """
    file = io.StringIO()
    figure.savefig(file, format="svg", transparent=True, metadata=_NO_METADATA)
    root = ElementTree.fromstring(file.getvalue())  # noqa: S314  # matplotlib wrote it just now
    width = float(root.get("viewBox", "").split()[2])
    for parent in list(root.iter()):
        for child in list(parent):
            if _local(child.tag) in _UNUSED:
                parent.remove(child)
    for element in root.iter():
        element.tag = _local(element.tag)
        element.attrib = dict(_attributes(element.attrib, name))
    root.attrib = {
        "viewBox": root.get("viewBox", ""),
        "role": "img",
        "aria-labelledby": f"{name}-title {name}-words",
        # Smaller than this its text is too small to read; then the box around it scrolls.
        "style": f"min-width: {0.84 * width:.0f}px; max-width: {1.3 * width:.0f}px",
    }
    for tag, text in (("desc", description), ("title", title)):
        element = ElementTree.Element(tag, {"id": f"{name}-{'title' if tag == 'title' else 'words'}"})
        element.text = plain(text)
        root.insert(0, element)
    return Markup(ElementTree.tostring(root, encoding="unicode"))  # noqa: S704  # escaped by ElementTree


def _attributes(attributes: Mapping[str, str], name: str) -> Iterator[tuple[str, str]]:
    """Yield attributes as HTML has them; ids are made the page's own by the name of the picture."""
    for key, value in attributes.items():
        match _local(key):
            case "id":
                yield "id", f"{name}-{value}"
            case "style":
                yield "style", _COLOUR.sub(_variable, _FONT_FAMILY.sub("", value))
            case local:
                yield local, _REFERENCE.sub(f"#{name}-", value)


def _variable(found: re.Match[str]) -> str:
    return f"var(--{Colour(found[0]).name.lower()})"


def _local(name: str) -> str:
    return name.rpartition("}")[2]
