"""Distillers that ask a language model, for the quality table: each style and each prompt is one."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from core.base.answer import Generate
from core.base.result import KnowledgeError, Result, attempt
from core.commands.harvest_options import connect_provider
from core.commands.workspace import open_workspace
from core.harvest.answer import Item
from core.harvest.distil import distil
from core.harvest.steps import DistilSettings
from core.llm.credentials import keys_from
from core.llm.generate import connect
from core.llm.wire import ModelSettings
from tests.bench.quality_labels import Case
from tests.bench.quality_score import Distiller, Harvested
from tests.model_server import serving, why_not

ROOT = Path(__file__).resolve().parents[2]
LOOPBACK = "loopback"
PROMPTS = ROOT / "assets" / "prompts"


def model_ways(
    provider: str, model: str, styles: Sequence[str], prompts: Sequence[str], config: Path | None = None
) -> Iterator[tuple[str, Distiller]]:
    """(name, distiller) for each style with each prompt; the model's address and key are those of the settings.

    `loopback` is the small model of tests/model_server.py, which shows that the exchange works and nothing more. Prints
    one sentence and gives none if there is no model.
    """
    if provider == LOOPBACK:
        if why_not():
            print(f"the model cannot be asked: {why_not()}", file=sys.stderr)
            return
        with serving() as address:
            settings = ModelSettings("openai", "smollm2", address, timeout_seconds=300, max_output_tokens=300)
            yield from _ways(provider, attempt(connect, settings, credentials=keys_from(None, {})), styles, prompts)
        return

    def connected() -> Generate:
        return connect_provider(open_workspace("", config, os.environ, Path.cwd()), provider, model)

    yield from _ways(f"{provider} {model}", attempt(connected), styles, prompts)


def _ways(
    name: str, connected: Result[Generate], styles: Sequence[str], prompts: Sequence[str]
) -> Iterator[tuple[str, Distiller]]:
    if isinstance(connected, KnowledgeError):
        print(f"the model cannot be asked: {connected.error}", file=sys.stderr)
        return
    for style in styles or ["one_call"]:
        for prompt in prompts or [""]:
            settings = settings_for(style, Path(prompt) if prompt else None)
            yield f"{name} {style} {Path(prompt).name}".strip(), _asking(settings, connected.value)


def _asking(settings: DistilSettings, generate: Generate) -> Distiller:
    def ask(case: Case) -> Harvested:
        done = attempt(distil, case.conversation, case.document, settings, generate)
        if isinstance(done, KnowledgeError):
            print(f"{case.document}: {done.error}", file=sys.stderr)
            return {}
        return rows_of(done.value.items)

    return ask


def settings_for(style: str, prompt: Path | None = None) -> DistilSettings:
    """The shipped settings of a style, with another prompt if one is given."""
    name = "harvest-category.md" if style == "per_category" else "harvest-conversation.md"
    text = (prompt or PROMPTS / name).read_text(encoding="utf-8").strip()
    summary = (PROMPTS / "summarize.md").read_text(encoding="utf-8").strip()
    return DistilSettings(2, 65_536, "check", True, text, summary, style=style)


def rows_of(items: Sequence[Item]) -> Harvested:
    """Items as the arrays that the scores read; what is held back for a user is no harvest yet."""
    rows: dict[str, list[dict[str, str]]] = {}
    for item in items:
        if not item.held:
            name, _, steps = item.text.partition("**: ")
            field = {"playbooks": {"steps": steps or name}, "files": {"note": item.text}}
            rows.setdefault(item.category, []).append(field.get(item.category, {"statement": item.text}))
    return rows
