"""Changes one value of a settings file and nothing else: a change keeps every other byte.

Where the value stands and what the text becomes is in config_text.py; here each candidate is read back before it is
believed. Nothing is written here; that is `core.base.files`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from core.base.config import LoadedConfig, user_config_file
from core.base.config_source import parsed, table_of
from core.base.result import Err, Ok, Result, fail
from core.base.settings import Setting, Value, checked_value, find_setting, found_words, unknown_key

NEW_FILE = (
    "# Your settings for the knowledge memory. What is not named here comes from the shipped config.toml;\n"
    "# `knowledge config show` prints every value and where it comes from.\n"
)
"""The comment that a new file begins with."""


def writable_config_file(loaded: LoadedConfig, env: Mapping[str, str]) -> Path:
    """The file that `config set` changes: the one that was found, or the user's own where only the shipped one was.

    In a checkout of this program that is the user's own too: its `config.toml` is the shipped one, under version
    control. A folder's own file is changed only where the person has allowed it.
    """
    return user_config_file(env) if loaded.found_by == "shipped" else loaded.file


def changed_config(data: bytes, key: str, value: Value) -> Result[bytes]:
    """The bytes of a settings file with `key` set to `value` and every other byte as it was.

    Where the key is written, only its value changes. Where it is not, one line is added to its table, or the table is
    added at the end; an empty file gets a short comment first. Before the new bytes are returned they are read back,
    and everything but that key must compare equal. Errors: unknown key, value not accepted, broken TOML, or no way to
    make the change that passes this test. Nothing is written.
    """
    setting = find_setting(key)
    if setting is None:
        return unknown_key(key)
    if checked_value(setting, value) is None:
        return fail("bad-setting", f"{setting.name} is {found_words(value)}; accepted: {setting.accepted}")
    read = parsed(data, "")
    if isinstance(read, Err):
        return read
    text, document = read.value
    table = table_of(document, setting.table)
    plain: object = list(value) if isinstance(value, tuple) else value
    if isinstance(table, Mapping) and setting.key in table and _same(table[setting.key], plain):
        return Ok(data)
    mark = b"\xef\xbb\xbf" if data.startswith(b"\xef\xbb\xbf") else b""
    from core.base.config_text import edits

    for new in edits(text or NEW_FILE, setting, plain):
        if _proven(document, new, setting, plain):
            return Ok(mark + new.encode("utf-8"))
    message = f"{setting.name} cannot be changed here without touching something else in the file"
    return fail("cannot-edit-config", message, hint="change the value by hand in a text editor")


def _proven(before: dict[str, Any], text: str, setting: Setting, value: object) -> bool:
    import copy

    again = parsed(text.encode("utf-8"), "")
    if isinstance(again, Err):
        return False
    expected = copy.deepcopy(before)
    table: Any = expected
    for part in setting.table.split("."):
        table = table.setdefault(part, {}) if isinstance(table, dict) else None
    if not isinstance(table, dict):
        return False
    table[setting.key] = value
    return _same(expected, again.value[1])


def _same(left: object, right: object) -> bool:
    """Equal in value and type: 1 is not True, 1 is not 1.0, and NaN equals itself."""
    if type(left) is not type(right):
        return False
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_same(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(_same, left, right))
    return repr(left) == repr(right)
