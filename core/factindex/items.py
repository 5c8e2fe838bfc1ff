"""Finds the YAML items in a knowledge file of the fact index: frontmatter, markdown for people, items under the
headings.

Such a file is no YAML document, so it is taken apart line by line: an item begins with a dash and a key and reaches to
the next item, heading or sentence. What we write ourselves has one fixed shape and is read by one expression; every
other item, however a user has indented, quoted, folded or commented it, is read by the YAML library. An item
whose keys stand flush with their dash is understood as well. Text in, records out; nothing here touches disk.

No object is ever built from a tag, and an alias is not followed out of its item.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from core.factindex.facts import KEYS

BOM = "\ufeff"
ITEM_CHARACTERS = 65_536
"""A longer item is no fact; it is not given to the YAML library."""

_WORDS = "|".join(KEYS)
_DATE = r'"(\d{4}-\d\d-\d\d)"'
_PLAIN_ID = r"[^\s\"'#&*!|>%@`{}\[\],?-][^\s\"'#{}\[\],]*"
_END = r"[ \t]*\r?\n"
OURS = re.compile(
    rf"- id: ({_PLAIN_ID}){_END}"
    rf'  fact: ("(?:[^"\\\r\n]|\\["\\nt])*"){_END}'
    rf"  confidence: (\d(?:\.\d{{1,9}})?){_END}"
    rf"(?:  tags: \[([a-z0-9-]+(?:, [a-z0-9-]+)*)\]{_END})?"
    rf"(?:  source_count: (\d{{1,9}}){_END})?"
    rf"(?:  first_seen: {_DATE}{_END})?"
    rf"(?:  last_confirmed: {_DATE}{_END})?"
    rf"(?:  expires: {_DATE}{_END})?"
    rf"(?:  related: \[({_PLAIN_ID}(?:, {_PLAIN_ID})*)\]{_END})?"
    r"(?=(?:\r?\n|#[^\n]*\n)*(?:[^ \t\r\n#]|#[^\n]*\Z|\Z))"  # and nothing that could still belong to it
)
"""An item as edits.py writes it."""

_FRONT = re.compile(r"---[ \t]*\r?\n(?P<body>.*?)^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_FRONT_LINE = re.compile(
    r"""(?m)^(?P<key>domain|category|version|last_updated)[ \t]*:[ \t]*"""
    r"""(?:"(?P<double>[^"\n]*)"|'(?P<single>[^'\n]*)'|(?P<plain>[^\s#"'][^\n#]*?)?)[ \t]*(?:\#[^\n]*)?\r?$"""
)
_DASH = re.compile(r"(?m)^ *-(?=[ \t\r\n])")
_FIRST_KEY = re.compile(r"(?P<indent> *)-(?P<gap>[ \t]+)(?:\{|[\"']?[\w-]+[\"']?[ \t]*:(?=[ \t\r\n]))")
_KEY_BELOW = re.compile(r"(?P<indent> *)-[ \t]*(?:#[^\n]*)?\r?\n(?P<below> +)[\"']?[\w-]+[\"']?[ \t]*:(?=[ \t\r\n])")
_KEY_LINE = re.compile(r" *[\"']?[\w-]+[\"']?[ \t]*:(?=[ \t\r\n]|\Z)")
_OUR_KEY = re.compile(rf"[\"']?(?:{_WORDS})[\"']?[ \t]*:(?=[ \t\r\n]|\Z)")
_OUR_ITEM = re.compile(rf" *-[ \t]+[\"']?(?:{_WORDS})[\"']?[ \t]*:(?=[ \t\r\n]|\Z)")
_FOLDED = re.compile(r"[^:]*:[ \t]+[|>][-+0-9]*[ \t]*(?:#.*)?\Z")
_TELLS = re.compile(r"(?m)(?:^ *(?:-[ \t]+)?|[{,]\s*)[\"']?(?:id|fact)[\"']?[ \t]*:(?=\s)")
_SOME_ID = re.compile(r"(?m)(?:^ *(?:-[ \t]+)?|[{,]\s*)[\"']?id[\"']?[ \t]*:[ \t]*[\"']?(?P<id>[^\s\"'#,}]+)")


@dataclass(frozen=True)
class Item:
    """One item as it stands in a file: offsets `start` to `end` of whole lines, `line` counting from 1, and its
    `fields` as the YAML says them (texts, numbers, lists; a value that is no such thing stays a text). `problem` says
    why it cannot be read, with the line; `fields` then holds only what could be guessed."""

    start: int
    end: int
    line: int
    fields: dict[str, Any]
    problem: str = ""
    problem_line: int = 0
    ours: bool = False

    @property
    def id(self) -> str:
        found = self.fields.get("id")
        return found if isinstance(found, str) else ""


def scan(text: str, body: int | None = None) -> list[Item]:
    """The items of a file, of which `body` is the offset behind its frontmatter where that is known. Never fails: what
    cannot be read is an item with a problem, everything else is prose."""
    return list(_items(text, frontmatter(text)[1] if body is None else body))


def frontmatter(text: str) -> tuple[dict[str, str], int]:
    """What the frontmatter says about the file (domain, category, version, last_updated) and the offset after it."""
    start = len(BOM) if text.startswith(BOM) else 0
    while text.startswith(("\n", "\r\n"), start):
        start = text.index("\n", start) + 1
    found = _FRONT.match(text, start)
    if found is None:
        return {}, start
    front = {}
    for row in _FRONT_LINE.finditer(found["body"]):
        value = next((part for part in (row["double"], row["single"], row["plain"]) if part is not None), "")
        front[row["key"]] = value.strip()
    return front, found.end()


def _items(text: str, at: int) -> Iterator[Item]:
    line, counted = 1 + text.count("\n", 0, at), at
    while True:
        ours = OURS.match(text, at)
        if ours is None:
            dash = _DASH.search(text, at)
            if dash is None:
                return
            at = dash.start()
            ours = OURS.match(text, at)
        line, counted = line + text.count("\n", counted, at), at
        if ours is not None:
            yield Item(at, ours.end(), line, _our_fields(ours), ours=True)
            at = ours.end()
            continue
        item = _foreign_item(text, at, line)
        if item is not None:
            yield item
        at = item.end if item is not None else end_of_line(text, at)


def _our_fields(found: re.Match[str]) -> dict[str, Any]:
    name, fact, confidence, tags, count, first, last, expires, related = found.groups()
    fields = {"id": name, "fact": json.loads(fact) if "\\" in fact else fact[1:-1], "confidence": float(confidence)}
    optional = {
        "tags": tags and tags.split(", "),
        "source_count": count and int(count),
        "first_seen": first,
        "last_confirmed": last,
        "expires": expires,
        "related": related and related.split(", "),
    }
    return fields | {key: value for key, value in optional.items() if value is not None}


def end_of_line(text: str, at: int) -> int:
    """The offset after the line break that ends the line at `at`."""
    found = text.find("\n", at)
    return len(text) if found < 0 else found + 1


# --- items that a user has written or changed ----------------------------------------------------------------------


def _foreign_item(text: str, start: int, line: int) -> Item | None:
    """The item that begins at the dash, or None where the dash is that of a list in prose."""
    block = block_at(text, start)
    if block is None or not _TELLS.search(text, start, block.end):
        return None
    known = _SOME_ID.search(text, start, block.end)
    guess = {"id": known["id"]} if known else {}
    if block.end - start > ITEM_CHARACTERS:
        return Item(start, block.end, line, guess, f"the item is longer than {ITEM_CHARACTERS} characters", line)
    read = read_block(block)
    if read.problem and block.gap:  # what follows an empty line may be prose that is indented, as code is
        shorter = replace(block, end=block.gap, gap=0)
        again = read_block(shorter)
        block, read = (block, read) if again.problem else (shorter, again)
    if read.problem:
        return Item(start, block.end, line, guess, read.problem, line + read.problem_line)
    if not {"id", "fact"} & read.fields.keys():
        return None
    return Item(start, block.end, line, read.fields)


@dataclass(frozen=True)
class Block:
    """The lines of one item. `indent` is how far its dash is indented, `key_column` where its keys stand. `flush` says
    that the keys below stand flush with the dash: YAML wants `shift` spaces more before each. `gap` is
    the offset of the first empty line in it that lines of it follow, 0 for none."""

    text: str
    start: int
    end: int
    indent: int
    key_column: int
    flush: bool
    gap: int = 0

    @property
    def shift(self) -> int:
        """How many spaces YAML wants more before each line but the first."""
        return self.key_column - self.indent if self.flush else 0

    def as_yaml(self) -> str:
        """The lines as YAML understands them."""
        body = self.text[self.start : self.end]
        if not self.flush:
            return body
        first, *rest = body.split("\n")
        return "\n".join([first, *(" " * self.shift + row if row.strip() else row for row in rest)])


def block_at(text: str, start: int) -> Block | None:
    """The item whose dash stands in the line at `start`, or None where no key follows it."""
    found = _FIRST_KEY.match(text, start)
    if found is not None:
        indent = len(found["indent"])
        column = indent + 1 + len(found["gap"])
    else:
        found = _KEY_BELOW.match(text, start)
        if found is None or len(found["below"]) <= len(found["indent"]):
            return None
        indent, column = len(found["indent"]), len(found["below"])
    end = end_of_line(text, start)
    flush, first = False, True
    empty = remark = False
    at, gap = end, 0
    folded = bool(_FOLDED.match(text[start:end].rstrip()))
    while at < len(text):
        stop = end_of_line(text, at)
        row = text[at:stop].rstrip("\r\n")
        bare = row.lstrip(" \t")
        depth = len(row) - len(bare)
        if not bare:
            empty = True
        elif bare.startswith("#") and (depth <= indent or empty or remark):
            remark = True  # a heading, or a remark between two keys: what follows tells
        elif not folded and _OUR_ITEM.match(row):
            break  # the next item, however far it is indented
        elif depth > indent and (not remark or (depth == column and _KEY_LINE.match(row))):
            if empty and depth < column:
                break
            gap = gap or (end if empty else 0)
            folded = bool(_FOLDED.match(row)) if depth == column else folded
            end, empty, remark, first = stop, False, False, False
        elif depth == indent and (first or flush) and not empty and _OUR_KEY.match(bare):
            end, remark, first, flush = stop, False, False, True
        else:
            break
        at = stop
    return Block(text, start, end, indent, column, flush, gap)


# --- one item through the YAML library -------------------------------------------------------------------------------

_NUMBER = re.compile(r"[-+]?(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][-+]?\d+)?")
_NULL = "tag:yaml.org,2002:null"


@dataclass(frozen=True)
class Read:
    """What an item says. `problem_line` counts from 0 at the item's first line."""

    fields: dict[str, Any] = field(default_factory=dict)
    problem: str = ""
    problem_line: int = 0


def read_block(block: Block) -> Read:
    """The values of one item. What the library cannot read is named in `problem`."""
    import yaml  # slow to load, and most commands read the index instead

    written = block.as_yaml()
    try:
        node: Any = yaml.compose(written, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.MarkedYAMLError as error:
        marks = [mark.index for mark in (error.problem_mark, error.context_mark) if mark is not None]
        mark = next((mark for mark in marks if mark < len(written.rstrip("\n"))), 0)
        why = error.problem or error.context or "it is not valid"
        return Read(problem=f"the item cannot be read as YAML: {why}", problem_line=written.count("\n", 0, mark))
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        return Read(problem=f"the item cannot be read as YAML: {type(error).__name__}")
    rows = node.value if node is not None and node.id == "sequence" else []
    if len(rows) != 1 or rows[0].id != "mapping":
        return Read()
    fields: dict[str, Any] = {}
    for key, value in rows[0].value:
        if key.id != "scalar" or key.value not in KEYS:
            continue
        if key.value in fields:
            line = written.count("\n", 0, key.start_mark.index)
            return Read(problem=f"the key {key.value} stands twice; allowed: once in an item", problem_line=line)
        fields[key.value] = _plain(value, key.value)
    return Read(fields)


def _plain(node: Any, key: str) -> Any:
    """A node as text, number or list of texts; what is neither as a text that no validation accepts."""
    if node.id == "sequence":
        return [_scalar(one) if one.id == "scalar" else f"a {one.id}" for one in node.value]
    if node.id != "scalar":
        return f"a {node.id}"
    if key in ("confidence", "source_count") and not node.style and _NUMBER.fullmatch(node.value):
        text = node.value.replace("_", "")
        return int(text) if text.lstrip("+-").isdecimal() else float(text)
    return _scalar(node)


def _scalar(node: Any) -> str | None:
    """The characters of a scalar. `2026` or `true` as a tag is the word that stands there."""
    return None if node.tag == _NULL and not node.value.strip() else str(node.value)
