"""A conversation as the archive keeps it: a line of JSON about it, and one for each turn, packed with Zstandard.

It holds what `read_conversation` gave, so that whoever reads one out of the archive is told the same as of the file
that its tool has deleted, with the same offsets. Whatever it says of a secret was replaced before.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, Field, fields, replace
from typing import Any

from core.conversations import events as kinds
from core.conversations.conversation import ROLES, Conversation, Turn
from core.conversations.events import Event
from core.conversations.packed import pack, unpack

MARK = "knowledge-archive"
VERSION = 1
_BEGINS = f'{{"{MARK}":'
_FACTS = [row for row in fields(Conversation) if row.name != "turns"]
_KINDS = {row.__name__: row for row in vars(kinds).values() if isinstance(row, type) and issubclass(row, Event)}
_TURN = [row for row in fields(Turn) if row.name != "events"]


class NotArchivedError(ValueError):
    """The bytes are no conversation of the archive, or are damaged."""


def sniff(head: str) -> bool:
    """Whether a text begins like one of the archive, unpacked."""
    return head.startswith(_BEGINS)


def packed(conversation: Conversation, about: Mapping[str, Any]) -> bytes:
    """The bytes of a file of the archive. `about` is what `about_of` gives back."""
    head = {MARK: VERSION, "turns": len(conversation.turns), "about": dict(about), **_differing(conversation, _FACTS)}
    rows = [head, *map(_turn_row, conversation.turns)]
    return pack(b"".join(map(_line, rows)))


def read(name: str, data: bytes) -> Conversation:
    """The conversation in the unpacked bytes; of damaged ones what can be read, counted in `skipped`."""
    head, *rows = _rows(data)
    turns, skipped = list[Turn](), 0
    for row in rows:
        try:
            made = [_event(one) for one in row.pop("events", ())]
            turn = Turn(**_typed(row, _TURN), events=tuple(made))
            skipped += turn.role not in ROLES
            turns += [turn] * (turn.role in ROLES)
        except (TypeError, KeyError, ValueError, AttributeError):
            skipped += 1
    try:
        known = {row.name for row in _FACTS}
        facts = _typed({key: value for key, value in head.items() if key in known}, _FACTS)
        found = Conversation(**{"id": name, "format": MARK, **facts}, turns=tuple(turns))
    except (TypeError, ValueError):
        return Conversation(name, MARK, tuple(turns), skipped=1 + skipped)
    return replace(found, skipped=found.skipped + skipped)


def unpacked(data: bytes) -> bytes:
    """What is inside the bytes of a file of the archive. Raises NotArchivedError where a byte of it is not as it was
    written (its checksum tells), or turns are missing."""
    try:
        inside, whole = unpack(data)
    except ValueError as error:
        raise NotArchivedError(str(error)) from error
    head = next(_rows(inside[: inside.find(b"\n") + 1]))
    if not whole or head.get(MARK) != VERSION or inside.count(b"\n") != head.get("turns", 0) + 1:
        raise NotArchivedError("the file of the archive is damaged")
    return inside


def about_of(inside: bytes) -> dict[str, Any]:
    """What was said about a conversation when it was packed, from its unpacked bytes; {} where nothing can be read."""
    about = next(_rows(inside[: inside.find(b"\n") + 1 or None])).get("about")
    return about if isinstance(about, dict) else {}


def with_texts(conversation: Conversation, change: Callable[[str], str]) -> Conversation:
    """The conversation with `change` applied to everything that somebody said in it, or that tells of it."""
    turns = [
        replace(turn, text=change(turn.text), events=tuple(kinds.with_text(event, change) for event in turn.events))
        for turn in conversation.turns
    ]
    names = ("title", "folder", "repository", "branch")
    facts: dict[str, Any] = {name: change(getattr(conversation, name)) for name in names}
    return replace(conversation, turns=tuple(turns), **facts)


def _rows(data: bytes) -> Iterator[dict[str, Any]]:
    for line in data.decode("utf-8", "replace").rstrip("\n").split("\n"):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            row = {}
        yield row if isinstance(row, dict) else {}


def _turn_row(turn: Turn) -> dict[str, Any]:
    row = _differing(turn, _TURN)
    made = [{"kind": type(event).__name__, **_differing(event, fields(event))} for event in turn.events]
    return row | ({"events": made} if made else {})


def _event(row: Mapping[str, Any]) -> Event:
    kind = _KINDS[row["kind"]]
    return kind(**_typed({key: value for key, value in row.items() if key != "kind"}, fields(kind)))


def _differing(record: Any, names: Any) -> dict[str, Any]:
    """The fields of a record that do not hold their default."""
    found = {row.name: getattr(record, row.name) for row in names}
    return {row.name: found[row.name] for row in names if row.default is MISSING or found[row.name] != row.default}


def _typed(row: Mapping[str, Any], names: Any) -> dict[str, Any]:
    """The values of a row, lists as tuples. Raises TypeError for one of another type than its field has, and KeyError
    for an unknown one."""
    by_name: dict[str, Field[Any]] = {one.name: one for one in names}
    return {key: _as(str(by_name[key].type), _tuples(value)) for key, value in row.items()}


def _as(kind: str, value: Any) -> Any:
    wanted: tuple[type, ...] = tuple(_TYPES[part.strip()] for part in kind.partition("[")[0].split("|"))
    if not isinstance(value, wanted) or (isinstance(value, bool) and bool not in wanted):
        raise TypeError(f"{kind}: {value!r:.40}")
    return value


_TYPES: dict[str, type] = {"str": str, "int": int, "bool": bool, "None": type(None), "tuple": tuple}


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _line(row: dict[str, Any]) -> bytes:
    try:
        return f"{_json(row)}\n".encode()
    except UnicodeEncodeError:  # half of a pair of surrogates, which JSON can tell and UTF-8 cannot
        return f"{json.dumps(row)}\n".encode()


_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
