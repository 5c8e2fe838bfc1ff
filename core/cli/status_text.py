"""The texts of `status`, `digest`, `context`, `config` and `demo`."""

from __future__ import annotations

import json

from core.cli.figures import age, count, size
from core.cli.harvest_text import harvest_text
from core.cli.text import one_line
from core.commands.context import ContextPrefix, DigestState
from core.commands.demo import Demo
from core.commands.settings import Settings
from core.commands.status import Status
from core.commands.trust import TrustReport


def status_text(state: Status) -> str:
    new = "" if state.exists else " (does not exist yet: the first 'knowledge add' or 'harvest --apply' makes it)"
    rows = [f"home: {state.home}{new}", ""]
    if any(row.exists for row in state.files):
        rows.append(f"  {'file':<14}{'size':>8}  {'bullets':>12}  {'changed':>7}")
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
    for file in state.context:
        budget = size(file.budget)
        fits = (
            f" of its budget of {budget}" if file.bytes <= file.budget else f", over its budget of {budget}; shorten it"
        )
        rows.append(f"context ({file.scope}): {size(file.bytes)}{fits}")
    if state.memories:
        rows.append(f"memories: {state.memories}")
    rows.append("ledger: " + ", ".join(f"{name}:{number}" for name, number in state.ledger.items()))
    waiting = state.pending
    rows.append(
        f"pending: {count(waiting['conversations'], 'conversation')}, {size(waiting['bytes'])}"
        + (" (the last run was interrupted: run the harvest again)" if waiting["interrupted"] else "")
    )
    rows.append(f"trash: {count(state.trash['files'], 'conversation')}, {size(state.trash['bytes'])}")
    if state.quarantined:
        rows.append(f"quarantine: {count(state.quarantined, 'item')} held back ('knowledge quarantine' shows them)")
    if state.outdated:
        rows.append(f"possibly outdated: {count(state.outdated, 'bullet')} ('knowledge supersede' lists them)")
    if state.prompts:
        rows.append(f"your own prompts: {', '.join(state.prompts)}")
    return "\n".join(rows) + "\n"


def digest_text(state: DigestState) -> str:
    return state.text + ("" if state.text.endswith("\n") or not state.text else "\n") + f"({state.why})\n"


def context_text(context: ContextPrefix) -> str:
    return context.prefix.text


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
    if report.action != "list":
        verb = "allowed" if report.action == "allow" else "forgotten"
        for row in report.changed:
            rows += [f"{verb}: {one_line(row.path)}", *(f"  {one_line(words)}" for words in row.says)]
        if not report.changed:
            rows.append("nothing here waits for your word" if report.action == "allow" else "nothing here was allowed")
        return "\n".join(rows) + "\n"
    for row in report.here:
        rows.append(f"here, {row.state}: {one_line(row.path)}")
        rows += [f"  {one_line(words)}" for words in row.says]
    if not report.here:
        rows.append("here: nothing that needs a word of yours")
    for row in report.allowed:
        now = "" if row.state == "trusted" else f", {row.state} since"
        rows.append(f"allowed {row.at[:10]}{now}: {one_line(row.path)}")
    if any(row.state == "waiting" for row in report.here):
        rows.append("'knowledge trust allow' lets in what waits here")
    return "\n".join(rows) + "\n"


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
        f"{shown}\nThe demo's home is {home}: look around, edit it, delete it. The next demo makes it anew.\n"
        f"Next: {_program()} status --home {home}\n"
    )


def _program() -> str:
    """How this program can be called from here: after `make run` its folder is not on the PATH."""
    import os
    import shutil
    import sys

    if shutil.which("knowledge"):
        return "knowledge"
    started = sys.argv[0]
    by_name = os.path.basename(started).removesuffix(".exe") == "knowledge"
    return started if by_name else f"{sys.executable} -m core"
