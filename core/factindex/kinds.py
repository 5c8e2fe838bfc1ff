"""Which of the seed's five categories a harvested line is: what the model said, else what its words say outright."""

from __future__ import annotations

import re

from core.factindex.facts import CATEGORIES

_PITFALL = re.compile(
    r"\b(?:pitfalls?|gotchas?|beware|watch out|careful|caveat|footgun|wrongly|mistakenly|by mistake"
    r"|do(?:es)? not assume|don't assume|assumed\b.{0,80}\b(?:but|actual|in fact|instead|not)|turned out to be wrong"
    r"|silently (?:fails?|ignor\w+|drops?|breaks?|overwrit\w+)|easy to miss|common mistake|breaks? when|must never"
    r"|never use|never call|fails? unless)\b",
    re.IGNORECASE,
)
_SYSTEM = (
    r"(?:macos|mac os|osx|windows|linux|wsl|docker|alpine|debian|ubuntu|arm64|apple silicon|safari|firefox|chrome)"
)
_QUIRK = re.compile(
    r"\b(?:quirks?|idiosyncra\w+|oddly|surprisingly|counter-?intuitively|undocumented"
    r"|contrary to (?:its|the) documentation"
    rf"|requires? (?:a |the )?\S+(?: \S+)? on {_SYSTEM}|(?:only|differently|not) (?:works? )?on {_SYSTEM}"
    rf"|on {_SYSTEM}[, ].{{0,60}}\b(?:needs?|requires?|expects?|behaves?|differs?))\b",
    re.IGNORECASE,
)
OF_CATEGORY = {"facts": "fact", "playbooks": "pattern", "questions": "question"}
"""What the harvest's categories become."""


def kind_of(category: str, text: str, said: str = "") -> str:
    """`category` is one of OF_CATEGORY, `said` the model's word ("" for none). Only a statement can be a pitfall or a
    quirk by its words: a question about a pitfall stays a question."""
    if said in CATEGORIES:
        return said
    usual = OF_CATEGORY[category]
    if usual != "fact":
        return usual
    return "pitfall" if _PITFALL.search(text) else "tool-quirk" if _QUIRK.search(text) else usual
