"""Distillers that ask a language model, for the quality table: each style and each prompt is one."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from core.base.result import Err
from core.commands.harvest import connect_provider
from core.commands.workspace import open_workspace
from core.harvest.answer import Item
from core.harvest.distil import distil
from core.harvest.options import DistilSettings
from tests.bench.quality_labels import Case
from tests.bench.quality_score import Distiller, Harvested

ROOT = Path(__file__).resolve().parents[2]
PROMPTS = ROOT / "assets" / "prompts"


def model_ways(
    provider: str, model: str, styles: Sequence[str], prompts: Sequence[str]
) -> Iterator[tuple[str, Distiller]]:
    """(name, distiller) for each style with each prompt. Prints one sentence and gives none if there is no model."""
    opened = open_workspace("", ROOT / "config.toml", os.environ, Path.cwd())
    connected = opened if isinstance(opened, Err) else connect_provider(opened.value, provider, model)
    if isinstance(connected, Err) or isinstance(opened, Err):
        print(f"the model cannot be asked: {connected.error}", file=sys.stderr)
        return
    generate = connected.value
    for style in styles or ["one_call"]:
        for prompt in prompts or [""]:
            settings = settings_for(style, Path(prompt) if prompt else None)

            def ask(case: Case, settings: DistilSettings = settings) -> Harvested:
                done = distil(case.conversation, case.document, 0, settings, generate)
                if isinstance(done, Err):
                    print(f"{case.document}: {done.error}", file=sys.stderr)
                    return {}
                return rows_of(done.value.items)

            yield f"{provider} {model} {style} {Path(prompt).name}".strip(), ask


def settings_for(style: str, prompt: Path | None = None) -> DistilSettings:
    """The shipped settings of a style, with another prompt if one is given."""
    name = "harvest-category.md" if style == "per_category" else "harvest-conversation.md"
    text = (prompt or PROMPTS / name).read_text(encoding="utf-8").strip()
    summary = (PROMPTS / "summarize.md").read_text(encoding="utf-8").strip()
    return DistilSettings(2, 65_536, "check", True, text, summary, style=style)


def rows_of(items: Sequence[Item]) -> Harvested:
    """Items as the arrays that the scores read; what is held back for a person is no harvest yet."""
    rows: dict[str, list[dict[str, str]]] = {}
    for item in items:
        if not item.held:
            name, _, steps = item.text.partition("**: ")
            field = {"playbooks": {"steps": steps or name}, "files": {"note": item.text}}
            rows.setdefault(item.category, []).append(field.get(item.category, {"statement": item.text}))
    return rows
