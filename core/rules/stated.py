"""What the user says for good, in explicit words: remember, always, never, from now on.

Their word is law whatever a model of what is worth a line thinks of it; and where it is said in a language whose words
the fitted weights do not know, the tables of rules by language have to do.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.rules import words
from core.rules.prose import begun, looks_like_code
from core.rules.sentence import Found, found, is_latin, lost, named
from core.rules.session import Exchange, Session
from core.rules.typed import has_placeholder
from core.rules.units import Unit, cut

MAX_STATED, LEAST_WORDS = 5, 4
_REMEMBER = re.compile(
    r"^(?:please )?(?:remember|keep in mind|note(?: for (?:later|the future))?|for (?:later|the future))\b(?! to\b)"
    r"(?:,? that)?[:,]?\s+|^(?:merk(?:e)? dir|denk daran|retiens|rappelle-toi|recuerda|ricorda|lembre-se|запомни)\b"
    r"(?:[,:]? (?:dass|que|che|что))?[:,]?\s*|^(?:请?记住|覚えて(?:おいて)?|기억해)[:：,，、]?\s*",
    re.IGNORECASE,
)
_FILLER = re.compile(
    r"^(?:(?:ok(?:ay)?|yes|no|and|but|also|so|well|please|actually|btw|fyi|I (?:think|mean))\b[,.!:]?\s+)+", re.IGNORECASE
)
_OF_MOMENT = re.compile(
    r"\b(?:right now|for now|at the moment|today|this time|again|you (?:always|never)|it (?:always|never)|why|"
    r"sub-?agents?|your (?:answer|response|report))\b",
    re.IGNORECASE,
)
_REVERSES = re.compile(
    r"\b(?:no longer|revert\w*|undo|forget|discard\w*|never ?mind|scratch that|instead|actually|doch nicht|"
    r"laisse tomber|olvida)\b|撤销|不需要了|算了|やめ|취소",
    re.IGNORECASE,
)


def find_stated(session: Session) -> Iterator[Found]:
    """The statements for good, those that the user took back left out; the last ones of a session."""
    told = [item for row in session.exchanges for item in _stated(row)]
    kept = [item for item in told if not any(_taken_back(item, row) for row in session.exchanges)]
    yield from kept[-MAX_STATED:]


def _stated(row: Exchange) -> Iterator[Found]:
    for unit in cut(row.text, row.number, "user"):
        text = _FILLER.sub("", unit.text)
        remembered = _REMEMBER.match(text)
        if not (remembered or _is_rule(text)) or not _stands(unit):
            continue
        said = begun(_REMEMBER.sub("", text))
        decided = words.RULE.search(said) or not remembered
        yield found("decisions" if decided else "facts", said, row.number, quote=unit.quote, score=90)


def _is_rule(text: str) -> bool:
    """Whether a text says how things have to be for good, with a name or enough words to stand alone."""
    if not is_latin(text) or not words.ENGLISH.search(text):
        return words.RULE.search(text) is not None and (named(text) or words.STRONG.search(text) is not None)
    return words.STRONG.search(text) is not None


def _stands(unit: Unit) -> bool:
    text = unit.text
    if text.endswith(("?", "？", ":", "：")) or looks_like_code(text) or has_placeholder(text) or lost(text):
        return False
    if words.BOILERPLATE.search(text) or _OF_MOMENT.search(text) or words.POINTING.match(text):
        return False
    return len(text.split()) >= LEAST_WORDS or not is_latin(text)


def _taken_back(item: Found, later: Exchange) -> bool:
    """Whether later words of the user want something else of the same things."""
    if later.number <= item.turn or not _REVERSES.search(later.text):
        return False
    names = {name.strip("`()").casefold() for name in words.ANCHOR.findall(item.fields["statement"])}
    return any(len(name) > 3 and name in later.text.casefold() for name in names)
