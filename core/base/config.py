"""Config: the settings in force, found in `config.toml` and checked.

The file is shared with the host application and edited by hand: tables that are not ours are never judged. How a file
becomes tables is in config_text.py. `changed_config` below changes one value and keeps every other byte; each candidate
is read back before it is believed. Nothing is written here; that is `core.base.files`.

Whose word a file is depends on where it lies. `--config`, the environment's `SLOP_CONFIG` and the file in the user's
own settings folder are theirs: who can set their environment can run programs as them anyway (`direnv`, which sets it
by folder, asks for a yes of its own). `config.toml` of the folder in which the program runs may be anybody's: unless
the user has allowed that very content (trust.py), it only narrows what holds without it; see `narrows`.
"""

from __future__ import annotations

import copy
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from core.base.config_text import edits, line_of, parsed, parsed_file, read_settings, table_of
from core.base.paths import user_folder
from core.base.result import KnowledgeError, attempt
from core.base.settings import (
    KNOWLEDGE,
    REMOVED,
    SETTINGS,
    Setting,
    Value,
    checked_value,
    find_setting,
    found_words,
    nearest_key,
    unknown_key,
)

_ROOT = Path(__file__).resolve().parents[2]
_IN_WHEEL = _ROOT / "assets" / "config.toml"
SHIPPED_FILE = _IN_WHEEL if _IN_WHEEL.exists() else _ROOT / "config.toml"
"""The defaults: in `assets/` where the wheel was installed (whatever else calls itself config.toml there is not ours),
beside the `core` package in a checkout."""


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
    model_context_tokens: int
    max_run_tokens: int
    max_day_tokens: int
    max_run_price: float
    max_month_price: float
    price_input_per_million: float
    price_output_per_million: float
    long_conversations: str
    summarize_threshold_bytes: int
    max_harvest_source_bytes: int
    file_roots: tuple[str, ...]
    sources: tuple[str, ...]
    project_roots: tuple[str, ...]
    redact: bool
    quotes: str
    reclaim: str
    trash_days: int
    reclaim_foreign: bool
    archive: str
    archive_without: tuple[str, ...]
    search_conversations: bool
    search_sources: tuple[str, ...]
    mcp_all_conversations: bool
    hints: tuple[str, ...]
    embedder: str
    embedder_model: str
    embedder_base_url: str
    library_url: str
    workers: str
    fact_index: bool
    bootstrap_facts: bool


@dataclass(frozen=True)
class FolderFile:
    """`config.toml` of the folder in which the program runs, where it speaks of us.

    `sha256` is that of its content. With `trusted` all of it counts. Else what narrows counts all the same, and
    `waiting` names the keys that wait for the user's word with what they would say, `allowed_before` tells that
    other content was allowed once, `problem` is a sentence about why nothing in it counts, and `record` one about why
    the record of what was allowed cannot be used.
    """

    path: Path
    sha256: str
    trusted: bool = False
    waiting: tuple[tuple[str, str], ...] = ()
    allowed_before: bool = False
    problem: str = ""
    record: str = ""

    @property
    def warning(self) -> str:
        """What a user is told about it, "" while nothing of it is left out."""
        if self.problem or not self.waiting:
            return self.problem
        names = [name for name, _ in self.waiting]
        shown = ", ".join(names[:SHOWN_KEYS]) + (f" and {len(names) - SHOWN_KEYS} more" * (len(names) > SHOWN_KEYS))
        since = "has changed since you allowed it" if self.allowed_before else "may come from somebody else"
        way = f"({self.record})" if self.record else "'knowledge trust allow' lets it count."
        return f"{self.path} {since}, so this does not count: {shown}. {way}"


SHOWN_KEYS = 12


@dataclass(frozen=True)
class LoadedConfig:
    """A `Config` and where it came from.

    `file` is the file that was found, `found_by` the rule that found it (`--config`, `SLOP_CONFIG`, `./config.toml`,
    `user` or `shipped`); `origins` maps each key to the path of the file that its value comes from; `home_setting` is
    `[paths].home` as written ("" means the standard home). `warnings` are sentences for the user. `folder` is the
    current folder's own file, None where there is none or another was named.
    """

    config: Config
    file: Path
    found_by: str
    origins: dict[str, str]
    warnings: tuple[str, ...]
    home_setting: str
    folder: FolderFile | None = None


def user_config_file(env: Mapping[str, str]) -> Path:
    """The user's own file, in the settings folder of the system. It need not exist."""
    return user_folder(env) / "config.toml"


def load_config(explicit: Path | None, env: Mapping[str, str], cwd: Path) -> LoadedConfig:
    """Find the settings file, check it, and fill up what it leaves out from the shipped one.

    Looked for in this order: `explicit` (`--config`), the environment's `SLOP_CONFIG`, `config.toml` in `cwd` if the
    person has allowed its content, the user's own, the shipped one. The first two must exist. One in `cwd` that was not
    allowed is no error, whatever is in it: it narrows, and what else it says is told in a warning (`FolderFile`). The
    shipped file in a checkout, or a copy of it, is the shipped one there too.

    Raises KnowledgeError: a named file that is missing, unreadable bytes, broken TOML, a wrong type or value. An
    unknown key in our table is a warning; keys of `[paths]` other than `home` belong to the host and are not judged.
    """
    shipped = parsed_file(SHIPPED_FILE)
    defaults = _checked(SHIPPED_FILE, shipped)
    missing = [setting.key for setting in SETTINGS if setting.key not in defaults]
    if missing:
        hint = "put the line back, or install the program again"
        raise KnowledgeError("bad-config", f"the shipped config.toml lacks {', '.join(missing)}", SHIPPED_FILE, hint)
    named = _named(explicit, env)
    local = _local(cwd, env) if named is None else None
    if named is not None:
        found_by, file = named[0], cwd / os.path.expanduser(named[1])
    elif local is not None and local[0].trusted:
        found_by, file = "./config.toml", local[0].path
    else:
        found_by, file = "user", user_config_file(env)
        if not file.is_file():
            found_by, file = "shipped", SHIPPED_FILE
    document = shipped
    if local is not None and local[0].trusted:
        if isinstance(local[1], KnowledgeError):
            raise local[1]
        document = local[1]
    elif found_by != "shipped":
        document = parsed_file(file, named[0] if named is not None else "")
    _refuse_removed(file, document)
    own = _checked(file, document)
    values, warnings = defaults | own, list(_ignored_keys(file, document))
    origins = dict.fromkeys(defaults, str(SHIPPED_FILE)) | dict.fromkeys(own, str(file))
    folder = None
    if local is not None:
        folder = local[0] if local[0].trusted else _narrowed(local[0], local[1], values, origins)
        warnings += [folder.warning] if folder.warning else []
    config = Config(**values)  # type: ignore[arg-type]  # every value was checked against its row above
    return LoadedConfig(config, file, found_by, origins, tuple(warnings), config.home, folder)


def _named(explicit: Path | None, env: Mapping[str, str]) -> tuple[str, str] | None:
    """The rule and the path of the file that the user named, None for none."""
    if explicit is not None:
        return "--config", str(explicit)
    return ("SLOP_CONFIG", env["SLOP_CONFIG"]) if env.get("SLOP_CONFIG") else None


# --- config.toml of the current folder -------------------------------------------------------------------------------


_NOTHING = "Nothing in it counts; your own settings do."


def _local(cwd: Path, env: Mapping[str, str]) -> tuple[FolderFile, dict[str, Any] | KnowledgeError] | None:
    """`config.toml` in `cwd` and its tables, None when there is none that speaks of us: the name is a common one, so it
    must have a table of ours, or say `ai_settings` where it is no TOML."""
    path = cwd / "config.toml"
    if not path.is_file():
        return None
    data = attempt(read_settings, path)
    if isinstance(data, KnowledgeError):
        return FolderFile(path, "", problem=f"{data.error} {_NOTHING}"), data
    if data.value == SHIPPED_FILE.read_bytes():
        return None
    from core.base.trust import read_trust

    sha256, trust = hashlib.sha256(data.value).hexdigest(), read_trust(env)
    trusted, before = trust.has_file(path, sha256), trust.knows(path)
    read = attempt(parsed, data.value, path)
    if isinstance(read, KnowledgeError):
        ours = b"ai_settings" in data.value or before
        passed = _NOTHING if ours else "It does not mention ai_settings, so it was passed over."
        return FolderFile(path, sha256, trusted, allowed_before=before, problem=f"{read.error} {passed}"), read
    document = read.value[1]
    if "ai_settings" not in document and "home" not in _table(document, "paths"):
        return None
    return FolderFile(path, sha256, trusted, allowed_before=before, record=trust.problem), document


def narrows(key: str, value: Value, now: Value) -> bool:
    """Whether a folder may set this unasked, where `now` is in force without it: it can only make less of the digest be
    shown, of this project alone, and fewer hints. Nothing that names a program, an address, a place or a secret, and
    nothing that lets more be read, sent, kept or deleted."""
    match key:
        case "digest_enabled":
            return value is False
        case "digest_max_bytes":
            return isinstance(value, int) and isinstance(now, int) and value <= now
        case "digest_scope":
            return value == "project"
        case "hints":
            return isinstance(value, tuple) and isinstance(now, tuple) and set(value) <= set(now)
    return False


def _narrowed(
    found: FolderFile, document: dict[str, Any] | KnowledgeError, values: dict[str, Value], origins: dict[str, str]
) -> FolderFile:
    """Put what narrows into `values` and `origins`; the rest waits. What says nothing new is not spoken of."""
    if isinstance(document, KnowledgeError):
        return found
    try:
        own = _checked(found.path, document)
    except KnowledgeError as failed:
        return replace(found, problem=f"{failed} {_NOTHING}")
    narrowed = [key for key, value in own.items() if narrows(key, value, values[key])]
    waiting = [(key, shown_value(value)) for key, value in own.items() if value != values[key]]
    for key in narrowed:
        values[key], origins[key] = own[key], str(found.path)
    waiting = [(key, words) for key, words in waiting if key not in narrowed]
    waiting += [(_plain(key), "an unknown setting") for key in _unknown_keys(document)]
    return replace(found, waiting=tuple(waiting))


def _table(document: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    table = table_of(document, name)
    return table if isinstance(table, Mapping) else {}


def _plain(name: object) -> str:
    return "".join(char if char.isprintable() else "?" for char in str(name)[:40])


def shown_value(value: Value) -> str:
    """A value as a user would write it, not longer than a line."""
    words = json.dumps(list(value) if isinstance(value, tuple) else value, ensure_ascii=False)
    return words if len(words) <= 120 else words[:117] + "..."


# --- what a file says ------------------------------------------------------------------------------------------------


def _checked(file: Path, document: Mapping[str, Any]) -> dict[str, Value]:
    """Our values in `document`, each checked; keys that are not there are left out."""
    values: dict[str, Value] = {}
    for setting in SETTINGS:
        table = table_of(document, setting.table)
        if not isinstance(table, Mapping):
            if setting.table != KNOWLEDGE:
                continue
            where = line_of(file, setting.table.rpartition(".")[2]) or line_of(file, "ai_settings")
            message = f"{file}{where}: {setting.table} is {found_words(table)}; accepted: a table"
            raise KnowledgeError("bad-setting", message, file)
        if setting.key not in table:
            continue
        value = checked_value(setting, table[setting.key])
        if value is None:
            where, found = line_of(file, setting.key, setting.table), found_words(table[setting.key])
            message = f"{file}{where}: {setting.name} is {found}; accepted: {setting.accepted}"
            raise KnowledgeError("bad-setting", message, file)
        values[setting.key] = value
    return values


def _refuse_removed(file: Path, document: Mapping[str, Any]) -> None:
    """Stop where a file asks a setting that is gone for something else than what happens now: the user would believe
    that it does."""
    table = _table(document, KNOWLEDGE)
    for key, now in REMOVED.items():
        if key in table and (table[key] != now or isinstance(table[key], bool) != isinstance(now, bool)):
            where, found, always = line_of(file, key, KNOWLEDGE), found_words(table[key]), shown_value(now)
            message = f"{file}{where}: {key} is {found}, but this setting was removed: the value is always {always}"
            raise KnowledgeError("removed-setting", message, file, "take the line out")


def _unknown_keys(document: Mapping[str, Any]) -> list[str]:
    known = {*REMOVED, *(setting.key for setting in SETTINGS if setting.table == KNOWLEDGE)}
    return [key for key in _table(document, KNOWLEDGE) if key not in known]


def _ignored_keys(file: Path, document: Mapping[str, Any]) -> Iterator[str]:
    """What a file says that nobody hears, in sentences."""
    if not _table(document, KNOWLEDGE):
        yield from _misplaced(file, document)
    for key in _unknown_keys(document):
        near = nearest_key(key)
        hint = f"; the nearest known one is {near!r}" if near else ""
        yield f"{file}{line_of(file, key, KNOWLEDGE)}: unknown setting {key!r} is ignored{hint}."


def _misplaced(file: Path, document: Mapping[str, Any]) -> Iterator[str]:
    """Where a table has nearly the name of ours, or settings of ours stand in none: all of the file would count for
    nothing, without a word."""
    from difflib import get_close_matches  # for a mistake alone

    tables = {f"ai_settings.{name}": table for name, table in _table(document, "ai_settings").items()} | dict(document)
    keys = {setting.key for setting in SETTINGS if setting.table == KNOWLEDGE}
    ours = [name for name, table in tables.items() if isinstance(table, Mapping) and keys & set(table)]
    near = [name for name in ours if get_close_matches("knowledge", [name.rpartition(".")[2]], cutoff=0.8)]
    if near:
        yield f"{file}: the table [{_plain(near[0])}] is ignored; settings stand in [{KNOWLEDGE}]."
    elif loose := [key for key in document if key in keys]:
        where = line_of(file, loose[0])
        yield f"{file}{where}: {loose[0]} stands in no table and is ignored; settings stand in [{KNOWLEDGE}]."


NEW_FILE = (
    "# Your settings for the knowledge memory. What is not named here comes from the shipped config.toml;\n"
    "# `knowledge config show` prints every value and where it comes from.\n"
)
"""The comment that a new file begins with."""


def writable_config_file(loaded: LoadedConfig, env: Mapping[str, str]) -> Path:
    """The file that `config set` changes: the one that was found, or the user's own where only the shipped one was.

    In a checkout of this program that is the user's own too: its `config.toml` is the shipped one, under version
    control. A folder's own file is changed only where the user has allowed it.
    """
    return user_config_file(env) if loaded.found_by == "shipped" else loaded.file


def changed_config(data: bytes, key: str, value: Value) -> bytes:
    """The bytes of a settings file with `key` set to `value` and every other byte as it was.

    Where the key is written, only its value changes. Where it is not, one line is added to its table, or the table is
    added at the end; an empty file gets a short comment first. Before the new bytes are returned they are read back,
    and everything but that key must compare equal. Raises KnowledgeError: unknown key, value not accepted, broken TOML,
    or no way to make the change that passes this test. Nothing is written.
    """
    setting = find_setting(key)
    if setting is None:
        raise unknown_key(key)
    if checked_value(setting, value) is None:
        raise KnowledgeError("bad-setting", f"{setting.name} is {found_words(value)}; accepted: {setting.accepted}")
    text, document = parsed(data, "")
    table = table_of(document, setting.table)
    plain: object = list(value) if isinstance(value, tuple) else value
    if isinstance(table, Mapping) and setting.key in table and _same(table[setting.key], plain):
        return data
    mark = b"\xef\xbb\xbf" if data.startswith(b"\xef\xbb\xbf") else b""

    for new in edits(text or NEW_FILE, setting, plain):
        if _proven(document, new, setting, plain):
            return mark + new.encode("utf-8")
    message = f"{setting.name} cannot be changed here without touching something else in the file"
    raise KnowledgeError("cannot-edit-config", message, hint="change the value by hand in a text editor")


def _proven(before: dict[str, Any], text: str, setting: Setting, value: object) -> bool:
    again = attempt(parsed, text.encode("utf-8"), "")
    if isinstance(again, KnowledgeError):
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
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_same(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(_same, left, right))
    return repr(left) == repr(right)
