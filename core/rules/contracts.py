"""Lists of rules that a user hands over in a long message: how things have to be here, kept whole, a line a heading."""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.rules import words
from core.rules.prose import by_person, clean
from core.rules.said import LONGEST_STATED, RULE, STRONG
from core.rules.sentence import Found, found, in_lines, is_latin
from core.rules.session import Session, rows_of
from core.rules.typed import has_placeholder, is_pasted

LEAST_RULES, MAX_LINES = 3, 4
LEAST_WORDS, LONGEST_RULE = 3, 220
LONGEST_HEADING = 8
"""Words of a heading."""
_OF_RULES = words.one_of({
    "en": (
        r"\w* ?rules?", "constraints?", "conventions?", "guidelines?", "principles", r"(?:code|coding) style", "style",
        "requirements?", "standards?", "restrictions?", "policy", "invariants?", "important", "non-negotiables?",
    ),
    "de": (r"\w*regeln", "anforderungen", "vorgaben", "konventionen", "einschränkungen"),
    "fr": ("règles", "contraintes", "conventions", "exigences"),
    "es": ("reglas", "restricciones", "convenciones", "requisitos"),
    "zh": ("规则", "约束", "规范", "要求", "原则"),
    "ja": ("ルール", "制約", "規約", "要件", "方針"),
    "ko": ("규칙", "제약", "요구"),
    "ru": ("правила", "ограничения", "требования", "соглашения"),
    "pt": ("regras", "restrições", "convenções", "requisitos"),
    "it": ("regole", "vincoli", "convenzioni", "requisiti"),
})  # fmt: skip
_OF_A_TEMPLATE = re.compile(r"\bthe user(?:['’]s)?\b|\buser input\b|\bexecution flow\b|\$ARGUMENTS", re.IGNORECASE)
"""A prompt that somebody wrote for any project speaks of its user."""


def find_contracts(session: Session) -> Iterator[Found]:
    """The rules of a long message, those below one heading in one line."""
    lines: list[Found] = []
    for number, turn in enumerate(session.conversation.turns):
        if by_person(turn) and not (is_pasted(turn.text) or _OF_A_TEMPLATE.search(turn.text)):
            lines += _rules_in(session, number, turn.text)
    yield from lines[-MAX_LINES:]


def _rules_in(session: Session, number: int, text: str) -> list[Found]:
    below: dict[str, list[tuple[str, str]]] = {}
    for row in rows_of(session.conversation.turns[number], number):
        said = clean(row.text).rstrip(" .;")
        if row.kind == "bullet" and _is_rule(said, of_rules=_of_rules(row.heading)):
            below.setdefault(row.heading, []).append((said, row.text))
    if sum(map(len, below.values())) < LEAST_RULES:
        return []
    made = []
    for heading, rules in below.items():
        for line in in_lines(heading or session.subject, [rule for rule, _ in rules], LONGEST_STATED):
            quote = next((source for rule, source in rules if rule in line), "")
            made.append(found("decisions", line, number, quote=quote, score=63))
    return made


def _of_rules(heading: str) -> bool:
    """Whether a heading announces rules: a sentence that leads to a list may name a file of rules."""
    return len(heading.split()) <= LONGEST_HEADING and _OF_RULES.search(heading) is not None


def _is_rule(text: str, *, of_rules: bool) -> bool:
    """Whether an item says how things have to be: by its own words, or by the heading above it."""
    if len(text) > LONGEST_RULE or "?" in text or has_placeholder(text) or words.BOILERPLATE.search(text):
        return False
    if is_latin(text) and len(text.split()) < LEAST_WORDS:
        return False
    return bool(STRONG.search(text) or RULE.search(text) or (of_rules and not words.ORDER.match(text)))
