"""The settings as rows: what is shown of each, how it is typed, which rows some words mean. No item is made here."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.commands.panel.settings import Explained
from core.commands.settings import Settings, SettingValue


@dataclass(frozen=True)
class SettingRow:
    """One setting as it is shown: `value` as it is typed, `origin` in a word or two, `own` when it is not shipped."""

    key: str
    group: str
    help: str
    kind: str
    choices: tuple[str, ...]
    value: str
    origin: str
    origin_path: str
    own: bool
    accepted: str


def setting_rows(settings: Settings, help_rows: Sequence[Explained], shipped: str) -> list[SettingRow]:
    """Every setting in the order of the shipped file; one without an explanation comes last."""
    values = {row.key: row for row in settings.settings}
    rows = [_row(values[one.key], one, shipped) for one in help_rows if one.key in values]
    known = {row.key for row in rows}
    plain = (Explained(row.key, "Others", "", "text", row.accepted, ()) for row in settings.settings)
    return rows + [_row(values[one.key], one, shipped) for one in plain if one.key not in known]


def _row(value: SettingValue, one: Explained, shipped: str) -> SettingRow:
    own = value.origin != shipped
    origin = origin_words(value.origin) if own else "shipped"
    return SettingRow(
        value.key, one.group, one.help, one.kind, one.choices, typed(value.value, one.kind), origin, value.origin, own,
        value.accepted,
    )  # fmt: skip


def typed(value: Any, kind: str) -> str:
    """A value as a person types it into its field."""
    if kind == "bool":
        return "true" if value else "false"
    if kind == "list":
        return json.dumps(list(value), ensure_ascii=False)
    if kind == "number":
        return f"{value:g}"
    return str(value)


def origin_words(path: str) -> str:
    """The file that a value comes from, short: its folder and its name."""
    place = Path(path)
    return f"{place.parent.name}/{place.name}"


def set_words(kind: str, words: str) -> str:
    """What was typed, as `config_set` reads it: a text in quotes, so that none is taken for something else."""
    return json.dumps(words, ensure_ascii=False) if kind == "text" else words


def help_words(words: str) -> str:
    """The comment of a setting as a paragraph; indented lines stay lines of their own.

    A full stop after a straight quote could be wrapped alone to the next line, so quotes are curly where they are not
    part of a list."""
    lines: list[str] = []
    for line in words.splitlines():
        listed = line.startswith("  ")
        if not lines or listed or not line.strip():
            lines.append(("    " if listed else "") + re.sub(r"\s{2,}", "  –  ", line.strip()))
        else:
            lines[-1] += f" {line.strip()}"
    return "\n".join(re.sub(r'"([^"\n]*)"', "“\\1”", line) if "[" not in line else line for line in lines)


def rows_with(rows: Sequence[SettingRow], words: str) -> list[SettingRow]:
    """Those in which every one of the words stands: in the name, the group, the comment or the value."""
    wanted = words.casefold().split()
    told = ((row, " ".join((row.key, row.group, row.help, row.value)).casefold()) for row in rows)
    return [row for row, text in told if all(word in text for word in wanted)]


def next_choice(row: SettingRow, step: int) -> str:
    """The choice `step` places after the present one; the last one stays the last."""
    at = row.choices.index(row.value) + step if row.value in row.choices else 0
    return row.choices[min(max(at, 0), len(row.choices) - 1)]
