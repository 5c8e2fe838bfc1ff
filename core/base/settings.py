"""The settings there are: one row each, and what each of them accepts.

The rows drive the validation of `config.toml`, `knowledge config show` and `config set`. Default values are not here:
the shipped `config.toml` is the only place that has them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any, TypeAlias

from core.base.choices import HINT_EVENTS, PROVIDERS
from core.base.result import KnowledgeError

Value: TypeAlias = bool | int | float | str | tuple[str, ...]

KNOWLEDGE = "ai_settings.knowledge"
PATHS = "paths"


@dataclass(frozen=True)
class Setting:
    """One key of `config.toml`.

    `kind` is `bool`, `int`, `number`, `text` or `list` (of texts); `check` judges a value of that kind; `accepted`
    says in words what it lets through, to follow "accepted: ". Keys are unique over both tables.
    """

    key: str
    table: str
    kind: str
    check: Callable[[Any], bool]
    accepted: str

    @property
    def name(self) -> str:
        """The full dotted name, `ai_settings.knowledge.jobs`."""
        return f"{self.table}.{self.key}"


def _any(_value: Value) -> bool:
    return True


def _between(low: float, high: float) -> Callable[[float], bool]:
    return lambda value: low <= value <= high


def _price(value: float) -> bool:
    return value == -1 or 0 <= value <= 1_000_000


def _folder(value: str) -> bool:
    absolute = value.startswith("~") or PurePosixPath(value).is_absolute() or PureWindowsPath(value).is_absolute()
    return absolute and "\0" not in value


def _home(value: str) -> bool:
    return value == "" or _folder(value)


def _folders(value: tuple[str, ...]) -> bool:
    return all(map(_folder, value))


_SOURCE = re.compile(r"[a-z][a-z0-9_-]*\Z")


def _sources(value: tuple[str, ...]) -> bool:
    return all(_SOURCE.match(name) or _folder(name) for name in value)


def _hints(value: tuple[str, ...]) -> bool:
    return set(value) <= set(HINT_EVENTS)


def _address(value: str) -> bool:
    if value == "":
        return True
    scheme, _, rest = value.partition("://")
    host = rest.partition("/")[0]
    # A password in the address would be a key in config.toml, where keys must not be.
    return scheme.lower() in ("http", "https") and host != "" and "@" not in host and not any(map(str.isspace, value))


def _library(value: str) -> bool:
    scheme, found, rest = value.partition("://")
    if not found:
        return value == "" or _folder(value)
    place = rest.partition("/")[0]
    secret = ":" in place.rpartition("@")[0] or re.search(r"[?&]password=", rest)  # keys must not be in config.toml
    return scheme in ("postgresql", "postgres", "sqlite") and not secret and not any(map(str.isspace, value))


def _scheduler(value: str) -> bool:
    return re.fullmatch(r"(?:(?:tcp|tls|ws|wss|ucx)://[^\s@]+)?", value) is not None


_ADDRESS_WORDS = "an http:// or https:// address without a password in it, or an empty text"


def _row(key: str, kind: str, check: Callable[[Any], bool], accepted: str, table: str = KNOWLEDGE) -> Setting:
    return Setting(key, table, kind, check, accepted)


def _whole(key: str, low: int, high: int) -> Setting:
    return _row(key, "int", _between(low, high), f"a whole number from {low} to {high}")


def _names(key: str, example: str, others: str = "paths") -> Setting:
    words = f"a list of names that 'knowledge sources' prints, or of {others}, such as {example}"
    return _row(key, "list", _sources, words)


def _switch(key: str) -> Setting:
    return _row(key, "bool", _any, "true or false")


def _choice(key: str, *choices: str) -> Setting:
    words = ", ".join(f'"{choice}"' for choice in choices[:-1]) + f' or "{choices[-1]}"'
    return _row(key, "text", lambda value: value in choices, words)


_BYTES = 1 << 30

SETTINGS: tuple[Setting, ...] = (
    _row("home", "text", _home, "an absolute path, one that begins with ~, or an empty text", PATHS),
    _switch("digest_enabled"),
    _whole("digest_max_bytes", 128, 1 << 20),
    _choice("digest_scope", "global", "project", "both"),
    _choice("provider", *PROVIDERS),
    _row("model", "text", _any, "the name of a model as a text, or an empty text"),
    _row("base_url", "text", _address, _ADDRESS_WORDS),
    _row("command", "list", _any, 'a list of texts such as ["my-agent", "--print"]'),
    _choice("harvest_style", "one_call", "per_category"),
    _whole("harvest_max_attempts", 1, 10),
    _row("request_timeout_seconds", "number", _between(0.001, 86_400), "a number of seconds above 0, at most 86400"),
    _whole("jobs", 1, 64),
    _whole("max_output_tokens", 1, 1_000_000),
    _whole("model_context_tokens", 0, 100_000_000),
    _whole("max_run_tokens", 0, 10**12),
    _whole("max_day_tokens", 0, 10**12),
    _row("max_run_price", "number", _between(0, 1_000_000), "US dollars from 0 up"),
    _row("max_month_price", "number", _between(0, 1_000_000), "US dollars from 0 up"),
    _row("price_input_per_million", "number", _price, "US dollars from 0 up, or -1 for the shipped price table"),
    _row("price_output_per_million", "number", _price, "US dollars from 0 up, or -1 for the shipped price table"),
    _choice("long_conversations", "parts", "summarise"),
    _whole("summarize_threshold_bytes", 1, _BYTES),
    _whole("max_harvest_source_bytes", 1, _BYTES),
    _row("file_roots", "list", _folders, 'a list of absolute folders or ones that begin with ~, such as ["~", "/srv"]'),
    _names("sources", '["home", "codex"]'),
    _row("project_roots", "list", _folders, 'a list of absolute folders or ones that begin with ~, such as ["~/src"]'),
    _switch("redact"),
    _choice("quotes", "check", "require", "off"),
    _choice("reclaim", "always", "model", "never"),
    _whole("trash_days", 0, 36_500),
    _switch("reclaim_foreign"),
    _choice("archive", "off", "expiring", "all"),
    _names("archive_without", '["codex", "~/work"]', "folders of projects"),
    _switch("search_conversations"),
    _names("search_sources", '["home", "claude_code"]'),
    _switch("mcp_all_conversations"),
    _row("hints", "list", _hints, f"a list of {', '.join(HINT_EVENTS)}"),
    _choice("embedder", "", "minilm", "minilm-int8", "openai"),
    _row("embedder_model", "text", _any, "the name of a model as a text, or an empty text"),
    _row("embedder_base_url", "text", _address, _ADDRESS_WORDS),
    _row(
        "library_url",
        "text",
        _library,
        "an absolute path, postgresql://USER@HOST/DATABASE without a password in it, or an empty text",
    ),
    _row("workers", "text", _scheduler, "the address of a scheduler such as tcp://host:8786, or an empty text"),
    _switch("fact_index"),
    _switch("bootstrap_facts"),
)

REMOVED: dict[str, Value] = {
    "max_answer_bytes": 4 << 20,
    "summary_part_bytes": 49152,
    "workers_wait_seconds": 60,
    "library_infers": True,
    "digest_confirmed": False,
    "archive_days": 0,
    "archive_max_bytes": 0,
}
"""Keys of `[ai_settings.knowledge]` that there were once -> the value that is in force now, whatever a file says."""

_BY_NAME = {setting.key: setting for setting in SETTINGS} | {setting.name: setting for setting in SETTINGS}

_TYPES: dict[str, tuple[type, ...]] = {"bool": (bool,), "int": (int,), "number": (int, float), "text": (str,)}

_ARTICLES = {bool: "true or false", int: "a whole number", float: "a number", str: "a text", list: "a list"}


def find_setting(name: str) -> Setting | None:
    """The row of `jobs` or `ai_settings.knowledge.jobs`, or None."""
    return _BY_NAME.get(name)


def nearest_key(name: str) -> str:
    """The known key that looks most like `name`, or ""."""
    from difflib import get_close_matches  # for a mistake alone

    known = [setting.key for setting in SETTINGS]
    return next(iter(get_close_matches(name.rpartition(".")[2], known, n=1, cutoff=0.5)), "")


def checked_value(setting: Setting, raw: object) -> Value | None:
    """`raw` (as tomllib gives it) as the typed value of `setting`; None where it is not accepted.

    A boolean is not a number here, and neither is NaN or an infinity. Lists come back as tuples.
    """
    if isinstance(raw, bool) != (setting.kind == "bool"):
        return None
    if setting.kind == "list":
        if not isinstance(raw, (list, tuple)) or not all(isinstance(one, str) for one in raw):
            return None
        value: Value = tuple(raw)
    elif isinstance(raw, _TYPES[setting.kind]) and isinstance(raw, (bool, int, float, str)):
        value = raw
    else:
        return None
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if setting.check(value) else None


def found_words(raw: object) -> str:
    """What stands there, in words: `the text "4"`, `true`, `a list`."""
    if isinstance(raw, bool):
        return "true" if raw else "false"
    if isinstance(raw, str):
        shown = _without_secrets(raw)
        shown = shown if len(shown) <= 60 else shown[:57] + "..."
        return f'the text "{shown}"'.replace("\n", " ")
    if isinstance(raw, (int, float)):
        return "a very large number" if abs(raw) >= 10**20 else f"the number {raw!r}"
    if isinstance(raw, dict):
        return "a table"
    return _ARTICLES.get(type(raw), "a date or time")


def _without_secrets(text: str) -> str:
    """What a user wrote as a value, for a message that may end up in a ticket: no password of an address, no key."""
    from core.base.secrets.redact import redact

    return redact(re.sub(r"://[^/\s]*@", "://[redacted: url-password]@", text)).text


def _as_list(setting: Setting, typed: str) -> str:
    """How a list is typed: with the words that were typed, where they are what the setting takes."""
    import json

    words = [word for word in typed.strip("[]").replace(",", " ").split() if word.strip("\"'")]
    meant = json.dumps([word.strip("\"'") for word in words], ensure_ascii=False)
    if not words or checked_value(setting, json.loads(meant)) is None:
        return "; in a shell it stands between single quotes"
    return f"; you may mean {meant}, in a shell '{meant}'"


def unknown_key(name: str) -> KnowledgeError:
    """The error for a key that does not exist, with the nearest one that does."""
    near = nearest_key(name)
    hint = f"the nearest one is {near!r}" if near else "'knowledge config show' lists every setting"
    return KnowledgeError("unknown-setting", f"there is no setting {name!r}", hint=hint)


def parse_setting(key: str, text: str) -> Value:
    """Turn what was typed on the command line into the typed value of `key`.

    Booleans are `true`/`false` (also on/off, yes/no), numbers are plain, lists are written as in TOML, and texts may
    stand bare or in quotes. Raises KnowledgeError: unknown key, or a text that the setting does not accept.
    """
    import tomllib

    setting = find_setting(key)
    if setting is None:
        raise unknown_key(key)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise KnowledgeError("bad-setting", f"the value for {setting.key} holds bytes that are no text") from None
    word = text.strip()
    raw: object = text
    if setting.kind == "bool":
        raw = {"true": True, "on": True, "yes": True, "false": False, "off": False, "no": False}.get(word.lower(), text)
    elif setting.kind != "text" or word[:1] in ("'", '"'):
        try:
            # One line only: a second one could smuggle in another key.
            raw = text if "\n" in word or "\r" in word else tomllib.loads(f"value = {word}")["value"]
        except (tomllib.TOMLDecodeError, RecursionError):
            raw = text
    value = checked_value(setting, raw)
    if value is None:
        hint = f"accepted: {setting.accepted}"
        if setting.kind == "list":
            hint += _as_list(setting, word)
        raise KnowledgeError("bad-setting", f"{setting.key} is {found_words(raw)}, which is not accepted", hint=hint)
    return value
