"""Reads `config.toml`, and changes one value in it without touching anything else.

The file is shared with the host application and edited by hand, so two rules hold: tables that are not ours are never
judged, and a change keeps every other byte. Reading and computing a change are all that happens here; writing the
bytes is `core.base.files`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.base.result import Err, Ok, Result, fail
from core.base.settings import (
    KNOWLEDGE,
    SETTINGS,
    Setting,
    Value,
    checked_value,
    find_setting,
    found_words,
    nearest_key,
    unknown_key,
)

SHIPPED_FILE = Path(__file__).resolve().parents[2] / "config.toml"
"""The defaults: beside the `core` package, in a checkout and in an installed wheel alike."""

MAX_FILE_BYTES = 4 << 20

NEW_FILE = (
    "# Your settings for the knowledge memory. What is not named here comes from the shipped config.toml;\n"
    "# `knowledge config show` prints every value and where it comes from.\n"
)
"""The comment that a new file begins with."""


@dataclass(frozen=True)
class Config:
    """The effective settings; the shipped `config.toml` says what each means. Sizes are bytes, times seconds."""

    home: str
    digest_enabled: bool
    digest_max_bytes: int
    digest_scope: str
    provider: str
    model: str
    base_url: str
    command: tuple[str, ...]
    harvest_style: str
    harvest_max_attempts: int
    request_timeout_seconds: float
    jobs: int
    max_output_tokens: int
    max_answer_bytes: int
    max_run_tokens: int
    price_input_per_million: float
    price_output_per_million: float
    summarize_threshold_bytes: int
    summary_part_bytes: int
    max_harvest_source_bytes: int
    file_roots: tuple[str, ...]
    sources: tuple[str, ...]
    project_roots: tuple[str, ...]
    redact: bool
    quotes: str
    reclaim: str
    trash_days: int
    reclaim_foreign: bool
    embedder: str
    embedder_model: str
    embedder_base_url: str
    fact_index: bool
    bootstrap_facts: bool


@dataclass(frozen=True)
class LoadedConfig:
    """A `Config` and where it came from.

    `file` is the file that was found, `found_by` the rule that found it (`--config`, `SLOP_CONFIG`, `./config.toml`,
    `user` or `shipped`); `origins` maps each key to the path of the file that its value comes from; `home_setting` is
    `[paths].home` as written ("" means the standard home). `warnings` are sentences for the user.
    """

    config: Config
    file: Path
    found_by: str
    origins: dict[str, str]
    warnings: tuple[str, ...]
    home_setting: str


def user_config_file(env: Mapping[str, str]) -> Path:
    """The user's own file, in the settings folder of the system. It need not exist."""
    folder = env.get("XDG_CONFIG_HOME", "")
    if folder and Path(folder).is_absolute():
        return Path(folder) / "manual_slop" / "config.toml"
    from platformdirs import user_config_path

    return user_config_path("manual_slop") / "config.toml"


def load_config(
    explicit: Path | None, env: Mapping[str, str], cwd: Path, *, local: bool = True
) -> Result[LoadedConfig]:
    """Find the settings file, check it, and fill up what it leaves out from the shipped one.

    Looked for in this order: `explicit` (`--config`), the environment's `SLOP_CONFIG`, `config.toml` in `cwd`, the
    user's own, the shipped one. The first two must exist. `config.toml` is a common name, so the one in `cwd` counts
    only if it has an `[ai_settings]` or a `[paths]` table, and only where `local` is set: not for a server that another
    program starts in whatever folder it works on, which may be a stranger's. A file that counts but has no
    `[ai_settings.knowledge]` is found all the same, and every value is the shipped one.

    Errors: a named file that is missing, unreadable bytes, broken TOML, a wrong type or value. An unknown key in our
    table is a warning; keys of `[paths]` other than `home` belong to the host and are not judged.
    """
    shipped = _parsed_file(SHIPPED_FILE)
    if isinstance(shipped, Err):
        return shipped
    warnings: list[str] = []
    found = _found(explicit, env, cwd, shipped.value, warnings, local)
    if isinstance(found, Err):
        return found
    file, found_by, document = found.value
    values: dict[str, Value] = {}
    origins: dict[str, str] = {}
    for path, source in ((SHIPPED_FILE, shipped.value), (file, document)):
        own = _checked(path, source)
        if isinstance(own, Err):
            return own
        values |= own.value
        origins |= dict.fromkeys(own.value, str(path))
    missing = [setting.key for setting in SETTINGS if setting.key not in values]
    if missing:
        hint = "Put the line back, or install the program again"
        return fail("bad-config", f"The shipped config.toml lacks {', '.join(missing)}", SHIPPED_FILE, hint)
    warnings += _unknown_keys(file, document)
    config = Config(**values)  # type: ignore[arg-type]  # every value was checked against its row above
    return Ok(LoadedConfig(config, file, found_by, origins, tuple(warnings), config.home))


def writable_config_file(loaded: LoadedConfig, env: Mapping[str, str]) -> Path:
    """The file that `config set` changes: the one that was found, or the user's own where only the shipped one was.

    A checkout's own `config.toml`, found because the program runs in that folder, is written like any other.
    """
    return user_config_file(env) if loaded.found_by == "shipped" else loaded.file


def _found(
    explicit: Path | None, env: Mapping[str, str], cwd: Path, shipped: dict[str, Any], warnings: list[str], local: bool
) -> Result[tuple[Path, str, dict[str, Any]]]:
    named = [("--config", str(explicit))] if explicit is not None else []
    named += [("SLOP_CONFIG", env["SLOP_CONFIG"])] if env.get("SLOP_CONFIG") else []
    for rule, text in named:
        file = cwd / os.path.expanduser(text)
        document = _parsed_file(file, rule)
        return document if isinstance(document, Err) else Ok((file, rule, document.value))
    for rule, file in (("./config.toml", cwd / "config.toml"), ("user", user_config_file(env))):
        if not file.is_file() or (rule != "user" and not local):
            continue
        document = _parsed_file(file)
        if rule == "user":
            return document if isinstance(document, Err) else Ok((file, rule, document.value))
        if isinstance(document, Err):
            # Whose file it is cannot be read from the tables now, so any mention of ours decides.
            if document.error.code == "unreadable-config" or _mentions_us(file):
                return document
            warnings.append(f"{document.error} It does not mention ai_settings, so it was passed over.")
        elif "ai_settings" in document.value or isinstance(document.value.get("paths"), dict):
            return Ok((file, rule, document.value))
    return Ok((SHIPPED_FILE, "shipped", shipped))


def _mentions_us(file: Path) -> bool:
    try:
        return b"ai_settings" in file.read_bytes()
    except OSError:
        return True


def _parsed_file(file: Path, rule: str = "") -> Result[dict[str, Any]]:
    asked = f" that {rule} names" if rule else ""
    try:
        if not file.exists():
            return fail(
                "no-config", f"The settings file{asked} does not exist", file, "Check the path, or leave it out"
            )
        if not file.is_file():
            return fail("no-config", f"The settings file{asked} is not a file", file, "Name a TOML file")
        with file.open("rb") as stream:
            data = stream.read(MAX_FILE_BYTES + 1)
    except (OSError, ValueError) as error:
        return fail("unreadable-config", f"The settings file cannot be read: {error}", file, "Check its permissions")
    parsed = _parsed(data, file)
    return parsed if isinstance(parsed, Err) else Ok(parsed.value[1])


def _parsed(data: bytes, file: Path | str) -> Result[tuple[str, dict[str, Any]]]:
    """The text (without a byte order mark) and the tables in `data`."""
    import tomllib

    if len(data) > MAX_FILE_BYTES:
        return fail("bad-config", f"The settings file is larger than {MAX_FILE_BYTES >> 20} MB", file)
    try:
        text = data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return fail("bad-config", f"The settings file is not UTF-8 text (line {line})", file, "Save it as UTF-8")
    try:
        return Ok((text, tomllib.loads(text)))
    except tomllib.TOMLDecodeError as error:
        # tomllib ends its message with "(at line 3, column 7)".
        return fail("bad-config", f"The settings file is not valid TOML: {error}", file, "Correct that place")
    except RecursionError:
        return fail("bad-config", "The settings file is nested too deeply", file)
    except ValueError as error:  # a date such as 2026-13-40 passes the grammar and fails the calendar
        return fail("bad-config", f"The settings file is not valid TOML: {error}", file)


def _table(document: Mapping[str, Any], dotted: str) -> object:
    table: object = document
    for part in dotted.split("."):
        if not isinstance(table, Mapping):
            return table
        table = table.get(part, {})
    return table


def _checked(file: Path, document: Mapping[str, Any]) -> Result[dict[str, Value]]:
    """Our values in `document`, each checked; keys that are not there are left out."""
    values: dict[str, Value] = {}
    for setting in SETTINGS:
        table = _table(document, setting.table)
        if not isinstance(table, Mapping):
            if setting.table != KNOWLEDGE:
                continue
            from core.base.config_text import line_of

            where = line_of(file, setting.table.rpartition(".")[2]) or line_of(file, "ai_settings")
            message = f"{file}{where}: {setting.table} is {found_words(table)}; accepted: a table"
            return fail("bad-setting", message, file)
        if setting.key not in table:
            continue
        value = checked_value(setting, table[setting.key])
        if value is None:
            from core.base.config_text import line_of

            where = line_of(file, setting.key, setting.table)
            found = found_words(table[setting.key])
            message = f"{file}{where}: {setting.name} is {found}; accepted: {setting.accepted}"
            return fail("bad-setting", message, file)
        values[setting.key] = value
    return Ok(values)


def _unknown_keys(file: Path, document: Mapping[str, Any]) -> Iterator[str]:
    table = _table(document, KNOWLEDGE)
    known = {setting.key for setting in SETTINGS if setting.table == KNOWLEDGE}
    for key in table if isinstance(table, Mapping) else ():
        if key not in known:
            from core.base.config_text import line_of

            near = nearest_key(key)
            hint = f'; the nearest known one is "{near}"' if near else ""
            yield f'{file}{line_of(file, key, KNOWLEDGE)}: unknown setting "{key}" is ignored{hint}.'


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
    parsed = _parsed(data, "")
    if isinstance(parsed, Err):
        return parsed
    text, document = parsed.value
    table = _table(document, setting.table)
    plain: object = list(value) if isinstance(value, tuple) else value
    if isinstance(table, Mapping) and setting.key in table and _same(table[setting.key], plain):
        return Ok(data)
    mark = b"\xef\xbb\xbf" if data.startswith(b"\xef\xbb\xbf") else b""
    from core.base.config_text import edits

    for new in edits(text or NEW_FILE, setting, plain):
        if _proven(document, new, setting, plain):
            return Ok(mark + new.encode("utf-8"))
    message = f"{setting.name} cannot be changed here without touching something else in the file"
    return fail("cannot-edit-config", message, hint="Change the value by hand in a text editor")


def _proven(before: dict[str, Any], text: str, setting: Setting, value: object) -> bool:
    import copy

    again = _parsed(text.encode("utf-8"), "")
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
