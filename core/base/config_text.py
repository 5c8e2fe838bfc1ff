"""How a settings file becomes tables, with one sentence for whatever is wrong with it; and where one value stands in
its text.

`edits` gives texts that would set a value; `config.changed_config` reads each one back and takes the first that changes
nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from core.base.result import KnowledgeError
from core.base.settings import Setting

MAX_FILE_BYTES = 4 << 20


def read_settings(file: Path, rule: str = "") -> bytes:
    """The bytes of a settings file; `rule` is what named it (`--config`, `SLOP_CONFIG`), "" for one that was found."""
    asked = f" that {rule} names" if rule else ""
    try:
        if not file.exists():
            hint = "check the path, or leave it out"
            raise KnowledgeError("no-config", f"the settings file{asked} does not exist", file, hint)
        if not file.is_file():
            raise KnowledgeError("no-config", f"the settings file{asked} is not a file", file, "name a TOML file")
        with file.open("rb") as stream:
            return stream.read(MAX_FILE_BYTES + 1)
    except (OSError, ValueError) as error:
        message = f"the settings file cannot be read: {error}"
        raise KnowledgeError("unreadable-config", message, file, "check its permissions") from error


def parsed_file(file: Path, rule: str = "") -> dict[str, Any]:
    """The tables of a settings file; `rule` as above."""
    return parsed(read_settings(file, rule), file)[1]


def parsed(data: bytes, file: Path | str) -> tuple[str, dict[str, Any]]:
    """The text (without a byte order mark) and the tables in `data`."""
    import tomllib

    if len(data) > MAX_FILE_BYTES:
        raise KnowledgeError("bad-config", f"the settings file is larger than {MAX_FILE_BYTES >> 20} MB", file)
    try:
        text = data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = f"the settings file is not UTF-8 text (line {line})"
        raise KnowledgeError("bad-config", message, file, "save it as UTF-8") from error
    try:
        return (text, tomllib.loads(text))
    except ValueError as error:
        # tomllib ends its message with "(at line 3, column 7)", but for a date that is none, such as 2026-13-40.
        message = f"the settings file is not valid TOML: {error}"
        raise KnowledgeError("bad-config", message, file, "correct that place") from error
    except RecursionError:
        raise KnowledgeError("bad-config", "the settings file is nested too deeply", file) from None


def table_of(document: Mapping[str, Any], dotted: str) -> object:
    """What stands under a dotted name: a table, {} where nothing does, or whatever a user put there instead."""
    table: object = document
    for part in dotted.split("."):
        if not isinstance(table, Mapping):
            return table
        table = table.get(part, {})
    return table


MARKER = "value-to-be-found"


def edits(text: str, setting: Setting, value: object) -> Iterator[str]:
    """Texts in which `setting` may be `value`, the most careful first."""
    import tomli_w
    import tomlkit

    literal = tomlkit.item(value).as_string()
    path = setting.name.split(".")
    stands, before, after = _around(text, path)
    if stands and text.startswith(before) and text.endswith(after):
        yield before + literal + after
    line_end = "\r\n" if "\r\n" in text else "\n"
    dotted = r"\s*\.\s*".join(rf"[\"']?{re.escape(part)}[\"']?" for part in path[:-1])
    for header in re.finditer(rf"(?m)^[ \t]*\[\s*{dotted}\s*\][^\n]*(\n|\Z)", text):
        head, rest = text[: header.end()], text[header.end() :]
        line = f"{path[-1]} = {literal}"
        yield f"{head}{line}{line_end}{rest}" if header[1] else f"{head}{line_end}{line}"
    gap = "" if not text else line_end if text.endswith("\n") else line_end * 2
    table: dict[str, Any] = {path[-1]: value}
    for name in reversed(path[:-1]):
        table = {name: table}
    yield text + gap + tomli_w.dumps(table).replace("\n", line_end)
    if before:  # inside what is written on one line, or with dots: no header opens that again
        yield before + literal + after


def _around(text: str, path: list[str]) -> tuple[bool, str, str]:
    """Whether a value stands at `path`, and what stands before and behind it in the document, or would; "" where it
    cannot stand there. A marker is put in its place and the document written out again, so that the place is proven and
    not guessed."""
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        document = tomlkit.parse(text)
        table: Any = document
        for part in path[:-1]:
            table = table.setdefault(part, {})
        stands = path[-1] in table
        table[path[-1]] = MARKER
        before, _, after = tomlkit.dumps(document).partition(f'"{MARKER}"')
    except (TOMLKitError, KeyError, TypeError, AttributeError, RecursionError):
        return False, "", ""
    return stands, before, after


def line_of(file: Path, key: str, table: str = "") -> str:
    """`, line 12` for where `key` of `table` seems to be written, or ""; only for messages, so a guess will do."""
    header, guess = "", ""
    for number, line in enumerate(file.read_text(encoding="utf-8-sig").split("\n"), 1):
        if match := re.match(r"\s*\[([^\[\]=#]+)\]\s*(?:#.*)?$", line):
            header = re.sub(r"[\s\"']", "", match[1])
        elif match := re.search(rf"(?:^|[\s.{{,])[\"']?{re.escape(key)}[\"']?\s*=", line):
            before = re.sub(r"[\s\"']", "", line[: match.start() + 1].partition("=")[0]).rstrip(".")
            if ".".join(filter(None, (header, before))).rstrip(".") == table:
                return f", line {number}"
            guess = guess or f", line {number}"
    return guess
