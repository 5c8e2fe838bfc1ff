"""Tables with a column of passwords or keys: drawn with bars, CSV and TSV, columns of blanks, the rows of an INSERT."""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.base import late
from core.base.secrets.values import is_cell

_WIDEST, _WIDE = 1000, 400
_NO_HEADINGS = late(r"[{}=<\[\]]|\w\(|, ?[\"']?\w+[\"']? ")
_QUOTED = r"\"(?:[^\"\n]|\"\")*\"|'(?:[^'\n]|'')*'"
_SIGNS = {
    "|": late(r"[^|│┃║\n]*"),
    "\t": late(r"[^\t\n]*"),
    ";": late(rf"(?:{_QUOTED}|[^;\n]*)(?=;|$)"),
    ",": late(rf"[ \t]*(?:{_QUOTED}|[^,\n]*)(?=[ \t]*,|[ \t]*$)"),
    "  ": late(r"[^ \t\n]+(?:[ \t][^ \t\n]+)*(?=[ \t]{2}|[ \t]*$)"),
}
"""What parts the cells of a line, the surest sign first, and one cell."""
_HEADING = late(r"[ \t\"'`*>#│┃║+-]*[\w$][\w .:/#()$-]{0,39}[\"'`* \t│┃║]*$|[ \t>]*$")
_USER = late(
    r"(?i)user|login|mail|account|konto|benutzer|nutzer|usuario|utente|identifiant|brukernavn|пользовател|логин|name|host|server|url|site|title|ssid|用户|ユーザ"
)
_RULE = late(r"[->:=|+ \t─═━┼╪╋╬┤╡┫╣├╞┣╠┌┐└┘]{3,400}\r?$", re.M)
_LINE = late(r"[^\n]*")
_INSERT = late(r"insert\s+into\s+\S{1,120}?\s*\((?P<head>[^()]{1,400})\)\s*values\s*", re.I)
_TUPLE = late(r"\s*\((?P<row>(?:'(?:[^'\n]|'')*'|\(\)|[^()'\n])*)\)\s*[,;]?")


def cells_below(text: str, lowered: str, places: list[int], name: re.Pattern[str]) -> Iterator[tuple[int, int, str]]:
    """Start, end and kind of each cell below a heading that is a `name`; these begin at `places`."""
    done = -1
    for place in places:
        if place < done:
            continue
        begins = lowered.rfind("\n", max(0, place - _WIDEST), place) + 1
        done = lowered.find("\n", place, place + _WIDEST)
        if done < 0 or (begins == 0 and place > _WIDEST):
            done = place + _WIDEST
            continue
        done += 1
        head = text[begins : done - 1].rstrip("\r")
        if len(head) > _WIDE or _NO_HEADINGS.search(head):
            continue
        for sign in _SIGNS:
            if sign in head.replace("│", "|").replace("┃", "|").replace("║", "|"):
                found, rows_end = _rows(text, done, head, sign, name)
                yield from found
                done = max(done, rows_end)
                if rows_end:
                    break
    if "insert" in lowered:
        for insert in _INSERT.finditer(text):
            names = _names(_cells(insert["head"], ","), name)
            at = insert.end()
            while any(names) and (row := _TUPLE.match(text, at)):
                yield from _secret_cells(_cells(row["row"], ","), names, row.start("row"), ",", True)
                at = row.end()


def _rows(text: str, at: int, head: str, sign: str, name: re.Pattern[str]) -> tuple[list[tuple[int, int, str]], int]:
    """The secret cells of the rows from `at` on, and where these end; nothing, and 0, where it is no table."""
    cells = _cells(head, sign)
    if (
        sum(bool(cell.strip()) for _, cell in cells) < 2
        or not all(_HEADING.match(cell) for _, cell in cells)
        or (sign == "," and ", " in head)
    ):
        return [], 0
    names = _names(cells, name)
    if not any(names):
        return [], 0
    beside = any(_USER.search(cell) for (_, cell), one in zip(cells, names, strict=True) if not one)
    found: list[tuple[int, int, str]] = []
    ruled, rows = False, 0
    while at < len(text) and (line := _LINE.match(text, at)):
        row = line[0][:_WIDEST].rstrip("\r")
        if _RULE.match(row):
            ruled = True
        else:
            parted = _cells(row, sign)
            if len(parted) != len(cells) or (sign in "|" and not ruled) or not row.strip():
                break
            found += _secret_cells(parted, names, at, sign, beside)
            rows += 1
        at = line.end() + 1
    return found, at if rows else 0


def _cells(line: str, sign: str) -> list[tuple[int, str]]:
    """The cells of a line, each with its place in it."""
    if sign == "|":
        line = re.sub(r"[│┃║]", "|", line)
    found: list[tuple[int, str]] = []
    at = 0
    while at <= len(line):
        cell = _SIGNS[sign].match(line, at)
        if cell is None:
            if sign != "  ":
                return []
            at += 1
            continue
        found.append((at, cell[0]))
        at = cell.end() + 1
    return found


def _names(cells: list[tuple[int, str]], name: re.Pattern[str]) -> list[re.Match[str] | None]:
    """Which of the headings name a secret: with their last word, as `login_password` does and `password rules` not."""
    found: list[re.Match[str] | None] = []
    for _, cell in cells:
        said = cell.lower().strip(" \t\"'`*>|")
        ends = [one for one in name.finditer(said) if not said[one.end() :].strip("_-: 0123456789()s")]
        found.append(ends[-1] if ends else None)
    return found


def _secret_cells(
    cells: list[tuple[int, str]], names: list[re.Match[str] | None], start: int, sign: str, beside: bool
) -> Iterator[tuple[int, int, str]]:
    for (place, cell), name in zip(cells, names, strict=False):
        value = cell.strip(" \t`*")
        if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
            value = value[1:-1]
        if name and value and is_cell(value, name, sign, beside):
            at = start + place + cell.index(value)
            yield at, at + len(value), "secret" if name["k"] else "password"
