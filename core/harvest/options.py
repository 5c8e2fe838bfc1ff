"""What a run is told: its limits, how to distil, where notes may be bound, how patient to be."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from core.harvest.known import KnownStore
from core.harvest.steps import Limits
from core.knowledge.patience import DEFAULT_PATIENCE, Patience
from core.sources.tools import Place


@dataclass(frozen=True)
class DistilSettings:
    """How to distil. `quotes` is check, require or off; sizes in bytes; prompts are the texts themselves.

    `style` is one_call or per_category; `harvest_prompt` is the prompt of that style. `waiting` is the file of what is
    too weak alone (None: none waits). `long` is parts or summarise; `context_tokens` is the model's window (0: nobody
    knows), `answer_tokens` the longest answer that is asked for. Without `judge` nothing is looked for in the
    conversation: for an estimate, which keeps no item.
    """

    attempts: int
    summarize_bytes: int
    quotes: str
    redact: bool
    harvest_prompt: str = ""
    summarize_prompt: str = ""
    part_bytes: int = 49152
    style: str = "one_call"
    waiting: Path | None = None
    long: str = "parts"
    context_tokens: int = 0
    answer_tokens: int = 8192
    judge: bool = True


@dataclass(frozen=True)
class HarvestOptions:
    """All settings of a run. `file_roots` are absolute folders; `digest_max_bytes` None: the digest is off. `home` says
    whether the home folder is read, `places` what else is; `copies` is a folder of ours for the rare store that can be
    read only as a copy, `kept` one for answers of the model `asked` that are still of use (None: none are kept),
    `usage` the file of what that model's provider reported (None: nothing is kept)."""

    limits: Limits
    distil: DistilSettings
    trash_days: int
    file_roots: tuple[str, ...]
    digest_max_bytes: int | None
    jobs: int = 4
    max_run_tokens: int = 0
    patience: Patience = field(default_factory=lambda: DEFAULT_PATIENCE)
    home: bool = True
    places: tuple[Place, ...] = ()
    copies: Path = Path("copies")
    kept: Path | None = None
    asked: str = ""
    usage: Path | None = None
    known: KnownStore | None = None


def read_prompt(name: str, user_folder: Path, shipped_folder: Path) -> str:
    """The user's own prompt if there is one, else the shipped one. Raises OSError or UnicodeDecodeError."""
    own = user_folder / name
    chosen = own if own.is_file() else shipped_folder / name
    return chosen.read_text(encoding="utf-8").strip()
