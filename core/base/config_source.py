"""How a settings file becomes tables, with one sentence for whatever is wrong with it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from core.base.result import Err, Ok, Result, fail

MAX_FILE_BYTES = 4 << 20


def read_settings(file: Path, rule: str = "") -> Result[bytes]:
    """The bytes of a settings file; `rule` is what named it (`--config`, `SLOP_CONFIG`), "" for one that was found."""
    asked = f" that {rule} names" if rule else ""
    try:
        if not file.exists():
            return fail(
                "no-config", f"the settings file{asked} does not exist", file, "check the path, or leave it out"
            )
        if not file.is_file():
            return fail("no-config", f"the settings file{asked} is not a file", file, "name a TOML file")
        with file.open("rb") as stream:
            return Ok(stream.read(MAX_FILE_BYTES + 1))
    except (OSError, ValueError) as error:
        return fail("unreadable-config", f"the settings file cannot be read: {error}", file, "check its permissions")


def parsed_file(file: Path, rule: str = "") -> Result[dict[str, Any]]:
    """The tables of a settings file; `rule` as above."""
    data = read_settings(file, rule)
    if isinstance(data, Err):
        return data
    read = parsed(data.value, file)
    return read if isinstance(read, Err) else Ok(read.value[1])


def parsed(data: bytes, file: Path | str) -> Result[tuple[str, dict[str, Any]]]:
    """The text (without a byte order mark) and the tables in `data`."""
    import tomllib

    if len(data) > MAX_FILE_BYTES:
        return fail("bad-config", f"the settings file is larger than {MAX_FILE_BYTES >> 20} MB", file)
    try:
        text = data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return fail("bad-config", f"the settings file is not UTF-8 text (line {line})", file, "save it as UTF-8")
    try:
        return Ok((text, tomllib.loads(text)))
    except tomllib.TOMLDecodeError as error:
        # tomllib ends its message with "(at line 3, column 7)".
        return fail("bad-config", f"the settings file is not valid TOML: {error}", file, "correct that place")
    except RecursionError:
        return fail("bad-config", "the settings file is nested too deeply", file)
    except ValueError as error:  # a date such as 2026-13-40 passes the grammar and fails the calendar
        return fail("bad-config", f"the settings file is not valid TOML: {error}", file)


def table_of(document: Mapping[str, Any], dotted: str) -> object:
    """What stands under a dotted name: a table, {} where nothing does, or whatever a person put there instead."""
    table: object = document
    for part in dotted.split("."):
        if not isinstance(table, Mapping):
            return table
        table = table.get(part, {})
    return table
