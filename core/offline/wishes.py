"""What the person wants: rules for good, and how the thing that is being built has to be.

A rule holds whatever the work of the day is ("never commit to main"). A requirement is said of the work ("the tab opens
only when the conversion has ended") and lasts with it, once somebody went to work on it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.conversations.conversation import Turn
from core.offline import cues
from core.offline.closing import rows_of
from core.offline.exchanges import Exchange, found, is_long, subject_of
from core.offline.prose import Row, Sentence, looks_like_code, sentences
from core.offline.sessions import Session, is_change
from core.offline.statements import Found

MOST_WILL = 5
LONGEST = 220
BARE_SUBJECT = re.compile(r"(?:this|that|it|these|those|they|he|she|which|or|if)\b", re.IGNORECASE)
FILLER = re.compile(
    r"^(?:(?:ok(?:ay)?|yes|yeah|yep|no|nope|and|but|also|so|well|hmm|um|uh|oh|please|actually|really|sure|"
    r"I (?:think|guess|believe|mean))\b[,.!]?\s+)+",
    re.IGNORECASE,
)
_ADVICE = re.compile(
    r"(?:consider|you (?:can|could|may|might)|let me|note that|tip|I (?:should|would|will|must))\b", re.IGNORECASE
)
REQUEST = re.compile(
    r"(?:now|then|next|go back|rewrite|change|update|move|rename|fix|create|add|make|set|put|convert|show|remove|"
    r"delete|replace|implement|write|build|run|try|check|look|find|open|generate|refactor|revert|commit|push|merge)\b",
    re.IGNORECASE,
)
_OF_STEP = re.compile(
    r"\bthe (?:other|rest|same)\b|\b(?:too|so) much\b|\byou (?:just|removed|deleted|forgot|missed)\b", re.IGNORECASE
)
_REPORTED = re.compile(r"\b(?:mentions?|says?|states?|claims?|suggests?|told|according to)\b|^can we\b", re.IGNORECASE)
"""What somebody else said is not the person's own will."""


_ASKING = ("？", "吗", "呢", "か", "か。", "까", "나요")


CORRECTS = re.compile(
    r"^(?:no,? |nope,? |actually,? |technically,? |it'?s actually |wrong,? |nein,? |non,? |en fait,? |en realidad,? |"
    r"eigentlich |不对[,，]?|不是[,，]?|实际上|其实|実は|違います[。、]?|いいえ[、,]?|아니(?:요|에요)?[,.]? )",
    re.IGNORECASE,
)


# --- will ---


def find_will(session: Session, exchanges: list[Exchange]) -> Iterator[Found]:
    """Short sentences in which the person says what they want for good: rules, preferences, choices, corrections."""
    wishes: list[Found] = []
    for number, turn in enumerate(session.conversation.turns):
        if turn.role == "user" and not turn.agent and is_long(turn.text):
            for row in rows_of(turn, number):
                wishes += will_in(sentences(row), number)
    for exchange in exchanges:
        if exchange.doubted and not exchange.events:
            continue
        for row in rows_of(Turn("user", exchange.text), exchange.number):
            wishes += will_in(sentences(row), exchange.number)
    lasting = []
    for at, item in enumerate(wishes):
        if any(_instead(item, later) for later in wishes[at + 1 :]):
            continue
        if _FOR_WHAT.search(item.fields["statement"]):
            before = next((row for row in reversed(wishes[:at]) if _instead(row, item)), None)
            if before is None:
                continue
            item.fields["detail"] = f"in place of “{before.fields['statement']}”, in “{subject_of(session)}”"
        lasting.append(item)
    yield from sorted(
        sorted(lasting, key=lambda item: (item.score, item.turn))[-MOST_WILL:], key=lambda item: item.turn
    )


_FOR_WHAT = re.compile(r"\binstead(?! of)\b", re.IGNORECASE)


def _instead(first: Found, second: Found) -> bool:
    """Whether a later wish takes the place of one: it says the same of another thing."""
    one, other = (set(re.findall(r"\w+", item.fields["statement"].casefold())) for item in (first, second))
    return len(one & other) >= 0.5 * min(len(one), len(other)) and len(one & other) >= 3


LEAST_NAMED, LEAST_UNNAMED = 4, 6
"""Words of a wish that names a thing, and of a rule that names none."""
_CALLED = re.compile(r"(?<=[a-z,] )(?!I\b)[A-Z][a-z]+\w*")
"""A thing by its proper name, within a sentence."""
_OF_THIS = re.compile(r"\b(?:after|once|when|before|with) (?:\w+ing )?(?:this|that|these|those)\b", re.IGNORECASE)
_POINTS_AT = re.compile(
    r"^(?:my|our|the|your) [\w ]{2,40} (?:is|are|lives?|should be|must be|can be found)(?: \w+)? "
    r"(?:in|at|under|inside) [`@\"']?[\w./@-]*[@/.][\w./-]+[`\"']?[.!]?$|"
    r"^(?:see|look (?:at|in)|refer to|check)\b[^.]*@[\w./-]+[.!]?$",
    re.IGNORECASE,
)
"""A sentence that shows the assistant a file decides nothing."""


_SHOULD = re.compile(r"\bshould(?:n't)? (?:be|not|have|use|stay|go)\b", re.IGNORECASE)
"""What a correction wants to be otherwise; by itself it is a piece of work."""


def will_in(said: Iterator[Sentence], number: int) -> Iterator[Found]:
    for sentence in said:
        text = FILLER.sub("", sentence.text.strip("\"'“”"))
        strong = cues.STRONG_WILL.search(text) is not None
        wills = cues.WILL.search(text) or (CORRECTS.match(sentence.text) and _SHOULD.search(text))
        if not wills or not (12 if text.isascii() else 6) <= len(text) <= LONGEST:
            continue
        if "?" in text or text.endswith(_ASKING) or looks_like_code(text) or cues.MOMENT.search(text):
            continue
        if cues.POINTING.search(text) or cues.HEDGE.search(re.sub(r"should|可以", "", text)):
            continue
        if BARE_SUBJECT.match(text) or _ADVICE.match(text) or _REPORTED.search(text) or _OF_STEP.search(text):
            continue
        named = cues.ANCHOR.search(text) or cues.TOOL.search(text) or _CALLED.search(text)
        if not (named or strong):
            continue  # what it is about only the talk around it knows
        if text.isascii() and len(text.split()) < (LEAST_NAMED if named else LEAST_UNNAMED):
            continue
        if _OF_THIS.search(text):
            continue  # of the work in hand
        if _POINTS_AT.search(text):
            continue  # where to look
        if REQUEST.match(text) and not strong:
            continue  # a piece of work, not a rule
        yield found("decisions", text, "", sentence.quote, 60 + strong, number)


# --- how the thing that is being built has to be ---

MOST_WANTED = 4
LONGEST_WANTED = 300
LEAST_LEANING = 4
"""Words in front of a pronoun that can hold what it stands for."""
_POLITE = re.compile(
    r"^(?:(?:(?:can|could|would|will) (?:you|we)|(?:I(?:'d| would)?|we) (?:want|need|like) you to|you should|"
    r"let'?s|we (?:need|have) to|(?:kannst|könntest) du|(?:peux|pourrais)-tu|¿?(?:puedes|podrías)|请|帮我|麻烦)"
    r"(?:[ ,]*(?:please|also|just|maybe|bitte|mal|por favor|你))*\s*)",
    re.IGNORECASE,
)
_SO_THAT = re.compile(
    r"^(?:(?:change|make|set|fix|update|adjust) (?:it|this|that) (?:so(?: that)?|where|such that)|"
    r"(?:make sure|ensure|be sure)(?: that)?)\s+",
    re.IGNORECASE,
)
"""What stands in front of the state that is wanted."""
_PRONOUN = re.compile(r"\b(?:it|this|these|those|them|they|he|she)\b(?! (?:file|repo|project))", re.IGNORECASE)
_LEANING = re.compile(r"\b(?:you|your|above|here|previous(?:ly)?|again|other)\b|\b(?:too|also|same)\W*$", re.IGNORECASE)
_IN_TROUBLE = re.compile(
    r"\b(?:errors?|fail\w*|broken?|crash\w*|still|bugs?|wrong|stuck|getting|doesn'?t work)\b", re.I
)
_LIMITS = re.compile(
    r"\b(?:constraints?|requirements?|rules?|must|principles?|guidelines|conventions?)\b", re.IGNORECASE
)
"""A heading or lead-in whose items have to hold."""
_QUOTED = re.compile(r"[\"“'][^\"”']{2,}[\"”']|(?<!\w)@\w")


def find_wanted(session: Session, exchanges: list[Exchange]) -> Iterator[Found]:
    """How the person says that a thing has to be, where work followed: what it does, when, and without what."""
    wanted: list[Found] = []
    changes = [at for at, row in session.events if is_change(row)]
    told = {row.number: row for row in exchanges}
    for number, turn in enumerate(session.conversation.turns):
        row = told.get(number)
        if turn.role != "user" or turn.agent or not (row or is_long(turn.text)):
            continue
        if not (changes[-1:] > [number] if changes else row and row.replies):
            continue
        text = turn.text if is_long(turn.text) or row is None else row.text
        files = row.changed if row else ()
        for part in rows_of(Turn("user", text), number):
            for item in _wanted_in(part, number, files, subject_of(session)):
                if not any(taken_back(item, later) for later in exchanges if later.number > number):
                    wanted.append(item)
    yield from sorted(
        sorted(wanted, key=lambda item: (item.score, item.turn))[-MOST_WANTED:], key=lambda item: item.turn
    )


def _wanted_in(row: Row, number: int, files: tuple[str, ...], subject: str) -> Iterator[Found]:
    limits = row.kind == "bullet" and _LIMITS.search(row.heading) is not None
    for sentence in sentences(row):
        for said in re.split(r"(?<=[.?!])\s+(?=[a-z@`\"(])", sentence.text):
            first = FILLER.sub("", said)
            asked = _POLITE.sub("", first)
            text = FILLER.sub("", _SO_THAT.sub("", FILLER.sub("", asked))).strip()
            if (text.endswith(("?", "？")) and asked == first) or cues.ONE_STEP.match(asked):
                continue
            text = text.rstrip("?？ ")
            if not (limits or cues.WANTED.search(asked)) or not _stands(text):
                continue
            named = cues.ANCHOR.search(text) or _CALLED.search(text) or _QUOTED.search(text)
            if not named and (len(text.split()) < LEAST_UNNAMED + 2 or not files) and text.isascii():
                continue
            where = ", ".join(f"`{name}`" for name in files[:2])
            detail = f"wanted by the person in “{subject}”" + (f", worked on in {where}" if where else "")
            yield found("decisions", text, detail, sentence.quote, 55 + bool(named) + limits, number)


def _stands(text: str) -> bool:
    """Whether a requirement says by itself what it is about."""
    if not (24 if text.isascii() else 8) <= len(text) <= LONGEST_WANTED or looks_like_code(text):
        return False
    if cues.TEMPLATE.search(text) or cues.MOMENT.search(text) or _IN_TROUBLE.search(text) or _LEANING.search(text):
        return False
    if (BARE_SUBJECT.match(text) and not text.lower().startswith("if ")) or cues.POINTING.search(text):
        return False
    pronoun = _PRONOUN.search(text)
    if pronoun and len(text[: pronoun.start()].split()) < LEAST_LEANING:
        return False
    unsure = cues.HEDGE.search(re.sub(r"(?i)should|would like|可以", "", text))
    return not (unsure or _REPORTED.search(text) or _POINTS_AT.search(text) or _OF_STEP.search(text))


_ANEW = re.compile(
    r"\b(?:should|instead|make it|no longer|I need|rather|actually|change|revert|undo|better|sollte|lieber|doch|plutôt|"
    r"mejor)\b|改成|改为|还是|やはり|대신",
    re.IGNORECASE,
)


def taken_back(item: Found, later: Exchange) -> bool:
    """Whether later words of the person want something else of the same things."""
    if not _ANEW.search(later.text) or later.number == item.turn:
        return False
    names = {name.strip("`").casefold() for name in cues.ANCHOR.findall(item.fields["statement"])}
    return any(name in later.text.casefold() for name in names if len(name) > 3)
