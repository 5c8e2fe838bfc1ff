"""What the last closing messages and the review of a session leave open: items below such a heading, thoughts that say
so, and what the user has to do by hand."""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.rules import words
from core.rules.closing import (
    CURE,
    LONGEST,
    SHORTEST,
    SHORTEST_UNBROKEN,
    Thought,
    is_past,
    leaning,
    same,
    thoughts,
)
from core.rules.prose import begun, looks_like_code
from core.rules.reviews import NUMBERS, SLIGHT, find_in_review
from core.rules.sentence import CODE, Found, found, is_latin, lost, named, whole_quotes
from core.rules.session import Closing, Session

MAX_LEFT = 4
LEAST_WORDS, LEAST_ALONE = 4, 9

_AS_IT_WAS = re.compile(
    r"\b(?:left|kept|remain\w*|stay\w*|is|are|was|were) (?:\w+ )?(?:untouched|unchanged|unmodified|alone|intact|"
    r"as[- ]is)\b|\bnot (?:been )?(?:touched|modified)\b(?! yet)|\b(?:unverändert|inchangée?s?|sin cambios)\b|"
    r"保持不变|未改动|変更なし|변경 없|^\W*(?:re-?run|retry|restart|reload|refresh|try)\b",
    re.IGNORECASE,
)
"""What somebody chose to leave as it is, and what only the moment asks for."""
_LABELLED = re.compile(
    rf"(?:{words.LEFT_HEADING.pattern})[^:：]{{0,20}}[:：]\s+\S|^\W*(?:residual|remaining) (?:risk|gap|issue)s?\b",
    re.IGNORECASE,
)
_ADVICE = re.compile(
    r"\W*(?:(?:note|tip|consider|optional\w*|maybe|you(?:'ll| will| may| can| might| need| have)?|monitor|test|try|"
    r"run|check|review|feel free|if)\b)",
    re.IGNORECASE,
)
_FOR_USER = re.compile(
    r"^(?:(?:now|then|next|finally|also|after (?:this|that)|before (?:this|that)),? )?(?:you(?:['’]ll|"
    r" will)?(?: still| also| now)? "
    r"(?:need|have) to|you must|(?:make|be) sure (?:to|that you)|remember to|don['’]t forget to|"
    r"please (?:remember to )?)\s*",
    re.IGNORECASE,
)
"""How what the user has to do is put."""
_I = re.compile(
    r"^(?:I|we) (?=(?:could not|couldn't|can['no]+t|was (?:not able|unable) to|did not|didn't|have not|haven't) )",
)
_HELD_UP = re.compile(
    r"\b(?:blocked|could not|couldn't|can(?:no|')t|not yet|deferred|still (?:fail|open|miss)\w*|postponed)\b",
    re.IGNORECASE,
)
_UNTIL = re.compile(
    r"\bpre-?existing (?:\w+ ){0,3}(?:fail\w+|errors?|issues?|bugs?|problems?)\b|"
    r"\b(?:fail\w*|errors?) (?:is|are|was|were) (?:pre-?existing|unrelated)\b|"
    r"\balready (?:fail\w*|broken) (?:on|before|in)\b|\bstill (?:stale|old|needed|unknown|unverified|todo)\b|"
    r"^needs? .{3,80} before\b|\b(?:are|is) still .{2,80}\buntil\b|\b(?:needs?|requires?|has|have) (?:a )?manual\b|"
    r"\bcannot proceed\b|"
    r"\bcommits? ahead of\b|\b(?:is|are) (?:only )?(?:a )?(?:stubs?|placeholders?|not (?:wired|connected|hooked))\b",
    re.IGNORECASE,
)
"""What was broken before and stayed so, and what waits for something."""
_PROVES = re.compile(
    r"^(?:re-?)?(?:run|test|deploy|build|start)\b.{5,160}\b(?:confirm|verify|check|see|make sure)\b.{0,60}\b"
    r"(?:gone|fixed|works?|passes|appears?|no longer|resolved|disappear\w*)\b",
    re.IGNORECASE,
)
"""What would show that the cure is one: until then nobody knows."""
_NEXT = re.compile(
    r"^\W*(?:(?:recommended|suggested|possible|your|immediate)\s+)?next steps?\b|^\W*what(?:['’]s| is| to do) next\b|"
    r"^\W*(?:nächste schritte|"
    r"prochaines étapes|próximos pasos|下一步|次のステップ|다음 단계)",
    re.IGNORECASE,
)


def find_left(session: Session) -> Iterator[Found]:
    """What the review and the last closing messages of a session say is not done, open or to be watched: items below
    such a heading, and thoughts that say so; nothing that was done, sent or spoken of since."""
    reviewed = [] if session.of_others else list(find_in_review(session))
    yield from reviewed
    left: list[Found] = []
    for closing in [] if session.of_others else session.closings[-3:]:
        if closing.refuted or closing.overtaken or not (closing.at_end or session.events):
            continue
        for thought in thoughts(session.rows[closing.number]):
            left += _left_in(session, closing, thought)
    fresh = [item for item in left if not any(same(item, other) for other in reviewed)]
    fresh = [one for at, one in enumerate(fresh) if not any(same(one, other) for other in fresh[at + 1 :])]
    best = sorted(fresh, key=lambda item: (item.turn, item.score))[-MAX_LEFT:]
    yield from sorted(best, key=lambda item: item.turn)


def _left_in(session: Session, closing: Closing, thought: Thought) -> Iterator[Found]:
    row = thought.row
    listed = row.kind in ("bullet", "check") and row.mark != "x"
    advised = listed and _NEXT.match(row.heading) is not None
    below = listed and (advised or words.LEFT_HEADING.match(row.heading) is not None)
    plain = _I.sub("", NUMBERS.sub("", thought.text).strip())
    said = begun(_FOR_USER.sub("", plain))
    yours = closing.at_end and _FOR_USER.match(plain) is not None and named(said)
    undone = (
        yours
        or (words.LEFT if closing.at_end else words.UNDONE).search(said)
        or _LABELLED.match(said)
        or _UNTIL.search(said)
    )
    if not (below or undone) or words.UNSURE.search(said) or words.CAUSE.search(said):
        return
    unproven = (
        advised and _PROVES.match(said) is not None and not any(at > closing.number for at, _ in session.commands)
    )
    if _AS_IT_WAS.search(said) and not unproven:
        return
    if (
        (_ADVICE.match(said) and not (yours or unproven) and (advised or not below))
        or (advised and SLIGHT.search(said))
        or words.OFFER.search(thought.text)
    ):
        return
    if is_past(said) and not yours and not _HELD_UP.search(said):
        said = next((begun(part) for part in reversed(_CLAUSES.split(said)) if words.UNDONE.search(part)), "")
    if not _stands(said, listed=below, at_end=closing.at_end) or lost(said) or CURE.match(said):
        return
    if words.ABOUT_GIT.search(said) and session.sent_after(closing.number):
        return
    if not (closing.at_end or unproven) and session.spoken_of(closing.number, said):
        return
    detail = f"of “{session.subject}”" if not words.ANCHOR.search(said) and session.subject else ""
    score = 65 if below and not advised else 58
    yield found("tasks_open", said, closing.number, detail=detail, quote=thought.quote, score=score)


_CLAUSES = re.compile(
    r"(?:;|\.(?=\s|$)|[。；]|\s[—–-]|,(?=\s+(?:but|though|while|aber|mais|pero)\b)|，(?=但))\s*"
    r"(?:but |and |aber |mais |pero |但)?"
)


_ABOUT_CHANGE = re.compile(
    r"^(?:(?:the|this|these) (?:fix|change|update|patch|edit|commit)\w*|without|with|once|if|when)\b",
    re.IGNORECASE,
)
"""A sentence about the work itself, or about a case."""


def _stands(text: str, *, listed: bool, at_end: bool) -> bool:
    """Whether something that is left says what; an item of a list of such things need name no file."""
    if not text or text.endswith(("?", "？", ":", "：", "…")) or not whole_quotes(text) or looks_like_code(text):
        return False
    if words.TEMPLATE.search(CODE.sub("", text)) or leaning(text) or len(text) > LONGEST:
        return False
    if listed:
        return len(text.split()) >= LEAST_WORDS or not is_latin(text)
    if _ABOUT_CHANGE.match(text):
        return False
    alone = named(text) or (at_end and len(text.split()) >= LEAST_ALONE)
    return alone and len(text) >= (SHORTEST if is_latin(text) else SHORTEST_UNBROKEN)
