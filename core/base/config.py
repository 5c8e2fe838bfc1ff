"""Config: the settings in force, found in `config.toml` and checked.

The file is shared with the host application and edited by hand: tables that are not ours are never judged. How a file
becomes tables is in config_source.py, how one value is changed in config_change.py.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.base.config_source import mentions_us, parsed_file, table_of
from core.base.result import Err, Ok, Result, fail
from core.base.settings import (
    KNOWLEDGE,
    SETTINGS,
    Value,
    checked_value,
    found_words,
    nearest_key,
)

SHIPPED_FILE = Path(__file__).resolve().parents[2] / "config.toml"
"""The defaults: beside the `core` package, in a checkout and in an installed wheel alike."""


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
    shipped = parsed_file(SHIPPED_FILE)
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
        hint = "put the line back, or install the program again"
        return fail("bad-config", f"the shipped config.toml lacks {', '.join(missing)}", SHIPPED_FILE, hint)
    warnings += _unknown_keys(file, document)
    config = Config(**values)  # type: ignore[arg-type]  # every value was checked against its row above
    return Ok(LoadedConfig(config, file, found_by, origins, tuple(warnings), config.home))


def _found(
    explicit: Path | None, env: Mapping[str, str], cwd: Path, shipped: dict[str, Any], warnings: list[str], local: bool
) -> Result[tuple[Path, str, dict[str, Any]]]:
    named = [("--config", str(explicit))] if explicit is not None else []
    named += [("SLOP_CONFIG", env["SLOP_CONFIG"])] if env.get("SLOP_CONFIG") else []
    for rule, text in named:
        file = cwd / os.path.expanduser(text)
        document = parsed_file(file, rule)
        return document if isinstance(document, Err) else Ok((file, rule, document.value))
    for rule, file in (("./config.toml", cwd / "config.toml"), ("user", user_config_file(env))):
        if not file.is_file() or (rule != "user" and not local):
            continue
        document = parsed_file(file)
        if rule == "user":
            return document if isinstance(document, Err) else Ok((file, rule, document.value))
        if isinstance(document, Err):
            # Whose file it is cannot be read from the tables now, so any mention of ours decides.
            if document.error.code == "unreadable-config" or mentions_us(file):
                return document
            warnings.append(f"{document.error} It does not mention ai_settings, so it was passed over.")
        elif "ai_settings" in document.value or isinstance(document.value.get("paths"), dict):
            return Ok((file, rule, document.value))
    return Ok((SHIPPED_FILE, "shipped", shipped))


def _checked(file: Path, document: Mapping[str, Any]) -> Result[dict[str, Value]]:
    """Our values in `document`, each checked; keys that are not there are left out."""
    values: dict[str, Value] = {}
    for setting in SETTINGS:
        table = table_of(document, setting.table)
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
    table = table_of(document, KNOWLEDGE)
    known = {setting.key for setting in SETTINGS if setting.table == KNOWLEDGE}
    for key in table if isinstance(table, Mapping) else ():
        if key not in known:
            from core.base.config_text import line_of

            near = nearest_key(key)
            hint = f"; the nearest known one is {near!r}" if near else ""
            yield f"{file}{line_of(file, key, KNOWLEDGE)}: unknown setting {key!r} is ignored{hint}."
