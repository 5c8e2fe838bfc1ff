"""What a search asks for: words, and the filters of `knowledge search`, by chip or written into the field as there
(`retry --kind conversation --since monday`). Both come to the same arguments of the same command."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

from core.base.choices import ENTRY_KINDS
from core.cli.table import command

OPTIONS = tuple(
    argument.names[0].removeprefix("--")
    for argument in command("search").arguments
    if argument.names[0] in ("--kind", "--since", "--before", "--tag", "--project", "--source", "--role")
)
REPEATED = ("source", "tag")
_OPTION = re.compile(
    rf"""(?:(?<=\s)|\A)--(?P<name>{"|".join(OPTIONS)})(?:(?:=|\s+)(?P<value>"[^"]*"?|'[^']*'?|(?!--)\S+))?(?!\S)\s*"""
)
PERIODS = {"7 days ago": "Last 7 days", "30 days ago": "Last 30 days", "365 days ago": "Last year"}
"""Days from which on, as `--since` takes them, that have a chip."""
ROLES = {"user": "Said by me", "assistant": "By the assistant", "tool": "By a tool"}


@dataclass(frozen=True)
class Wanted:
    """The arguments of `knowledge search` by their names; "" and () ask for nothing."""

    query: str = ""
    kind: str = ""
    since: str = ""
    before: str = ""
    tag: tuple[str, ...] = ()
    project: str = ""
    source: tuple[str, ...] = ()
    role: str = ""

    @property
    def asks(self) -> bool:
        """Whether the command would look for anything: words, or what the newest conversations are told by."""
        spoken = self.kind == "conversation" or bool(self.source or self.role)
        dated = bool(self.project or self.since or self.before) and self.kind not in ENTRY_KINDS and not self.tag
        return bool(self.query.strip()) or spoken or dated

    @property
    def filters(self) -> dict[str, Any]:
        """The options that are given, by name."""
        return {name: getattr(self, name) for name in OPTIONS if getattr(self, name)}

    @property
    def arguments(self) -> dict[str, Any]:
        """As the command takes them."""
        return {"query": (self.query,), **self.filters}


def written(text: str) -> Wanted:
    """What stands in the field: words, and options among them; one without a value is still being typed."""
    given: dict[str, Any] = {}
    for one in _OPTION.finditer(text):
        name, value = one["name"], (one["value"] or "").strip("\"'")
        if value:
            given[name] = (*given.get(name, ()), value) if name in REPEATED else value
    return Wanted(_OPTION.sub("", text).strip() if given or "--" in text else text, **given)


def without(text: str, name: str, value: str) -> str:
    """The field without an option of this value."""
    return _OPTION.sub(
        lambda one: "" if one["name"] == name and (one["value"] or "").strip("\"'") == value else one[0], text
    ).strip()


def both(typed: Wanted, chosen: Wanted) -> Wanted:
    """What is written and what is chosen by chips; what is written goes before."""
    merged = {name: getattr(typed, name) or getattr(chosen, name) for name in OPTIONS}
    merged |= {name: tuple(dict.fromkeys((*getattr(chosen, name), *getattr(typed, name)))) for name in REPEATED}
    return Wanted(typed.query, **merged)


def switched(chosen: Wanted, name: str, value: str, on: bool) -> Wanted:
    """The chips with one of them on or off. Only conversations have a source and a role: a kind of entry and these
    exclude each other, and the last one that was chosen counts."""
    change: dict[str, Any] = {name: value if on else ""}
    if name in REPEATED:
        kept = tuple(one for one in getattr(chosen, name) if one != value)
        change = {name: (*kept, value) if on else kept}
    chosen = replace(chosen, **change)
    if on and name in ("source", "role") and chosen.kind in ENTRY_KINDS:
        chosen = replace(chosen, kind="")
    if on and name == "kind" and value in ENTRY_KINDS:
        chosen = replace(chosen, source=(), role="")
    return chosen
