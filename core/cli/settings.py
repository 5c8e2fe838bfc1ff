"""`knowledge config` and `knowledge trust`: the settings, and what a folder's own may do."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING

from core.cli.table import group, needed, optional, single
from core.cli.text import one_line

if TYPE_CHECKING:
    from core.commands.settings import Settings, TrustReport, TrustRow


def config_text(settings: Settings) -> str:
    width = max(len(row.key) for row in settings.settings)
    values = [json.dumps(row.value, ensure_ascii=False) for row in settings.settings]
    column = min(40, max(map(len, values)))
    rows = [
        f"{row.key:<{width}} = {value:<{column}}  # {row.origin}"
        for row, value in zip(settings.settings, values, strict=True)
    ]
    where = f"written to {settings.writable}"
    if not settings.written:
        where = f"'knowledge config set KEY VALUE' writes {settings.writable}"
    return "\n".join([*rows, where]) + "\n"


def trust_text(report: TrustReport) -> str:
    rows = []
    for row in report.here:
        rows += _named(f"here, {row.state}", row)
    if not report.here:
        rows.append("here: nothing that needs a word of yours")
    for row in report.allowed:
        now = "" if row.state == "trusted" else f", {row.state} since"
        rows.append(f"allowed {row.at[:10]}{now}: {one_line(row.path)}")
    if any(row.state == "waiting" for row in report.here):
        rows.append("'knowledge trust allow' lets in what waits here")
    return "\n".join(rows) + "\n"


def changed_text(what: str, nothing: str, report: TrustReport) -> str:
    rows = [line for row in report.changed for line in _named(what, row)]
    return "\n".join(rows or [nothing]) + "\n"


def _named(what: str, row: TrustRow) -> list[str]:
    """A folder or file, and below it what it would do."""
    return [f"{what}: {one_line(row.path)}", *(f"  {one_line(words)}" for words in row.says)]


_FILE = optional("file", "a config.toml, a project's folder, or a file in its .manual_slop")
_KEY = "a setting's name, such as digest_enabled"
COMMANDS = (
    group(
        "config",
        "the settings: show, set KEY VALUE",
        "set provider ollama",
        single(
            "show",
            "every setting, or only KEY, with the file that its value comes from",
            "provider",
            ".settings:config_show",
            config_text,
            optional("key", _KEY),
        ),
        single(
            "set",
            "change one setting in your own config.toml",
            "jobs 2",
            ".settings:config_set",
            config_text,
            needed("key", _KEY),
            needed("value", "its new value"),
        ),
    ),
    group(
        "trust",
        "what a folder's own settings and knowledge may do: list, allow, forget",
        "allow",
        single(
            "list", "what waits here for your word, and what you have allowed", "", ".settings:trust_list", trust_text
        ),
        single(
            "allow",
            "allow what waits here, or FILE",
            "",
            ".settings:trust_allow",
            partial(changed_text, "allowed", "nothing here waits for your word"),
            _FILE,
        ),
        single(
            "forget",
            "take back what was allowed here, or FILE",
            ".",
            ".settings:trust_forget",
            partial(changed_text, "forgotten", "nothing here was allowed"),
            _FILE,
        ),
    ),
)
