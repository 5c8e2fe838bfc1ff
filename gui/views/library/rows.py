"""The library as rows, and what is told beside a chosen one, as plain data; no window is needed for any of it.

`rows(state)` is the list at the left. `sheet(state)` is what stands beside it: words, bars and stacked bars, in the
order in which they are drawn by `sheet.py`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from core.base.figures import count
from core.commands.panel.bullets import local_day
from core.commands.panel.library import OUTCOME_KEYS, OUTCOMES
from gui.toolkit.flow_rows import FlowRow
from gui.toolkit.typeset import visible
from gui.views.looks import Looks, joined, short_folder
from gui.views.reader_rows import CODE, blocks, inline

if TYPE_CHECKING:
    from core.commands.panel.library import Answered, Dossier

OUTCOME_LOOKS: Mapping[str, Looks] = {
    "win": Looks("Win", "thumbs-up", "harvested"),
    "partial": Looks("Partial", "circle-check", "edited"),
    "miss": Looks("Miss", "minus", "hint"),
    "misleading": Looks("Misleading", "triangle-alert", "failed"),
}
KEY_OF = {outcome: key.upper() for key, outcome in OUTCOME_KEYS.items()}
TYPES: Mapping[str, str] = {
    "article": "file-text", "paper": "scroll-text", "note": "bookmark", "code": "file-code",
    "conversation": "messages-square", "reference": "book-open",
}  # fmt: skip
STRATEGIES = {"semantic": "meaning", "keyword": "words", "temporal": "recent"}
EXCERPT, QUOTE = 190, 260
TITLE, FIRST, CONTENT = 160, 420, 6_000
"""This many letters of a title are shown; of a passage so many stand first in its dossier, and so many at its end where
it is longer."""
_HEADINGS = re.compile(r"\A(?:\s*#{1,6} .*(?:\n|\Z))+")
_FENCES = re.compile(r"^[ ]*(?:`{3,}|~{3,}).*$", re.MULTILINE)
_ITEM = re.compile(r"[ ]*(?:[-*+•]|\d{1,3}[.)])[ ]|#{1,6}[ ]|[ ]*\|")
"""How a line begins that is no part of the paragraph before it."""
SERVES = frozenset({*OUTCOMES, "copy"})


TASKS = ("", "debugging", "implementation_howto", "conceptual_understanding", "factual_lookup", "decision_support",
         "opinion_gathering", "exploratory_research", "creative_inspiration", "other")  # fmt: skip


@dataclass(frozen=True)
class LibraryPage:
    """All that the view was told: the words in its field, answers of the library, what is chosen. `said` is chunk ->
    the outcome that was given to it here since the question was asked; `task` the kind of task that is asked for ("":
    told from the question)."""

    words: str = ""
    chosen: object = None
    answered: Answered | None = None
    said: Mapping[str, str] = field(default_factory=dict)
    task: str = ""
    documents: tuple[Mapping[str, Any], ...] = ()

    @property
    def dossiers(self) -> Sequence[Dossier]:
        """What answers the question, as it was retrieved."""
        return self.answered.retrieved.dossiers if self.answered is not None else ()

    @property
    def dossier(self) -> Dossier | None:
        """The dossier of the chosen row."""
        return next((one for one in self.dossiers if one.chunk.id == self.chosen), None)


# --- rows -------------------------------------------------------------------------------------------------------------


def everything(state: LibraryPage) -> list[FlowRow]:
    """The documents; once something was asked, the answers."""
    return document_rows(state) if state.answered is None else answer_rows(state)


def answer_rows(state: LibraryPage) -> list[FlowRow]:
    """What answers the question: where it stands, how it begins, what was said of it or how it served."""
    made = []
    for one in state.dossiers:
        said = state.said.get(one.chunk.id, "")
        looks = OUTCOME_LOOKS.get(said)
        served = served_words(one.success) or (f"used {one.used:,} times" if one.used > 1 else "")
        meta = joined(f"you said: {said}" if said else served or "never used yet", one.document.content_type,
                      f"score {one.score:.2f}")  # fmt: skip
        sign, color = (looks.icon, looks.color) if looks else (TYPES.get(one.document.content_type, "file"), "accent")
        row = coded_row(one.chunk.id, f"{place_of(one)}\n{quoted(one.chunk.content)}", meta, sign, color,
                        SERVES | ({"undo"} if said else set()))  # fmt: skip
        made.append(replace(row, strong=row.text.index("\n")))
    return made


def coded_row(key: Hashable, words: str, meta: str, sign: str, color: str, can: Collection[str] = ()) -> FlowRow:
    """A row whose code stands on a ground, without the signs of its markdown."""
    text, styles = inline(words)
    code = tuple((begin, end) for begin, end, style in styles if style == "code")
    return FlowRow(key, text, meta, sign, color, can=frozenset(can), code=code)


def quoted(content: str) -> str:
    """How a passage begins, without its headings and the fences around its code; further down "#" begins a comment."""
    words = plain(_FENCES.sub("", _HEADINGS.sub("", content))) or plain(content)
    return short(words, QUOTE)


def document_rows(state: LibraryPage) -> list[FlowRow]:
    """Documents, those that are retrieved first."""
    order = {"active": 0, "archived": 1, "superseded": 2}
    made = []
    for one in sorted(state.documents, key=lambda row: order.get(str(row["status"]), 3)):
        active, status = one["status"] == "active", str(one["status"])
        can = {"active": {"archive"}, "archived": {"restore"}}.get(status, set())
        meta = joined("" if active else status, one["content_type"], count(one["chunks"], "chunk"),
                      local_day(str(one["ingested_at"])), short_folder(str(one["path"])))  # fmt: skip
        sign = TYPES.get(str(one["content_type"]), "file") if active else "archive"
        color, tone = ("accent", "text") if active else ("hint", "hint")
        title = short(plain(str(one["title"] or one["path"])), TITLE)
        made.append(FlowRow(one["id"], title, meta, sign, color, tone, frozenset({*can, "open", "copy"})))
    return made


# --- the sheet --------------------------------------------------------------------------------------------------------


class Words(NamedTuple):
    """Words that wrap; `label` stands in a column at their left."""

    words: str
    color: str = "text"
    role: str = "text"
    label: str = ""


class Bar(NamedTuple):
    """A name, a bar of which `share` (0 to 1) is full, and a figure."""

    label: str
    share: float
    figure: str
    color: str = "accent"


class Stack(NamedTuple):
    """A name, how often each outcome, and figures; `most` is how many make a whole bar (0: this is one)."""

    label: str
    numbers: Mapping[str, int]
    figure: str
    color: str = "text"


class Rule(NamedTuple):
    """A thin line."""


Block = Words | Bar | Stack | Rule


def sheet(state: LibraryPage) -> list[Block]:
    """What stands beside the list."""
    one = state.dossier
    if one is not None:
        return dossier_sheet(one, state.dossiers, state.said.get(one.chunk.id, ""))
    chosen = next((one for one in state.documents if one["id"] == state.chosen), None)
    return document_sheet(chosen) if chosen is not None else []


def dossier_sheet(one: Dossier, others: Sequence[Dossier], said: str = "") -> list[Block]:
    """A dossier: content, summary, what it is good for, its source, why it was found, how it was used."""
    made: list[Block] = [
        Words(place_of(one), role="heading"),
        Words(joined(one.origin.strip("[]"), one.chunk.chunk_type, one.chunk.rhetorical_mode,
                     f"{one.chunk.token_count} tokens" if one.chunk.token_count else ""), "hint", "small"),
    ]  # fmt: skip
    if one.chunk.needs_context:
        made.append(Words("Needs what stands around it in its document.", "edited", "small"))
    whole = one.chunk.content.strip()
    first = whole if len(whole) <= FIRST else f"{whole[:FIRST].rsplit(None, 1)[0]} …"
    made += [Rule(), *paragraphs(first), Rule()]
    if one.chunk.summary and plain(one.chunk.summary) not in plain(one.chunk.content):
        made.append(Words(plain(one.chunk.summary), "muted", label="In short"))
    profile = plain(one.chunk.functional_profile or "")
    nothing = "Nothing yet: a consolidation says it from five uses on."
    made.append(Words(profile or nothing, "text" if profile else "hint", label="Good for"))
    if one.source is not None:
        profile = plain(one.source.functional_profile or "") or f"{named(one.source.source_type)}, nothing learned yet"
        made.append(Words(f"{one.source.domain}: {profile}", "muted", label="Source"))
    made += [Words(plain(caution), "edited", label="Beware") for caution in one.beside]
    made += [Rule(), Words("Why it was found", "muted", "strong")]
    shares = shares_of(one, others)
    top = max(shares, key=lambda name: shares[name], default="")
    made += [Bar(STRATEGIES.get(name, name), share, f"{one.why[name]:.2f}", "accent" if name == top else "accent@60")
             for name, share in shares.items()]  # fmt: skip
    made += [Rule(), Words("How it was used", "muted", "strong")]
    if not one.tally and not said:
        made.append(Words("Never yet. W, P, M or L says how it served you.", "hint"))
    for task, numbers in sorted(one.tally.items(), key=lambda row: (row[0] != one.task_type, row[0])):
        color = "text" if task == one.task_type else "muted"
        made.append(Stack(named(task), numbers, f"{sum(numbers.values()):,}", color))
        made.append(Words(outcome_words(numbers), "hint", "small"))
    for trace in one.traces[:4]:
        note = f": {plain(trace.notes)}" if trace.notes else ""
        made.append(Words(f"{local_day(trace.timestamp.isoformat())}: {trace.outcome}{note}", "muted", "small"))
    if said:
        made.append(Words(f"You said: {said}", OUTCOME_LOOKS[said].color, "strong"))
    if first != whole:
        made += [Rule(), Words("All of it", "muted", "strong"), *paragraphs(whole[:CONTENT])]
    return made


def shares_of(one: Dossier, others: Sequence[Dossier]) -> dict[str, float]:
    """The parts of a score, each as a share of the best among all."""
    best = {name: max(abs(other.why.get(name, 0.0)) for other in others) for name in one.why}
    return {name: min(1.0, max(0.0, score / best[name])) if best[name] else 0.0 for name, score in one.why.items()}


def paragraphs(text: str) -> list[Block]:
    """Its paragraphs, each whole (code that begins on one line may end on the next), headings stronger, and what
    stands between fences as code, line by line."""
    made: list[Block] = []
    for kind, part, _language in blocks(text.expandtabs(4)):
        if kind == CODE:
            made += [Words(visible(line), role="mono") for line in part.splitlines() if line.strip()]
            continue
        open_ = False
        for line in visible(part).splitlines():
            if open_ and line.strip() and not _ITEM.match(line):
                made[-1] = Words(f"{made[-1].words} {line.strip()}")  # type: ignore[union-attr]
            elif line.strip():
                made.append(Words(line.lstrip("# ") or line, role="strong") if line.startswith("#") else Words(line))
            open_ = bool(line.strip()) and not line.startswith("#")
    return made


def document_sheet(one: Mapping[str, Any]) -> list[Block]:
    """A document."""
    return [
        Words(short(plain(str(one["title"])), TITLE), role="heading"),
        Words(short_folder(str(one["path"])), "hint", "small"),
        Rule(),
        Words(plain(str(one["summary"] or "")) or "Without a summary.", "text" if one["summary"] else "hint"),
        Rule(),
        Words(str(one["content_type"]), label="Type"),
        Words(str(one["chunks"]), label="Chunks"),
        Words(local_day(str(one["ingested_at"])), label="Added"),
        Words(str(one["status"]), "text" if one["status"] == "active" else "edited", label="State"),
    ]


# --- words ------------------------------------------------------------------------------------------------------------


def plain(text: str) -> str:
    """Text on one line, in which nothing hides."""
    return visible(" ".join(text.split()))


def short(text: str, letters: int) -> str:
    """Text cut to so many letters."""
    return text if len(text) <= letters else f"{text[: letters - 1].rstrip()}…"


def named(task: str) -> str:
    """A kind of task as it is said."""
    return task.replace("_", " ").replace("howto", "how-to")


def place_of(one: Dossier) -> str:
    """Document and heading, without saying a thing twice."""
    title, heading = plain(one.document.title or one.document.source), plain(one.chunk.heading)
    begins = heading == title or heading.startswith(f"{title} > ")
    return short(heading if begins else " > ".join(part for part in (title, heading) if part), TITLE)


def percent(share: float) -> str:
    """A share as a figure."""
    return f"{share * 100:.0f} %"


def served_words(share: float | None) -> str:
    """How well something served, where that is known."""
    return f"served {percent(share)}" if share is not None else ""


def outcome_words(numbers: Mapping[str, int]) -> str:
    """`3 wins, 1 misleading`."""
    plural = {"win": "wins", "miss": "misses"}
    said = [f"{numbers[one]:,} {one if numbers[one] == 1 else plural.get(one, one)}"
            for one in OUTCOMES if numbers.get(one)]  # fmt: skip
    return ", ".join(said) or "no outcomes"
