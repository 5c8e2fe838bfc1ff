"""What a unit of a session looks like to the fitted selection: how it is made, and its place in the arc of the session.

Every feature is a short string (`names>=3`, `last_exchange`) that has its weight in `assets/worth.tsv`. They are read
off the line that a unit makes and off its session alone, in time linear in the text. Some fifty do better on
repositories left out than the two thousand of before, single words among them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from core.rules.prose import by_person
from core.rules.sentence import alike, names_in
from core.rules.session import Session
from core.rules.units import Unit

GATES = {
    "hedge": r"\b(?:likely|might|may(?: be| have| not)?|maybe|perhaps|probably|appears?(?: to)?|seems?|possibly|"
    r"presumably|suggests?|suspect\w*|could(?! not)|I think|not sure|apparently|potentially|hopefully|"
    r"typically|usually|generally|"
    r"should(?:n['’]t be| (?:now|resolve|fix|work|be (?:fixed|resolved|working|able|good)|no longer|see|prevent|also|"
    r"help|import|correctly))|must be that|if you(?:'d| want| like| need| prefer)?|"
    r"let me know|feel free)\b",
    "opens": r"^(?:looking (?:at|more)|the user\b|based on|I (?:see|notice|found|can|understand|need|apologi)|"
    r"I['’](?:ll|m)|I['’]ve (?:made|now|added the|updated the|successfully|identified)|let me|to test|try\b|give it|"
    r"committed|created (?:comprehensive|a (?:comprehensive|new))|verified|confirmed|grepped|checking|check\b|reading|"
    r"ran\b|I ran|tested|all (?:changes|tests|the)|the fix(?:es)? (?:is|are) (?:now |minimal)|everything|status|task\b|"
    r"todo|action needed|wait\b|actually\b|hmm|interesting|ah\b|oh\b|good (?:news|catch|point|question)|you['’]re|"
    r"you (?:are|have|can|should|might|need)|now\b|next\b|first\b|once\b|after (?:re)?build|here|please|in this|"
    r"as (?:you|I)|so\b|would you|do you|want me|sorry|thanks|yes\b|quick|manual\b|current(?:ly)?\b|expected|done\b|"
    r"summary|see\b|implemented points|I (?:reviewed|did not|do not|checked)|already up to date|"
    r"(?:common|possible|potential) causes|the (?:main )?issues? (?:is|are)\b|"
    r"the error is coming)",
    "moment": r"\b(?:right now|at the moment|currently(?! viewing)|current |today|yesterday|so far|earlier|"
    r"previous(?:ly)? (?:session|attempt|run)|this (?:session|time|conversation|turn)|just now|"
    r"as (?:of now|before|above|requested)|you asked|your (?:request|question|message|screenshot)|"
    r"the screenshot|the (?:first|second|last|next) (?:focused )?(?:run|step|issue|attempt)|still (?:in|need|un)|"
    r"in progress|already (?:fixed|done|there|made)|surfaced|the conversation|the (?:file|editor|tab) you (?:have|had)|"
    r"(?:this|these) (?:fix(?:es)?|changes?|approach|updates?|errors?|files?|issues?|bugs?|problem|script|command|"
    r"function|method|tests?|message|page|component|solution|implementation)|"
    r"the (?:changes?|fix(?:es)?|updates?|new (?:approach|structure)|edits?|commands?|script)(?=\s+(?:is|are|was|were|"
    r"will|would|should|has|have|replaces?|ensures?|maintains?|itself|add|now)))\b|\bwith the new approach\b",
    "seen": r"\b(?:tests? (?:now )?pass\w*|all (?:\w+ )?tests|\d+ (?:passed|tests)|passes|successfully|succeeded|"
    r"verified|confirm\w*|all clear|no errors?|compil(?:es|ed) (?:clean|fine|without)|"
    r"works? (?:now|correctly|as expected|fine)|is (?:now )?(?:running|live|complete|ready|fixed|resolved|working)|"
    r"ready for|are (?:now )?(?:running|healthy|live)|no \w+(?: \w+)? (?:remain|left|found)\w*|no matches|"
    r"(?:is|are|looks?) (?:internally )?(?:consistent|correct)|wired correctly|up to date|"
    r"good \w+)\b|🎉|🚀|✅|🎯|"
    r"^(?:(?:created|updated|added)\b.*)?\b(?:documentation|changelog|readme)\b",
    "order": r"^(?:add|update|create|implement|ensure|use|replace|introduce|enhance|establish|design|rework|recreate|"
    r"author|document|run|fix|check|make|set|move|remove|merge|refactor|rename|test|open|press|click|close|re-?run|"
    r"start|restart|install|deploy|execute|verify|monitor|consider|keep|pass|align|investigate|increase|strengthen|"
    r"simplify|convert|embed|ask|find|include|extract|display|show|separate|apply|re-?generate|generate|configure|"
    r"write|build|call|select|enable|commit|push|publish|review|avoid|stop|try|put|change)\b"
    r"(?! \w+ (?:is|are|was|were|matters?|must|needs?|has|have|does|can|goes|go)\b)",
    "empty": r"``(?!`)",
    "leans": r"^(?:by contrast|caveat|works? (?:well|best)|what (?:was|is) happening|no:|you now|"
    r"the (?:instinct|downside|other)|net\b|pros?:|cons?:|"
    r"that\b|those\b|this\b|these\b|it\b|it['’]s\b|both\b|either\b|since we|"
    r"we (?:need|could|can)|"
    r"in (?:short|the end)|on the other hand|similarly|likewise|for example|why:|creativity|\w+ workflow:|recommended|"
    r"suggested|option\b|alternatively|so\b|the conflict|defer\b)|"
    r"\b(?:of|in|on|with|from|since|treats?) that (?!(?:the|a|an|it|they|we|you|is|are|was|were)\b)\w+|"
    r"\bin the same (?:file|folder|place|way)|\balso\b|\bsee (?:above|below)\b",
    "state": r"\b(?:ahead of|(?:ahead|behind) by|diverged|in sync|merge PR|merge pull|non-fast-forward|stack trace|"
    r"this commit|no diagnostics)\b|`[0-9a-f]{7,40}`|\b(?:sometimes|often|you can|you could|you may)\b",
}
"""What a line is none by, whatever else it has: a guess, an opening phrase, what holds at the moment alone, what was
seen to pass, what somebody is told to do, and code that was lost."""
_GATES = {name: re.compile(pattern, re.IGNORECASE) for name, pattern in GATES.items()}

_LOOKS = {
    "present": re.compile(
        r"\b(?:is|are|uses?|reads?|returns?|takes?|runs?|sends?|needs?|requires?|treats?|loads?|does(?:n['’]t)?|"
        r"do(?:n['’]t)?|can(?:not|['’]t)?|only|never|always|supports?|expects?|writes?|keeps?|lives?|holds?|contains?|"
        r"means?|exists?|wraps?|defaults?|has|have|stays?|goes|calls?|accepts?|ignores?|inherits?|covers?|gets?|"
        r"handles?|points?)\b"
    ),
    "reason": re.compile(
        r"\b(?:because|since|so (?:that|the|it|they|a|no|we|you)|otherwise|due to|"
        r"which (?:is why|means|would|caused|breaks|fails)|caused|instead of|rather than|"
        r"to (?:avoid|prevent|keep|ensure|make sure)|hence|therefore|unless|without|not)\b|—",
        re.IGNORECASE,
    ),
    "limit": re.compile(
        r"\b(?:only|not|never|no|cannot|can['’]t|doesn['’]t|does not|won['’]t|must|required?|requires|unless|until|"
        r"by default|silently|ignores?|without|fails?|breaks?|limit\w*|at most|at least|unaffected|unsupported|"
        r"harmless|safe to ignore)\b",
        re.IGNORECASE,
    ),
    "with_cure": re.compile(r"(?<=.)\bFix: "),
}
PAST = re.compile(
    r"(?:`[^`]+`(?:,? (?:and )?`[^`]+`)*\s*[:—–-]+\s*)?(?:(?:also|now) )?(?:added|removed|renamed|replaced|changed|"
    r"updated|moved|fixed|excluded|downgraded|upgraded|wrapped|reduced|increased|introduced|reordered|consolidated|"
    r"converted|switched|set|made|stopped|kept|left|restored|extracted|inlined|disabled|enabled|pinned|bumped|dropped|"
    r"split|merged|wired|gated|scoped|guarded|hardened|rewrote|reworked|adjusted|edited)\b",
    re.IGNORECASE,
)
"""How a line begins that tells what was done."""
_EFFECT = re.compile(r"\b(?:so|now|before|from .+ to|to use|to (?:return|make|hide|take|allow))\b|→|->", re.IGNORECASE)
_OWN = re.compile(
    r"`[^`\n]{2,}`|\b[a-z]+_[a-z_]+\b|\b[a-z]+[A-Z]\w+|\b[A-Z][a-z]+[A-Z]\w+|\w/\w+|\b\w+\.[a-z]{2,5}\b|--\w"
)
LONGEST_ASKED, MANY_NAMES = 400, 3
"""Characters of two messages of the user that are compared, and names from which on a change is told whole."""


class Scene:
    """What is asked of a session for each of its units, gathered once."""

    def __init__(self, session: Session, units: Sequence[Unit]) -> None:
        self.said = [(at, turn.text) for at, turn in enumerate(session.conversation.turns) if by_person(turn)]
        self.in_message = Counter((unit.turn, unit.place) for unit in units)
        self.asked_again = {
            at
            for (at, one), (_, other) in pairwise(self.said)
            if alike(one[:LONGEST_ASKED], other[:LONGEST_ASKED], 0.9)
        }


def gates(text: str) -> set[str]:
    """The gates that a line does not pass: `lore` where nothing of a project is named, `log` where it only tells what
    was done, without a reason, a limit or an effect."""
    found = {name for name, gate in _GATES.items() if gate.search(text)}
    if not _OWN.search(text):
        found.add("lore")
    says_why = any(_LOOKS[name].search(text) for name in ("reason", "limit")) or _EFFECT.search(text)
    if PAST.match(text) and not says_why and len(names_in(text)) < MANY_NAMES:
        found.add("log")
    return found


def asked_again(unit: Unit, scene: Scene) -> bool:
    """Whether the user asked for the same again after a message: what it said did not help."""
    return max((at for at, _ in scene.said if at < unit.turn), default=-1) in scene.asked_again


def features(unit: Unit, text: str, scene: Scene) -> Iterator[str]:
    """The features of the line `text` that a unit makes."""
    yield from (f"gate:{name}" for name in gates(text))
    names = len(names_in(text))
    yield from _steps("long", len(text), (60, 90, 130, 180, 260, 360))
    yield from _steps("names", names, (1, 2, 3, 4, 6))
    yield from _steps("code", text.count("`") // 2, (1, 2, 3, 5))
    looks = {name for name, look in _LOOKS.items() if look.search(text)}
    yield from looks
    if looks >= {"limit", "present"}:
        yield "limit+present"
    if PAST.match(text):
        yield "past"
        yield from _steps("past+names", names, (2,))
        yield "past+reason" if "reason" in looks else "past_alone"
    yield f"place:{unit.place}"
    yield from _steps("units", scene.in_message[unit.turn, unit.place], (2, 4, 8, 16, 32))
    later = sum(at > unit.turn for at, _ in scene.said)
    yield from _steps("exchanges_after", later, (1, 2, 3)) if later else ("last_exchange",)


def _steps(name: str, number: float, edges: Sequence[float]) -> Iterator[str]:
    yield from (f"{name}>={edge:g}" for edge in edges if number >= edge)
