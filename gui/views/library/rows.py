"""The library as rows, and what is told beside a chosen one, as plain data; no window is needed for any of it."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from core.base.choices import task_words
from core.base.figures import count
from core.commands.panel.bullets import local_day
from gui.toolkit.flow_rows import FlowRow
from gui.toolkit.letters import shortened
from gui.toolkit.typeset import visible
from gui.views.looks import Looks, joined, short_folder
from gui.views.reader_rows import CODE, blocks, marked_down, one_line_of

if TYPE_CHECKING:
    from core.commands.library.use import Answered
    from core.commands.panel.overview import Dossier

OUTCOME_LOOKS: Mapping[str, Looks] = {
    "win": Looks("Win", "thumbs-up", "harvested", "wins"),
    "partial": Looks("Partial", "circle-check", "edited", "partial"),
    "miss": Looks("Miss", "minus", "hint", "misses"),
    "misleading": Looks("Misleading", "triangle-alert", "failed", "misleading"),
}
KEY_OF = {"win": "W", "partial": "P", "miss": "M", "misleading": "L"}
"""The key with which a user says how the selected passage served."""
TYPES: Mapping[str, str] = {
    "article": "file-text", "paper": "scroll-text", "note": "bookmark", "code": "file-code",
    "conversation": "messages-square", "reference": "book-open",
}  # fmt: skip
STRATEGIES = {"semantic": "meaning", "keyword": "words", "temporal": "recent"}
QUOTE = 260
"""The letters of a passage in its row."""
TITLE = 160
"""The letters of a title."""
CONTENT = 6_000
"""The letters of a passage in the inspector."""
TRACES = 4
"""The uses of a passage that stand there."""
_HEADINGS = re.compile(r"\A(?:\s*#{1,6} .*(?:\n|\Z))+")
_FENCES = re.compile(r"^[ ]*(?:`{3,}|~{3,}).*$", re.MULTILINE)
_WITHIN = re.compile(r"(?<!\n)\n(?![ ]*(?:[-*+•]|\d{1,3}[.)])[ ]|#{1,6}[ ]|[ ]*\||\s*\n)")
"""A line break within a paragraph."""
SERVES = frozenset({*KEY_OF, "copy"})


@dataclass(frozen=True)
class LibraryPage:
    """All that the view was told: answers of the library, what is chosen. `said` is chunk -> the outcome that was given
    to it here since the question was asked."""

    chosen: object = None
    answered: Answered | None = None
    said: Mapping[str, str] = field(default_factory=dict)
    documents: tuple[Mapping[str, Any], ...] = ()

    @property
    def dossiers(self) -> Sequence[Dossier]:
        """What answers the question, as it was retrieved."""
        return self.answered.retrieved.dossiers if self.answered is not None else ()

    @property
    def dossier(self) -> Dossier | None:
        """The dossier of the chosen row."""
        return next((one for one in self.dossiers if one.chunk.id == self.chosen), None)

    @property
    def document(self) -> Mapping[str, Any] | None:
        """The document of the chosen row."""
        return next((one for one in self.documents if one["id"] == self.chosen), None)


# --- rows -------------------------------------------------------------------------------------------------------------


def everything(state: LibraryPage) -> list[FlowRow]:
    """The documents; once something was asked, the answers."""
    if state.answered is None:
        return document_rows(state)
    return [answer_row(one, state.said.get(one.chunk.id, "")) for one in state.dossiers]


def answer_row(one: Dossier, said: str) -> FlowRow:
    """What answers the question: where it stands, how it begins, what was said of it or how it served."""
    looks = OUTCOME_LOOKS.get(said)
    used = f"served {one.success * 100:.0f} %" if one.success is not None else ""
    used = used or (f"used {one.used:,} times" if one.used > 1 else "never used yet")
    row = marked_down(one.chunk.id, f"{place_of(one)}\n{quoted(one.chunk.content)}")
    sign, color = (looks.icon, looks.color) if looks else (TYPES.get(one.document.content_type, "file"), "accent")
    return replace(
        row, meta=joined(f"you said: {said}" if said else used, one.document.content_type, f"score {one.score:.2f}"),
        icon=sign, color=color, can=SERVES | ({"undo"} if said else set()), strong=row.text.index("\n"),
    )  # fmt: skip


def quoted(content: str) -> str:
    """How a passage begins, without its headings and the fences around its code; further down "#" begins a comment."""
    return shortened(one_line_of(_FENCES.sub("", _HEADINGS.sub("", content))) or one_line_of(content), QUOTE)


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
        title = shortened(one_line_of(str(one["title"] or one["path"])), TITLE)
        made.append(FlowRow(one["id"], title, meta, sign, color, tone, frozenset({*can, "open", "copy"})))
    return made


# --- what stands beside a chosen row ----------------------------------------------------------------------------------


def sheet(state: LibraryPage) -> list[FlowRow]:
    """What stands beside the list: a passage with what it is good for, or a document."""
    one = state.dossier
    if one is not None:
        return dossier_rows(one, state.said.get(one.chunk.id, ""))
    document = state.document
    if document is None:
        return []
    title = shortened(one_line_of(str(document["title"])), TITLE)
    return [
        FlowRow("title", title, short_folder(str(document["path"])), strong=len(title)),
        FlowRow("summary", one_line_of(str(document["summary"] or "")) or "Without a summary.", text_color="muted"),
    ]


def dossier_rows(one: Dossier, said: str = "") -> list[FlowRow]:
    """A dossier: content, summary, what it is good for, its source, why it was found, how it was used."""
    chunk, title, whole = one.chunk, place_of(one), one.chunk.content.strip()
    about = joined(one.origin.strip("[]"), chunk.chunk_type, chunk.rhetorical_mode,
                   f"{chunk.token_count} tokens" if chunk.token_count else "")  # fmt: skip
    learned = one_line_of(chunk.functional_profile or "") or "Nothing yet: a consolidation says it from five uses on."
    told = [("In short", one_line_of(chunk.summary or "")), ("Good for", learned)]
    if one.source is not None:
        profile = (
            one_line_of(one.source.functional_profile or "")
            or f"{task_words(one.source.source_type)}, nothing learned yet"
        )
        told.append((f"Source: {one.source.domain}", profile))
    told += [("Beware", one_line_of(caution)) for caution in one.beside]
    told.append(("Why it was found", why_words(one.why)))
    told.append(("You said", said) if said or one.tally else ("How it was used", "Never yet: W, P, M or L says how."))
    told += [(f"How it was used for {task_words(task)}", outcome_words(numbers)) for task, numbers in one.tally.items()]
    told += [
        (
            local_day(trace.timestamp.isoformat()),
            f"{trace.outcome}{f': {one_line_of(trace.notes)}' if trace.notes else ''}",
        )
        for trace in one.traces[:TRACES]
    ]
    needs = "it needs what stands around it in its document" if chunk.needs_context else ""
    return [
        FlowRow("title", title, joined(about, needs), strong=len(title)),
        *passage((_HEADINGS.sub("", whole) or whole)[:CONTENT]),  # its headings are its title
        *(labelled((label, at), label, words) for at, (label, words) in enumerate(told) if words),
    ]


def labelled(key: Hashable, label: str, words: str) -> FlowRow:
    """A label, and below it what it says."""
    row = marked_down(key, f"{one_line_of(label)}\n{words}")
    return replace(row, strong=row.text.index("\n"), text_color="muted")


def passage(text: str) -> Iterator[FlowRow]:
    """Its paragraphs, each whole (code that begins on one line may end on the next), and what stands between fences
    as code."""
    for at, (kind, part, _language) in enumerate(blocks(text.expandtabs(4))):
        words = visible(part.strip("\n"))
        if kind == CODE:
            yield FlowRow(("code", at), words, code=((0, len(words)),))
        else:
            yield marked_down(("words", at), _WITHIN.sub(" ", words))


# --- words ------------------------------------------------------------------------------------------------------------


def place_of(one: Dossier) -> str:
    """Document and heading, without saying a thing twice."""
    title, heading = one_line_of(one.document.title or one.document.source), one_line_of(one.chunk.heading)
    begins = heading == title or heading.startswith(f"{title} > ")
    return shortened(heading if begins else " > ".join(part for part in (title, heading) if part), TITLE)


def why_words(why: Mapping[str, float]) -> str:
    """The parts of a score: `meaning 0.71, words 0.40`."""
    return ", ".join(f"{STRATEGIES.get(name, name)} {score:.2f}" for name, score in why.items())


def outcome_words(numbers: Mapping[str, int]) -> str:
    """`3 wins, 1 misleading`."""
    said = [count(numbers[one], one, looks.noun) for one, looks in OUTCOME_LOOKS.items() if numbers.get(one)]
    return ", ".join(said) or "no outcomes"
