"""What the user says for good, in explicit words: remember, always, never, from now on.

Their word is law whatever a model of what is worth a line thinks of it; and where it is said in a language whose words
the fitted weights do not know, the tables of rules by language have to do.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from core.base.spoken import APPROVES, CORRECTION, TROUBLE
from core.rules import words
from core.rules.prose import begun, looks_like_code
from core.rules.sentence import Found, found, is_latin, lost, named, names_in
from core.rules.session import Exchange, Session
from core.rules.typed import has_placeholder
from core.rules.units import Unit, units_of

MAX_STATED, LEAST_WORDS, LONGEST_REPLY = 5, 4, 160
_REMEMBER = re.compile(
    r"^(?:please )?(?:remember|keep in mind|note(?: for (?:later|the future))?|for (?:later|the future))\b(?! to\b)"
    r"(?:,? that)?[:,]?\s+|^(?:merk(?:e)? dir|denk daran|retiens|rappelle-toi|recuerda|ricorda|lembre-se|запомни)\b"
    r"(?:[,:]? (?:dass|que|che|что))?[:,]?\s*|^(?:请?记住|覚えて(?:おいて)?|기억해)[:：,，、]?\s*",
    re.IGNORECASE,
)
_FILLER = re.compile(
    r"^(?:(?:ok(?:ay)?|yes|no|and|but|also|so|well|please|actually|btw|fyi|I (?:think|mean))\b[,.!:]?\s+)+",
    re.IGNORECASE,
)
_OF_MOMENT = re.compile(
    r"\b(?:right now|for now|at the moment|this time|again|you (?:always|never)|it (?:always|never)|why|"
    r"sub-?agents?|your (?:answer|response|report))\b|まだ|今は|今回|だけして|先不要|先别|暂时|这次",
    re.IGNORECASE,
)
_SPEAKER = re.compile(
    r"\b(?:I|I'(?:m|d|ll|ve)|you|your|let'?s|let me|please)\b|^(?:look|see|check|this|that|it)\b", re.IGNORECASE
)
"""Who tells how things are names neither themselves nor whom they speak to."""
_IN_CAPITALS = re.compile(r"\b(?:ONLY|NEVER|ALWAYS|MUST)\b")
_YOU = re.compile(r"\byou(?:r|'re)?\b", re.IGNORECASE)
MOST_YOU = 5
"""A message that says "you" so often is a prompt for any assistant."""
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_UNSAID = re.compile(
    r"(?:it|this|that|they|I (?:never|always)|(?:can|could|would) you|why|I'?m not sure)\b|[A-Z_]+:", re.IGNORECASE
)
"""How a sentence begins that says nothing by itself, or only of who speaks."""
_REVERSES = re.compile(
    r"\b(?:no longer|revert\w*|undo|forget|discard\w*|never ?mind|scratch that|instead|actually|doch nicht|"
    r"laisse tomber|olvida)\b|撤销|不需要了|算了|やめ|취소",
    re.IGNORECASE,
)


def find_stated(session: Session) -> Iterator[Found]:
    """The statements for good, those that the user took back left out; the last ones of a session."""
    units = [unit for unit in units_of(session) if unit.place == "user"]
    told = [
        item for row in session.exchanges for item in _stated(row, [one for one in units if one.turn == row.number])
    ]
    kept = [item for item in told if not taken_back(session, item.fields["statement"], item.turn)]
    yield from kept[-MAX_STATED:]


def _stated(row: Exchange, units: Sequence[Unit]) -> Iterator[Found]:
    if len(_YOU.findall(row.text)) >= MOST_YOU:
        return
    tells = _only_tells(row, units)
    for unit in units:
        whole = _trimmed(unit.text)
        text = _FILLER.sub("", whole)
        remembered = _REMEMBER.match(text)
        told = tells and (named(text) or words.RULE.search(text))
        wrong = CORRECTION.match(whole)
        rest = whole[wrong.end() :] if wrong else ""  # the words that call it wrong alone only report an error
        corrects = words.RULE.search(rest) and not TROUBLE.search(rest) and named(text)
        # Of "Remember: …" what is told has to stand, else the word before the colon would be taken for a label. "Note:"
        # is one: compilers print it.
        asked = remembered is not None and ":" in remembered[0] and "note" not in remembered[0].lower()
        body = text[remembered.end() :] if remembered and asked else text
        if not (remembered or _is_rule(text) or corrects or told) or not _stands(body):
            continue
        said = begun(_REMEMBER.sub("", text))
        decided = words.RULE.search(said) or words.STRONG.search(said) or not (remembered or tells)
        yield found("decisions" if decided else "facts", said, row.number, quote=unit.quote, score=90)


def _only_tells(row: Exchange, units: Sequence[Unit]) -> bool:
    """Whether a message only tells how things are: no question or order in it, nothing was done
    about it, and the assistant only took note."""
    replies = [turn.text for _, turn in row.replies]
    if not replies or len("".join(replies)) > LONGEST_REPLY or row.events or "?" in row.text:
        return False
    gates = (words.ORDER.match, words.MOMENT.search, APPROVES.match, CORRECTION.match, _SPEAKER.search)
    return bool(units) and not any(gate(_FILLER.sub("", unit.text)) for unit in units for gate in gates)


def _is_rule(text: str) -> bool:
    """Whether a text says how things have to be for good: never, always."""
    if not is_latin(text) or not words.ENGLISH.search(text):
        return words.STRONG.search(text) is not None and TROUBLE.search(text) is None
    return words.STRONG.search(text) is not None or _IN_CAPITALS.search(text) is not None


def _trimmed(text: str) -> str:
    """A text without the questions and the single words at its ends."""
    parts = _SENTENCE.split(text)
    while parts and (parts[-1].endswith(("?", "？")) or len(parts[-1].split()) < 2 <= len(parts)):
        parts.pop()
    while len(parts) > 1 and parts[0].isascii() and len(parts[0].split()) < 2:
        parts.pop(0)
    return " ".join(parts)


def _stands(text: str) -> bool:
    if text.endswith(("?", "？", ":", "：")) or looks_like_code(text) or has_placeholder(text) or lost(text):
        return False
    if any(gate.search(text) for gate in (words.BOILERPLATE, _OF_MOMENT, words.LINE_NUMBERS)):
        return False
    if words.POINTING.match(text) or _UNSAID.match(text) or text.startswith(('"', "“")):
        return False
    return len(text.split()) >= LEAST_WORDS or not is_latin(text)


def taken_back(session: Session, text: str, turn: int) -> bool:
    """Whether later words of the user want something else of the things that a statement of theirs names."""
    later = [row.text for row in session.exchanges if row.number > turn and _REVERSES.search(row.text)]
    names = [name for name in names_in(text) if len(name) > LEAST_WORDS - 1]
    return any(name in said.casefold() for said in later for name in names)
