"""What each command's result looks like on a terminal, and as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, is_dataclass
from typing import Any

from core.base.result import ErrorInfo
from core.cli.figures import age, count, dollars, size, tokens
from core.cli.store_text import STORE_TEXT
from core.commands.context import DigestState
from core.commands.demo import Demo
from core.commands.settings import Settings
from core.commands.status import Status
from core.harvest.classify import CLASSES
from core.harvest.report import HarvestReport


def to_json(value: Any, *, ascii_only: bool = False) -> str:
    """One JSON document with a line break at its end."""
    return json.dumps(_plain(value), indent=2, ensure_ascii=ascii_only, default=str) + "\n"


def _plain(value: Any) -> Any:
    if hasattr(value, "to_json"):
        return value.to_json()
    if isinstance(value, (list, tuple)):
        return [_plain(row) for row in value]
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    return {"prefix": value} if isinstance(value, str) else value


def to_text(command: str, value: Any) -> str:
    """The report of a command; ends with a line break unless it is empty."""
    return TEXT[command](value)


def errors_of(value: Any) -> list[ErrorInfo]:
    """The failures that a report carries."""
    if isinstance(value, Demo):
        return list(value.applied.errors)
    return list(getattr(value, "errors", ()))


def harvest_text(report: HarvestReport) -> str:
    """The two reports of the seeds, to the letter; further lines come after them."""
    plan = report.plan
    if not report.applied:
        lines = [
            "artifacts: " + ", ".join(f"{name}:{plan.counts.get(name, 0)}" for name in CLASSES),
            f"harvest candidates: {size(plan.bytes_of('harvest'))} (~{tokens(report.tokens)} input tokens), "
            f"prune candidates: {size(plan.bytes_of('prune'))}",
            "dry run; pass --apply to harvest and reclaim",
        ]
        if report.price:
            lines.append(f"price: about {dollars(report.price)}")
    else:
        lines = [
            f"reclaimed: {size(report.reclaimed_bytes)}",
            "harvested items: " + ", ".join(f"{name}:{number}" for name, number in report.items.items()),
            f"digest: {report.digest or 'none'}",
            f"ledger: {report.ledger}",
            f"run: {report.run} (conversations: {report.harvested} harvested, {report.empty} of them with nothing "
            f"durable, {report.reclaimed} reclaimed, {report.kept} kept, {len(report.errors)} failed)",
        ]
        if report.input_tokens or report.output_tokens:
            cost = f", {dollars(report.spent)}" if report.spent else ""
            lines.append(
                f"spent: {tokens(report.input_tokens)} input and {tokens(report.output_tokens)} output tokens{cost}"
            )
    for name, number in (("deferred", report.deferred), ("too large", report.too_large)):
        if number:
            lines.append(f"{name}: {number}")
    if report.quarantined:
        lines.append(f"quarantined: {report.quarantined} ('knowledge quarantine' shows them)")
    for name, counts in (("secrets replaced", report.redacted), ("rows skipped", report.skipped)):
        if counts:
            lines.append(f"{name}: " + ", ".join(f"{kind}:{number}" for kind, number in sorted(counts.items())))
    return "\n".join(lines + [f"note: {note}" for note in report.notes]) + "\n"


def status_text(state: Status) -> str:
    rows = [f"home: {state.home}", ""]
    for row in state.files:
        detail = (
            f"{size(row.bytes):>8}  {count(row.bullets, 'bullet'):>12}  {age(row.modified):>7}" if row.exists else ""
        )
        extra = (
            f"  ({state.tasks['open']} open, {state.tasks['done']} done)" if row.name == "tasks" and row.exists else ""
        )
        name = "files/" if row.name == "files" else f"{row.name}.md"
        rows.append(f"  {name:<14}{detail or '  absent'}{extra}")
    digest = state.digest
    rows += ["", f"digest: {digest.bytes} of {digest.max_bytes} bytes, {digest.why}"]
    rows.append("ledger: " + ", ".join(f"{name}:{number}" for name, number in state.ledger.items()))
    waiting = state.pending
    rows.append(
        f"pending: {count(waiting['conversations'], 'conversation')}, {size(waiting['bytes'])}"
        + (" (the last run was interrupted: run the harvest again)" if waiting["interrupted"] else "")
    )
    rows.append(f"trash: {count(state.trash['files'], 'conversation')}, {size(state.trash['bytes'])}")
    if state.quarantined:
        rows.append(f"quarantine: {count(state.quarantined, 'item')}")
    if state.prompts:
        rows.append(f"your own prompts: {', '.join(state.prompts)}")
    return "\n".join(rows) + "\n"


def digest_text(state: DigestState) -> str:
    return state.text + ("" if state.text.endswith("\n") or not state.text else "\n") + f"({state.why})\n"


def config_text(settings: Settings) -> str:
    width = max(len(row.key) for row in settings.settings)
    values = [json.dumps(row.value, ensure_ascii=False) for row in settings.settings]
    column = min(40, max(map(len, values)))
    rows = [
        f"{row.key:<{width}} = {value:<{column}}  # {row.origin}"
        for row, value in zip(settings.settings, values, strict=True)
    ]
    return "\n".join([*rows, f"'knowledge config set KEY VALUE' writes {settings.writable}"]) + "\n"


def demo_text(demo: Demo) -> str:
    parts = [
        ("$ knowledge harvest", harvest_text(demo.dry_run)),
        ("$ knowledge harvest --apply", harvest_text(demo.applied)),
        ("$ knowledge status", status_text(demo.status)),
        ("$ knowledge digest", demo.digest),
    ]
    shown = "\n".join(f"{prompt}\n{text}" for prompt, text in parts)
    home = demo.home
    return (
        f"{shown}\nThe demo's home is {home}: look around, edit it, delete it.\nNext: knowledge status --home {home}\n"
    )


TEXT: dict[str, Callable[[Any], str]] = {
    "harvest": harvest_text,
    "status": status_text,
    "digest": digest_text,
    "context": lambda text: text,
    "config": config_text,
    "demo": demo_text,
    **STORE_TEXT,
}
