"""Facts and decisions: sentences that say themselves that something was learned or settled."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from core.offline.prose import Row, Sentence, begun, has, looks_like_code, sentences


@dataclass(frozen=True)
class Found:
    """One item with how good it is (higher first) and where it came from; `fields` are the answer's fields."""

    category: str
    fields: dict[str, str]
    score: int
    turn: int


# A row is looked at more closely only if one of these is in it: a plain search is far cheaper than the patterns.
FACT_CUES = (
    "turned out", "turns out", "root cause", "caused by", "because", "culprit", "requires", "gotcha", "caveat",
    "learned", "lesson", "finding", "note that", "note:", "found that", "found out", "discovered", "confirmed",
    "the problem", "the issue", "the bug", "the reason", "the cause", "only works", "not support", "n't support",
    "not supported", "defaults to", "deprecated", "limited to", "returns", "listens on", "runs on", "by design",
    "intentional", "important:", "fyi", "til:", "remember:", "must ", "only accepts",
)  # fmt: skip
DECISION_CUES = (
    "decid", "decision", "go with", "going with", "stick with", "instead of", "rather than", "agreed", "resolved",
    "resolution", "consensus", "chosen", "chose ", "settled on", "opted", "intentional", "don't want", "do not want",
    "prefer", "we want", "switch to", "switched to", "let's ", "lets ", "never", "always", "we don't", "we do not",
    "better ", "should ", "we only", "we also",
)  # fmt: skip

_SETTLED = ("decided", "agreed", "opted", "chose", "settled")
_CAUSES = ("cause", "culprit", "problem", "issue", "bug", "reason", "failure", "crash", "error", "leak", "hang", "slow")
_LIMITS = ("only ", "support", "limited", "default", "deprecated", "intentional", "design")
_CUES = FACT_CUES + DECISION_CUES

_LEARNED = re.compile(
    r"^(?:(?:so|and|but|ok(?:ay)?|yes|yeah|also|ah|right),? )?(?:"
    r"(?:it |this )?turn(?:s|ed) out(?: to be)?(?: that)?,? |"
    r"(?:we|i)(?:'ve| have)?(?: now| also| just)? (?:learned|discovered|found(?: out)?|confirmed|verified|established)"
    r" that |"
    r"(?:gotcha|caveat|lessons? learned|learned|key (?:finding|insight|fact)|finding|fact|fyi|til|remember|confirmed)"
    r" ?[:—–-] ?)(?P<rest>.+)$",
    re.IGNORECASE,
)
_NOTE = re.compile(
    r"^(?:please |also |important: )?note(?: that|:|,) (?P<rest>.+\b(?:requires?|needs?|only|does not|doesn't|cannot|"
    r"can't|must|is not|isn't|are not|aren't|never|always)\b.+)$",
    re.IGNORECASE,
)
_CAUSE = re.compile(
    r"\b(?:root cause|(?:real|actual|underlying|true) (?:cause|problem|issue|bug|reason)|culprit)\b.{0,80}"
    r"\b(?:is|was|were|are|:)\s"
    r"|^(?:the|our) (?:cause|problem|issue|bug|reason)\b[^,:]{0,60}? (?:is|was)(?: that| in| with|:)? "
    r"|^(?:the|our) (?:failure|crash|error|leak|hang|slowdown)\b[^,:]{0,60}? (?:came|comes) from\b"
    r"|\b(?:is|was|are|were) caused by\b"
    r"|\b(?:fail(?:s|ed)|broke|breaks|crash(?:es|ed)|happen(?:s|ed)|hang(?:s|ed)?|hung)\b.{0,60}? because\b",
    re.IGNORECASE,
)
_SYSTEM = re.compile(
    r"\b(?:only (?:works|accepts|supports|runs|applies)|does(?: not|n't) support|(?:is|are) not supported|"
    r"is limited to|defaults to|is deprecated|(?<!if this )(?:is|was) (?:intentional|by design))\b",
    re.IGNORECASE,
)
# Said of one's own systems by the person, this is knowledge; said by an assistant it mostly explains the code.
_SYSTEM_OF_PERSON = re.compile(
    r"^(?:the|our|my|its?|staging|production|prod)\b.{0,60}?\b(?:requires|returns|listens on|runs on|must be|"
    r"expects|lives (?:in|at|on)|is hosted|is deployed)\b"
    r"|^(?!i |we |you )[^,;:]{3,80}? must(?: not| always| never)? \w",
    re.IGNORECASE,
)
# Diagnoses in passing: what "we" are doing at the moment is no knowledge about a system.
_PASSING = re.compile(
    r"\b(?:we|we're|we've|i|i've|my|me|is trying|are trying|is failing|now|the user|user's)\b", re.IGNORECASE
)
_IMPERATIVE = re.compile(
    r"^(?:pass|use|set|run|add|remove|check|do|don't|call|see|put|keep|avoid|install|open|go|click|enter|select|update|"
    r"consider|replace|change|create|write|make|test|verify|review|read|fix|move|handle|return|assume|prefer)\b",
    re.IGNORECASE,
)
# Marks of a review ("(6) ✅ …") and bare code in front: said about one line of code, not about a system.
_VERDICT = re.compile(r"^(?:\(?\d{1,3}[).]\s*)?[^\w\s`\"'(/.~<*-]|^`[^`\n]*[:<{=][^`\n]*`|^(?:PR )?#\d|^\(\d")
_REQUIRES = re.compile(r"^[^,;:]{3,80}? requires? \S", re.IGNORECASE)

_HEDGE = re.compile(
    r"\b(?:might|maybe|perhaps|probably|possibly|likely|seems?|seemed|appears?|could|may|i think|i guess|i believe|"
    r"i assume|not sure|presumably|suspect|would|should|whether|potential(?:ly)?|hopefully|unless you|for example|"
    r"e\.g\.|typically|usually|often|generally|assuming|suggests?|imagine|hypothetical)\b",
    re.IGNORECASE,
)
_ADDRESS = re.compile(
    r"\b(?:you|your|yours|please|let me|let's|let us|i'll|i will|i'm|i am|i need|i should|we need to|we should|"
    r"need to|make sure|ensure|try)\b",
    re.IGNORECASE,
)
_DANGLING = re.compile(
    r"^(?:this|that|these|those|it|they|he|she|there|here|which|so|then|now|and|but|or|if|when|once|after|before|"
    r"in this case|as such|hence|thus|therefore|both|same|one of|another|no,|yes,|first|second|finally|next|also|"
    r"wait|hmm|actually|ok|okay|good|great|perfect|because|since|while|although|for|such|its)\b",
    re.IGNORECASE,
)
_ANCHOR = re.compile(
    r"`[^`\n]{2,}`|\b[a-z]+_[a-z_]+\b|\b[a-z]+[A-Z]\w+|\b[A-Z][a-z]+[A-Z]\w+|\b[A-Z]{2,}\b|\w/\w|\b\w+\.\w{1,5}\b|"
    r"\b[vA-Z]?\d+(?:\.\d+)*\b|(?<=[a-z,] )[A-Z][a-z]{2,}|--\w"
)

_DECLARED = re.compile(
    r"^(?:final )?(?:decision|decided|resolved|resolution|agreed|consensus|chosen option)(?: ?#?\d{1,3})?: ?"
    r"(?P<rest>.+)$",
    re.IGNORECASE,
)
_DECIDED = re.compile(
    r"\b(?:we|i|they|the (?:team|group|wg))(?:'ve| have| had)?(?: all| both| also| now| finally| already)? "
    r"(?:(?:decided|agreed|opted|chose)(?: not)? (?:to|on|that|for|against|upon)|settled on|chose)\b"
    r"|\b(?:it was|has been) (?:decided|agreed) (?:to|that)\b",
    re.IGNORECASE,
)
_GO_WITH = re.compile(
    r"\b(?:let's|let us|we'll|we will|we're|we are|i'll|i will|i'm|i am|i'd|ok(?:ay)?,?|yes,?|then|so)\s"
    r"(?:just |rather )?"
    r"(?:go|going|gonna go|stick|sticking) with\b|^(?:go|going|stick) with\b",
    re.IGNORECASE,
)
_INSTEAD = re.compile(
    r"^(?:ok(?:ay)?,? |so,? |no,? |yes,? |then )?(?:let's|let us|we(?:'ll| will| are going to|'re going to| now)?|"
    r"i(?:'ll| will|'m| am| have|'ve)?) (?:\w+ ){0,2}?"
    r"(?:us(?:e|ed|ing)|keep(?:ing)?|kept|prefer|pick(?:ed)?|cho(?:ose|se)|"
    r"stor(?:e|ed|ing)|stay(?:ing)?|do(?:ing)?|build(?:ing)?|switch(?:ed|ing)?|mov(?:e|ed|ing)|replac(?:e|ed|ing)|went|"
    r"tak(?:e|ing)|took|writ(?:e|ing)|wrote|put(?:ting)?|implement(?:ed|ing)?)\b.{0,120}\b(?:instead of|rather than)\b"
    r"|^(?:use|keep|prefer|switch(?:ed)? to) .{0,120}\b(?:instead of|rather than)\b",
    re.IGNORECASE,
)
_WANT = re.compile(
    r"^(?:no,? |yes,? |and |but |so )?(?:we (?:never|always|prefer)\b|we (?:do not|don't) want\b|"
    r"we want\b.{3,80}?\bto\b)",
    re.IGNORECASE,
)
# How a person settles things in passing: a rule of the house, a correction, a choice of one thing.
_RULING = re.compile(
    r"^(?:ok(?:ay)?,? |yes,? |no,? )?let'?s (?:not |just |always )?"
    r"(?:allow|use|keep|drop|store|have|avoid|forbid|name|make)\b"
    r"|^we (?:also |only |still )?(?:don't|do not|never|always|only) (?!want|know|have|need|see|get|think|care)\w+"
    r"|^(?:no,? |it'?s )?better (?:to|that we|not to)\b"
    r"|^no,? .{3,120}\bshould (?:be|use|stay|go|have|not)\b",
    re.IGNORECASE,
)
_INTENT = re.compile(r"\b(?:was|is|were|are) (?:intentional|deliberate|by design)\b", re.IGNORECASE)
_OPEN = re.compile(
    r"\b(?:if|should|could|would|might|maybe|whether|once|until|unless|did|do) (?:we|i|you|they)\b", re.IGNORECASE
)
_REASON = re.compile(
    r"[,;]? (?:because|since|so that|due to|as otherwise|to avoid|the reason being)(?: |:?$)|; reason: | — ",
    re.IGNORECASE,
)
_UNDER = re.compile(
    r"^(?:\d+\.? )?(?:decisions?(?: (?:outcome|made|taken))?|what we decided|agreed|decided)$", re.IGNORECASE
)
_NO = re.compile(r"^(?:no|yes|ok|okay|and|so|but)\b,? ", re.IGNORECASE)
_EMPTY_TAIL = re.compile(r"\b(?:with|that|this|it|because|…)[.!]?$", re.IGNORECASE)


def find_statements(rows: list[Row]) -> Iterator[Found]:
    """Facts and decisions in the rows. A sentence is one or the other, a decision first."""
    for row in rows:
        if row.kind == "check":
            continue
        low = row.low
        decision = has(low, DECISION_CUES)
        under = bool(row.heading) and "deci" in row.heading.lower() and _UNDER.match(row.heading) is not None
        if not (decision or under or has(low, FACT_CUES)):
            continue
        for sentence in sentences(row, ("",) if under else _CUES):
            found = _decision(row, sentence) if decision or under else None
            found = found or _fact(row, sentence)
            if found:
                yield found


def _decision(row: Row, sentence: Sentence) -> Found | None:
    text = sentence.text
    person, low = row.role == "user", text.lower()
    declared = _DECLARED.match(text)
    body = declared["rest"] if declared else text
    if declared:
        score = 4
    elif text.endswith(("?", ":")):
        return None
    elif has(low, _SETTLED) and _DECIDED.search(text):
        score = 4
    elif (" with " in low and _GO_WITH.search(text)) or _INSTEAD.match(text):
        score = 3 if person else 2
    elif _UNDER.match(row.heading) and re.match(r"we (?:will|use|do|shall|now|are going)\b|use ", text, re.IGNORECASE):
        score = 3
    elif person and (
        (_RULING.match(text) and len(text.split()) >= 6 and _ANCHOR.search(text[1:]))
        or ((_WANT.match(text) or _INTENT.search(text)) and _ANCHOR.search(text))
    ):
        score = 2
    else:
        return None
    if not declared and _OPEN.search(text):
        return None
    because = _REASON.search(body)
    if not person and score < 3 and not because:
        # An assistant says "I'll use X instead" about every second line of code; with its reason it is a choice.
        return None
    if not _sound(body, least=3 if person else 5):
        return None
    statement, detail = body, ""
    if because and because.start() >= 9:
        statement, detail = body[: because.start()], body[because.end() :]
        detail = "" if "see below" in detail else detail
    statement = _NO.sub("", statement) if person else statement
    if _EMPTY_TAIL.search(statement):
        return None
    return _found("decisions", statement, detail, sentence, score + bool(detail) + person, row)


def _fact(row: Row, sentence: Sentence) -> Found | None:
    text = sentence.text
    person, low = row.role == "user", text.lower()
    if text.endswith(("?", ":")):
        return None
    learned = _LEARNED.match(text) or _NOTE.match(text)
    statement = learned["rest"] if learned else text
    if learned or (has(low, _CAUSES) and _CAUSE.search(text)):
        score = 4
    elif (
        (has(low, _LIMITS) and _SYSTEM.search(text))
        or (person and _SYSTEM_OF_PERSON.match(text))
        or (person and _REQUIRES.match(text))
    ):
        score = 2
    else:
        return None
    if _HEDGE.search(text) or _VERDICT.match(text):
        return None
    if _ADDRESS.search(statement) or _DANGLING.match(statement) or _IMPERATIVE.match(statement):
        return None
    if not (person or learned) and _PASSING.search(statement):
        return None
    if not _ANCHOR.search(statement[1:]) or not _sound(statement, least=4 if learned else 5):
        return None
    return _found("facts", statement, "", sentence, score + person, row)


def _sound(text: str, least: int) -> bool:
    """Whether it reads as one statement: enough words, not too many, not code, not cut off."""
    words = text.split()
    return least <= len(words) <= 60 and not looks_like_code(text) and not text.endswith(("...", "…", ":"))


def _found(category: str, statement: str, detail: str, sentence: Sentence, score: int, row: Row) -> Found:
    statement = statement.strip(" ,;—–-")
    if statement[:1] == '"' and statement[-1:] == '"' and statement.count('"') == 2:
        statement = statement[1:-1]
    statement = begun(statement)
    fields = {"statement": statement, "detail": detail.strip(" ,;—–-"), "quote": sentence.quote}
    return Found(category, fields, score, row.turn)
