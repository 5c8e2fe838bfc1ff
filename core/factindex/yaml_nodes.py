"""One YAML item through the YAML library (ruamel.yaml, YAML 1.2): its values, and where each of them stands.

The library's nodes carry line and column of every value, so that an edit can replace the characters of one value and
nothing else. No object is ever built from a tag, and an alias is not followed out of its item.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from core.factindex.facts import KEYS
from core.factindex.items import Block

if TYPE_CHECKING:
    from ruamel.yaml import YAML

_NUMBER = ("tag:yaml.org,2002:float", "tag:yaml.org,2002:int")
_NULL = "tag:yaml.org,2002:null"


class Span(NamedTuple):
    """Where a value stands in the file (offsets), and where its key begins."""

    start: int
    end: int
    key_start: int


@dataclass(frozen=True)
class Read:
    """What an item says. `spans` tells where the value of each key stands in the file; `flow` that the item is written
    in braces. `problem_line` counts from 0 at the item's first line."""

    fields: dict[str, Any] = field(default_factory=dict)
    spans: dict[str, Span] = field(default_factory=dict)
    flow: bool = False
    problem: str = ""
    problem_line: int = 0


@cache
def _library() -> YAML:
    from ruamel.yaml import YAML

    return YAML(typ="safe", pure=True)


def read_block(block: Block) -> Read:
    """The values of one item. What the library cannot read is told in `problem`."""
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    try:
        node: Any = _library().compose(block.as_yaml())
    except MarkedYAMLError as error:
        marks = [mark for mark in (error.problem_mark, error.context_mark) if mark is not None]
        last = block.text.count("\n", block.start, block.end - 1)
        mark = next((mark for mark in marks if mark.line <= last), None)
        why = error.problem or error.context or "it is not valid"
        return Read(problem=f"the item cannot be read as YAML: {why}", problem_line=mark.line if mark else 0)
    except (YAMLError, RecursionError, ValueError) as error:
        return Read(problem=f"the item cannot be read as YAML: {type(error).__name__}")
    rows = node.value if node is not None and node.id == "sequence" else []
    if len(rows) != 1 or rows[0].id != "mapping":
        return Read()
    places = _places(block)
    fields: dict[str, Any] = {}
    spans: dict[str, Span] = {}
    for key, value in rows[0].value:
        if key.id != "scalar" or key.value not in KEYS:
            continue
        if key.value in fields:
            return Read(problem=f"the key {key.value} stands twice", problem_line=key.start_mark.line)
        fields[key.value] = _plain(value, key.value)
        spans[key.value] = Span(places(value.start_mark), places(value.end_mark), places(key.start_mark))
    return Read(fields, spans, bool(rows[0].flow_style))


def _plain(node: Any, key: str) -> Any:
    """A node as text, number or list of texts; what is neither as a text that no validation accepts."""
    if node.id == "sequence":
        return [_scalar(one) if one.id == "scalar" else f"a {one.id}" for one in node.value]
    if node.id != "scalar":
        return f"a {node.id}"
    if key in ("confidence", "source_count") and node.tag in _NUMBER:
        text = node.value.replace("_", "")
        try:
            return int(text) if node.tag == _NUMBER[1] else float(text)
        except ValueError:
            return str(node.value)
    return _scalar(node)


def _scalar(node: Any) -> str | None:
    """The characters of a scalar. `2026` or `true` as a tag is the word that stands there."""
    return None if node.tag == _NULL and not node.value.strip() else str(node.value)


def _places(block: Block) -> Callable[[Any], int]:
    """Turns line and column of the YAML text into an offset in the file."""
    starts = [block.start]
    while (found := block.text.find("\n", starts[-1], block.end)) >= 0:
        starts.append(found + 1)

    def place(mark: Any) -> int:
        if mark.line >= len(starts):
            return block.end
        shift = block.shift if mark.line else 0
        line, column = int(mark.line), int(mark.column)
        return min(block.end, starts[line] + max(0, column - shift))

    return place
