"""What somebody is trying to do, read from how they ask; and how well a thing has served a kind of task.

The rules look at the words with which people ask for help of a kind, most telling first. They are for retrieval, where
a wrong guess costs a little order; who records an outcome says the task themselves.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TypeAlias

from core.base.figures import count

Tally: TypeAlias = Mapping[str, Mapping[str, int]]
"""Task -> outcome -> how often."""

NEEDED = 3
"""With fewer outcomes nothing is said about success."""
VALUE = {"win": 1.0, "partial": 0.5, "miss": -0.4, "misleading": -1.0}
"""What an outcome says about the next use of the same kind."""
SURE = 2.0
"""The value of all outcomes from which what they say counts half."""

_DO = (
    r"(write|add|make|create|build|generate|rename|move|change|replace|enable|disable|turn|run|set|update|upgrade|remove|"
    r"delete|drop|split|sort|parse|export|fetch|send|connect|refactor|open|use|commit|push|merge|rebase|revert|convert|"
    r"encapsulate|wrap|extract|implement|install|configure|publish|translate|put|apply|adjust|allow|extend|bump|format|"
    r"do (it|this|that|the following)|try using)"
)
"""Verbs with which somebody says what is to be done."""
_RULES: tuple[tuple[str, str], ...] = (
    ("debugging",
     r"\b(get(ting)?|got|gives?|throws?|raises?) (me )?(this|that|an?|the)?( \w+)? ?(error|exception)|\btraceback\b"),
    ("implementation_howto",
     r"\A\W*((please|ok|okay|yes|now|just|and|so|then|also|lets|let's|aider)\b\W*)*" + _DO + r"\b|"
     r"([.;,!?:]|\b(and|then))\W+((please|now|just|simply|then|lets|let's)\b\W*)*"
     + _DO
     + r"\b(?! (by|of|is|are)\b)"),
    ("debugging",
     r"\b(\w*errors?|\w*exceptions?|traceback|stack ?trace|fail\w*|crash\w*|bugs?|debug\w*|deadlock\w*|"
     r"hang(s|ing)?|hung|freez\w+|stuck|broken|breaks|leak\w*|segfault\w*|flak(y|ing)|time[sd]? ?out|timeout\w*|"
     r"corrupt\w*|wrong result|(does|do|did|is|are|was)(n't|nt| not) (work|start|stop|compil|load|respond|find|show|"
     r"connect|open|see|\w+ing\b|visible)\w*|(it|that|this|they)('s|'re| is| are) (just )?not \w+(ing|ible)|"
     r"can'?t (see|find|open|connect|load|run|start|get|log)|why (\w+ ){1,5}(doesn't|isn't|aren't|don't|didn't)|"
     r"is (incorrect|blank|empty|red)|line \d+, in|merge conflicts?|"
     r"not working|stopped working|undefined|panics?|regression|refused|rejected|denied|"
     r"nothing happens|no longer|won't|unexpected(ly)?|so slow|too slow|gone wrong|what's wrong|keeps? \w+ing|"
     r"(lost|missing) (connection|packets?|rows?|data)|out of memory)\b"),
    ("creative_inspiration",
     r"\b(ideas? for|brainstorm\w*|inspir\w+|creative|imagine|(a|good|better) (name|title|metaphor|story) for|"
     r"come up with|slogans?|taglines?|fun ways?|"
     r"what could (we|i) (call|name|make|write))\b"),
    ("opinion_gathering",
     r"\b(opinions?|what do (people|users|others|you) (think|say|feel)|think of|thoughts on|experiences? with|"
     r"recommend\w*|reviews? of|favou?rite|sentiment|anyone (use|tried)|popular|complain\w*|like about|"
     r"your take|how do you feel|any good|a good idea|not great)\b"),
    ("decision_support",
     r"\b(should (we|i|one)|which .{0,60}\b(better|best|choose|use|prefer)|versus|vs\.?|compar\w+|pros and cons|"
     r"trade-?offs?|worth (it|the|using)|better than|choose between|decide|alternatives? to|or should|"
     r"pick|go with|is it (better|safe|ok|okay|wise)|do (we|i) (need|want|have)|why (do|did|don't) we|rather than|"
     r"(use|keep|take) \S+ or \S+)\b"),
    ("conceptual_understanding",
     r"\b(explain\w*|how (do|does|did) .{0,60}\bwork|understand\w*|what does .{0,60}\bmean|differences? between)\b"),
    ("factual_lookup", r"\b(can|could) you (tell|remind|check|show|list|confirm)\b|\bremind me\b"),
    ("implementation_howto",
     r"\b(how (do|can|could|should|would|to|does one)\b|implement(s|ed|ing)?|set ?up|install\w*|"
     r"configur\w+|steps? to|write (a|an|the)|add (a|an)|examples? of (code|using)|migrate|deploy\w*|integrate|"
     r"convert\w*|snippet|tutorial|command (to|for)|(a|best|easiest|right) way to|"
     r"(need|want|trying|like) to \w+|(need|want) you to|help me \w+|fix|address|"
     r"(can|could) (you|we) (?!look|see)\w+)\b"),
    ("conceptual_understanding",
     r"\b(why (do|does|is|are|did|was|were)|concepts?|theory|principles?|intuition|"
     r"meaning of|what happens (when|if)|"
     r"the point of|the idea (of|behind)|make sense of|how come|what's the difference|"
     r"relationship between|in general)\b"),
    ("exploratory_research",
     r"\b(overview|survey|landscape|state of the art|explor\w+|what (is|do we) know(n)? about|everything (about|on)|"
     r"learn about|read about|literature|background on|summar\w+|discuss\w*|tell me about|trends?|look into|"
     r"anything (on|about)|what else|research|what (options|choices|kinds|sorts))\b|"
     r"\A\W*((please|can|could|you)\b\W*)*(look (at|through|over)|read|go through|scan|study|examine)\b"),
    ("factual_lookup",
     r"\b(who|whom|whose|when|where|which|what|how (many|much|long|often|old|far|big)|versions?|dates?|defaults?|"
     r"limits?|is there|are there|did|does|name of|list of|"
     r"what's|who's|where's|remind me|do we have|has|have)\b|\A\W*(is|are|do|can|will|any)\b.*\?\W*\Z"),
)  # fmt: skip


def infer_task_type(query: str) -> str:
    """The kind of task that a question sounds like; `other` where nothing tells."""
    for task, pattern in _RULES:
        if re.search(pattern, query[:2000], re.IGNORECASE):
            return task
    return "other"


def counts_for(tally: Tally, task_type: str) -> Mapping[str, int]:
    """The outcomes that speak for a kind of task: its own, and those of which nobody told the kind."""
    return merged([{"": tally.get(name, {})} for name in {task_type, "other"}])[""]


def speaks_for(counts: Mapping[str, int]) -> float:
    """How outcomes speak for a thing, from -1 to 1: the more of them, the surer."""
    net = sum(VALUE[outcome] * number for outcome, number in counts.items())
    return net / (abs(net) + SURE)


def success(counts: Mapping[str, int]) -> float | None:
    """How well it went, from 0 to 1: (win + ½ partial) / (win + ½ partial + miss + 2 misleading). None from fewer than
    three outcomes."""
    return rate_of(counts) if sum(counts.values()) >= NEEDED else None


def rate_of(counts: Mapping[str, int]) -> float:
    """The same from however few outcomes, for words that stand beside their numbers."""
    good = counts.get("win", 0) + counts.get("partial", 0) / 2
    whole = good + counts.get("miss", 0) + 2 * counts.get("misleading", 0)
    return good / whole if whole else 0.0


def total(tally: Tally) -> int:
    """How many outcomes there are, of all kinds of task."""
    return sum(sum(counts.values()) for counts in tally.values())


def merged(tallies: Iterable[Tally]) -> dict[str, dict[str, int]]:
    """The sum of tallies, tasks and outcomes in the order of their names."""
    whole: dict[str, Counter[str]] = {}
    for tally in tallies:
        for task, counts in tally.items():
            whole.setdefault(task, Counter()).update(counts)
    return {task: dict(sorted(whole[task].items())) for task in sorted(whole)}


def over_tasks(tally: Tally) -> dict[str, int]:
    """Outcome -> how often, whatever the task."""
    return merged([{"all": counts} for counts in tally.values()]).get("all", {})


def outcomes_text(counts: Mapping[str, int]) -> str:
    """`3 wins, 1 misleading`."""
    words = {"win": ("win", "wins"), "partial": ("partial", "partial"), "miss": ("miss", "misses"),
             "misleading": ("misleading", "misleading")}  # fmt: skip
    parts = [count(counts[name], one, many) for name, (one, many) in words.items() if counts.get(name)]
    return ", ".join(parts) or "no outcomes"


def rate_text(rate: float | None) -> str:
    """How well it went, behind its outcomes; "" where too little is known."""
    return "" if rate is None else f", success {rate:.2f}"
