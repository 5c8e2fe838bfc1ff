"""Sheets on which a reader says what of a session is worth a line: `python -m tests.quality.sheets OUT PATH ...`.

Writes for each conversation a text with every unit numbered ([u17]) between what tools gave back, cut hard, and what
rules make of its events ([e1]) at its end, in at most `MOST` bytes; and beside it the units as JSON, so that what a
reader says of a number can be told of the unit. Sheets hold other people's words: they stay out of the repository.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
from pathlib import Path
from typing import Any

from core.conversations.events import Command, Edit
from core.rules.distil import find_all
from core.rules.session import Session, read_session
from core.rules.units import Unit, units_of
from tests.quality.rules import sessions
from tests.quality.sessions import words_of

MOST = 25_000
TOOL, COMMAND = 160, 160


def unit_hash(unit: Unit) -> str:
    """What a unit is known by in the labels."""
    return hashlib.sha256(f"{unit.place}\n{unit.text}".encode()).hexdigest()[:12]


def sheet(session: Session) -> tuple[str, list[dict[str, Any]]]:
    """The text of a sheet and the rows of its numbers."""
    units = units_of(session)
    numbered = {id(unit): f"u{number}" for number, unit in enumerate(units, 1)}
    pieces: list[tuple[int, str, list[Unit]]] = []  # (how readily it is left out, text, units)
    for number, turn in enumerate(session.conversation.turns):
        mine = [unit for unit in units if unit.turn == number]
        if turn.agent:
            continue
        if turn.role == "tool" or turn.role == "system":
            said = " ".join(turn.text[:4000].split())
            tools = [_call(event) for event in turn.events if isinstance(event, Command | Edit)]
            end = f"…{said[-TOOL:]}" if len(said) > 2 * TOOL else ""
            text = f"  {' | '.join(filter(None, tools)) or 'tool'} => {said[:TOOL]}{end}"
            pieces.append((3, text, []))
        elif turn.role == "user":
            if not mine:
                pieces.append((0, f"\nUSER: {' '.join(turn.text.split())[:400]}", []))
        else:
            tools = [_call(event) for event in turn.events if isinstance(event, Command | Edit)]
            pieces.append((3, "".join(f"\n  {tool}" for tool in tools if tool)[1:], []))
        for place in dict.fromkeys(unit.place for unit in mine):
            those = [unit for unit in mine if unit.place == place]
            least = {"user": 0, "closing": 0, "commit": 1}[place]
            lines = [f"\n{place.upper()}:"]
            heading = ""
            for unit in those:
                if unit.heading != heading:
                    lines.append(f"   ## {unit.heading}" if unit.heading else "   --")
                    heading = unit.heading
                lines.append(f"  [{numbered[id(unit)]}] {'- ' if unit.kind != 'prose' else ''}{unit.text}")
            pieces.append((least, "\n".join(lines), those))
    extra = [(f"e{number}", item) for number, item in enumerate(find_all(session.conversation), 1)]
    end = "\n".join(
        ["", "EVENT LINES:", *(f"  [{name}] ({item.category}) {words_of(item.fields)}" for name, item in extra)]
    )
    pieces = _within(pieces, MOST - len(end.encode()))
    shown = {id(unit) for _, _, those in pieces for unit in those}
    rows = [
        {"id": numbered[id(unit)], "hash": unit_hash(unit), "turn": unit.turn, "place": unit.place, "text": unit.text}
        for unit in units
        if id(unit) in shown
    ]
    rows += [
        {"id": name, "rule": item.rule, "category": item.category, "turn": item.turn, "text": words_of(item.fields)}
        for name, item in extra
    ]
    return "\n".join(text for _, text, _ in pieces if text) + end + "\n", rows


def _call(event: Command | Edit) -> str:
    if isinstance(event, Command):
        return f"$ {' '.join(event.words.split())[:COMMAND]}"
    return f"edit {event.path[-80:]}"


def _within(pieces: list[tuple[int, str, list[Unit]]], most: int) -> list[tuple[int, str, list[Unit]]]:
    """The pieces that fit: tools go first, shortened and then whole, then commits, then the oldest."""
    size = sum(len(text.encode()) + 1 for _, text, _ in pieces)
    if size > most:
        pieces = [(least, text[:120] if least == 3 else text, units) for least, text, units in pieces]
    kept = list(pieces)
    size = sum(len(text.encode()) + 1 for _, text, _ in kept)
    for least in (3, 1, 0):
        gone = [at for at, piece in enumerate(kept) if piece[0] == least]
        for at in gone if least else gone[2:]:
            if size <= most:
                break
            size -= len(kept[at][1].encode()) + 1
            kept[at] = (least, "", [])
    return kept


def _name(file: str) -> str:
    """A name for a sheet: the repository (a folder OWNER__NAME) and the end of the file's name."""
    repository = next((part for part in Path(file).parts if "__" in part), "")
    return re.sub(r"[^\w.-]+", "_", f"{repository}--{Path(file).name[-48:]}").replace(".", "_")


def main() -> None:
    """Write the sheets."""
    parser = argparse.ArgumentParser(prog="python -m tests.quality.sheets", description=main.__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("paths", nargs="+", type=Path)
    given = parser.parse_args()
    (given.out / "sheets").mkdir(parents=True, exist_ok=True)
    (given.out / "units").mkdir(parents=True, exist_ok=True)
    index = []
    for file, conversation in sessions(given.paths):
        session = read_session(conversation)
        text, rows = sheet(session)
        name = _name(file)
        (given.out / "sheets" / f"{name}.txt").write_text(text, encoding="utf-8")
        (given.out / "units" / f"{name}.json").write_text(
            json.dumps({"file": file, "units": rows}, ensure_ascii=False, indent=0), encoding="utf-8"
        )
        index.append(f"{name}\t{len(rows)}\t{len(text.encode())}")
    (given.out / "sheets" / "INDEX").write_text("\n".join(index) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
