"""The texts of `similar` and `supersede`."""

from __future__ import annotations

from core.cli.figures import count
from core.cli.store_text import change_text
from core.commands.alike import Dismissed, Pairs, Proposals
from core.knowledge.alike import Placed
from core.knowledge.edit import Edited


def similar_text(value: Pairs) -> str:
    rows = []
    for pair in value.pairs:
        rows += [f"{pair.score:>5.1f}  {_placed(pair.first)}", f"       {_placed(pair.second)}"]
    if not rows:
        return f"no two bullets are alike by {value.least} of 100\n"
    how = "'knowledge rm FILE:LINE' or 'knowledge edit FILE:LINE TEXT' changes a bullet"
    end = f"{count(len(value.pairs), 'pair')} alike; {how}"
    return "\n".join([*rows, end]) + "\n"


def supersede_text(value: Proposals | Edited | Dismissed) -> str:
    if isinstance(value, Edited):
        return change_text(value)
    if isinstance(value, Dismissed):
        return f"both stay: {_placed(value.proposal.old)}\n"
    rows = []
    for pair in value.proposals:
        rows += [f"{pair.why}", f"  old  {_placed(pair.old)}", f"  new  {_placed(pair.new)}"]
    if not rows:
        return "nothing seems to be outdated\n"
    number = count(len(value.proposals), "proposal")
    how = "'knowledge supersede accept FILE:LINE' strikes the old one through, 'dismiss' keeps both"
    return "\n".join([*rows, f"{number}; {how}"]) + "\n"


def _placed(place: Placed) -> str:
    provenance = place.bullet.provenance
    return f"{place.file}:{place.bullet.line} {place.bullet.text} {provenance or ''}".rstrip()
