"""`knowledge similar` and `knowledge supersede`: what is alike, and what seems to be outdated."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.cli.table import group, needed, single, whole_number
from core.cli.text import change_text, count

if TYPE_CHECKING:
    from core.commands.alike import Dismissed, Pairs, Proposals
    from core.knowledge.alike import Placed


def similar_text(value: Pairs) -> str:
    rows = []
    for pair in value.pairs:
        rows += [f"{pair.score:>5.1f}  {_placed(pair.first)}", f"       {_placed(pair.second)}"]
    if not rows:
        return f"no two bullets are alike by {value.least} of 100\n"
    how = "'knowledge rm FILE:LINE' or 'knowledge edit FILE:LINE TEXT' changes a bullet"
    end = f"{count(len(value.pairs), 'pair')} alike; {how}"
    return "\n".join([*rows, end]) + "\n"


def proposals_text(value: Proposals) -> str:
    rows = []
    for pair in value.proposals:
        rows += [f"{pair.why}", f"  old  {_placed(pair.old)}"]
        rows += [f"  new  {_placed(pair.new)}"] * (pair.new is not pair.old)
    if not rows:
        return "nothing seems to be outdated\n"
    number = count(len(value.proposals), "proposal")
    moves = " and moves a finished task to Done" if any(pair.act == "done" for pair in value.proposals) else ""
    how = f"'knowledge supersede accept FILE:LINE' strikes the old one through{moves}, 'dismiss' keeps both"
    return "\n".join([*rows, f"{number}; {how}"]) + "\n"


def dismissed_text(value: Dismissed) -> str:
    both = "both stay" if value.proposal.new is not value.proposal.old else "it stays open"
    return f"{both}: {_placed(value.proposal.old)}\n"


def _placed(place: Placed) -> str:
    provenance = place.bullet.provenance
    return f"{place.file}:{place.bullet.line} {place.bullet.text} {provenance or ''}".rstrip()


_OLD = needed("match", "the old bullet: a part of its text, or FILE:LINE")
COMMANDS = (
    single(
        "similar",
        "bullets that are alike without being the same",
        "--least 90",
        ".alike:similar",
        similar_text,
        whole_number("--least", "minimum similarity, 50 to 100 (default: 85)", 85),
    ),
    group(
        "supersede",
        "what a newer conversation contradicts, finishes or answers: list, accept, dismiss",
        "accept facts.md:12",
        single(
            "list",
            "what seems to be outdated, finished or answered, and by what",
            "",
            ".alike:supersede_list",
            proposals_text,
        ),
        single(
            "accept",
            "strike the old one through, with a pointer to the new one; move a finished task to Done",
            "facts.md:12",
            ".alike:supersede_accept",
            change_text,
            _OLD,
        ),
        single(
            "dismiss",
            "leave it as it is, and ask no more",
            "facts.md:12",
            ".alike:supersede_dismiss",
            dismissed_text,
            _OLD,
        ),
    ),
)
