"""What sentences of ordinary prose say themselves: facts and decisions, tasks and questions, notes on one file.

Used where no events tell more: in chats, and in texts that people wrote for themselves or each other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from core.conversations.conversation import Conversation, Turn
from core.offline.prose import Row, Sentence, begun, clean, has, looks_like_code, sentences, whole


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


# --- tasks and questions ---


_TODO = re.compile(
    r"^(?:TODO|FIXME|XXX)(?:\([^()\n]{1,40}\))?\s?[:—–-]\s?(?P<rest>.+)$|^todo: ?(?P<lower>.+)$", re.IGNORECASE
)
_ACTION = re.compile(r"^(?:action(?: item)?|follow[- ]?up)(?: ?#?\d{1,3})? ?: ?(?P<rest>.+)$", re.IGNORECASE)
_TEST_CASE = re.compile(r"^(?:setup|given|arrange|precondition|state|before)\b", re.IGNORECASE)
_REMAINING = re.compile(
    r"^(?:what(?:'s| is) (?:left|missing)|remaining(?: (?:work|tasks?|items?|steps))?|"
    r"still (?:to do|open|missing|todo)|"
    r"left to do|to[- ]?dos?|open (?:items?|tasks?|points?|work)|outstanding(?: (?:items?|work|tasks?))?|deferred|"
    r"follow[- ]?ups?|action items?|not (?:yet )?(?:done|implemented|finished))\b[^.?!]{0,40}$",
    re.IGNORECASE,
)
_STILL = re.compile(
    r"\b(?:we|i) still (?:need|have) to\b|\bstill needs? to be\b|\bremains? to be (?:done|written|fixed|tested|added|"
    r"implemented)\b|\bnot yet (?:implemented|done|tested|wired|supported|written)\b|\bstill (?:missing|to do)\b",
    re.IGNORECASE,
)
_DID = re.compile(
    r"^(?:i(?:'ve| have)|we(?:'ve| have)) (?:now |also |just |successfully )?"
    r"(?P<rest>(?:added|fixed|implemented|removed|"
    r"renamed|replaced|migrated|refactored|created|updated|wrote|written|moved|merged|committed|pushed|released|"
    r"upgraded|converted|extracted|configured|deployed|documented|installed|reverted|deleted|disabled|enabled)\b.+)$",
    re.IGNORECASE,
)
# Steps that every task has: with nothing else in it, a box like this tells nobody anything.
_GENERIC = frozenset({
    "a", "an", "the", "of", "for", "to", "in", "on", "and", "or", "with", "all", "any", "if", "it", "its", "this",
    "that", "into", "from", "by", "as", "is", "are", "be", "new", "existing", "current", "necessary", "needed",
    "required", "relevant", "appropriate", "main", "function", "functionality", "functional", "feature", "features",
    "code", "codebase", "file", "files", "project", "repo", "repository", "task", "tasks", "step", "steps", "plan",
    "planning", "analysis", "analyze", "analyse", "understand", "requirement", "requirements", "read", "review",
    "check", "examine", "inspect", "explore", "identify", "gather", "determine", "set", "up", "setup", "create",
    "implement", "implementation", "write", "update", "modify", "edit", "add", "change", "changes", "apply", "fix",
    "make", "test", "tests", "testing", "verify", "verification", "validate", "validation", "confirm", "ensure",
    "results", "result", "work", "works", "working", "complete", "completion", "completed", "final", "finalize",
    "summary", "summarize", "present", "user", "solution", "handle", "edge", "cases", "case", "script", "structure",
    "content", "contents", "information", "design", "document", "documentation", "approach", "properly", "correctly",
    "everything", "done", "first", "next", "issue", "issues", "error", "errors",
})  # fmt: skip
_WORD = re.compile(r"\w+")
_ARTICLE = re.compile(r"\b(?:a|an|the|to|of)\b")
_LOOKED = re.compile(
    r"^(?:read|examine|understand|review|analy[sz]e|see|look|explore|inspect|check|identify|gather|study|plan|"
    r"investigate|verify|confirm|determine|search|locate|find)\b",
    re.IGNORECASE,
)
_VAGUE = re.compile(r"^(?:\w+ )?(?:it|this|that|they|these|those|there)\b", re.IGNORECASE)
_MECHANICS = re.compile(r"\b(?:the user|user's|i see|you|your|let me|i need|i still)\b", re.IGNORECASE)
_EXPLICIT_QUESTION = re.compile(
    r"^(?:open|unresolved|unanswered|remaining) questions?(?: ?#?\d{1,3})? ?[:—–-] ?(?P<rest>.+)$"
    r"|^(?:tbd|to be (?:decided|determined)) ?[:—–-] ?(?P<tbd>.+)$",
    re.IGNORECASE,
)
_UNCLEAR = re.compile(
    r"\b(?:still|it remains|remains) (?:unclear|unknown|undecided|open)\b.{0,20}?"
    r"\b(?:whether|if|why|how|what|which|who|when|where)\b"
    r"|\bwe (?:still )?(?:don't|do not) (?:yet )?know (?:yet )?(?:whether|if|why|how|what|which|who|when|where)\b"
    r"|\bno one knows (?:whether|why|how)\b|\bremains to be (?:seen|decided|determined)\b"
    r"|\b(?:not|hasn't been|has not been) (?:yet )?decided (?:whether|which|how|what)\b",
    re.IGNORECASE,
)
_OPEN_HEADING = re.compile(
    r"^(?:\d+\.? )?(?:open|unresolved|unanswered|remaining) (?:questions?|issues?)\b.{0,30}$", re.IGNORECASE
)
_REQUEST = re.compile(
    r"^(?:(?:hi|hello|hey|ok(?:ay)?|now|also|and|so),? )?(?:can|could|would|will) you(?: please)? (?P<rest>\w.+?)\??$"
    r"|^(?:please|pls) (?P<please>\w.+)$",
    re.IGNORECASE,
)
_QUESTION_CUES = ("question", "unclear", "unknown", "know", "tbd", "to be de", "to be seen", "decided")
_SLASH = re.compile(r"[/!](?!ask\b|code\b|architect\b)\w")
_NONE = re.compile(r"^(?:none|n/a|nothing|no|null|tbd|done)\b.{0,12}$", re.IGNORECASE)


def find_tasks(rows: list[Row], conversation: Conversation) -> Iterator[Found]:
    """Open and done tasks. Of a box that is shown again and again, the last state counts."""
    boxes: dict[str, Found] = {}
    final = _last_turn(conversation, "assistant")
    # An assistant shows its whole list again at every step: what is open stands in the last one.
    listed = max((row.turn for row in rows if row.kind == "check" and row.role == "assistant"), default=-1)
    for row, before in zip(rows, ("", *(row.text for row in rows)), strict=False):
        text = row.text
        if row.kind == "check":
            found = _box(row)
            if found:
                key = " ".join(_WORD.findall(_ARTICLE.sub(" ", found.fields["statement"].casefold())))
                boxes.pop(key, None)
                if found.category == "tasks_done" or row.role == "user" or row.turn == listed:
                    boxes[key] = found
            continue
        head = text[:60].lower()
        if "todo" in head or "fixme" in head or "xxx" in head or "action" in head or "follow" in head:
            said = whole(row)
            opened = _TODO.match(said.text) or _ACTION.match(said.text)
            if opened and len(text) <= 500 and not _TEST_CASE.match(before):  # what a test does is nobody's task
                rest = next(part for part in opened.groups() if part)
                yield from _task("tasks_open", rest, said, 3, row)
                continue
        if row.kind == "bullet" and _REMAINING.match(row.heading) and (row.turn == final or row.role == "user"):
            yield from _task("tasks_open", whole(row).text, whole(row), 2, row)
            continue
        low = row.low
        if "todo:" in low or "fixme:" in low:
            for sentence in sentences(row):
                opened = _TODO.match(sentence.text)
                if opened:
                    yield from _task("tasks_open", next(part for part in opened.groups() if part), sentence, 3, row)
        if "still" in low or "not yet" in low or "remains to be" in low or "remain to be" in low:
            for sentence in sentences(row):
                if _STILL.search(sentence.text) and not _loose(sentence.text, row):
                    yield from _task("tasks_open", sentence.text, sentence, 2, row)
        if row.turn == final and row.role == "assistant" and ("i've" in low or "have " in low or "we've" in low):
            for sentence in sentences(row):
                did = _DID.match(sentence.text)
                if did and re.search(r"`|\d|/|[a-z][A-Z]|_|\.\w", sentence.text[2:]):
                    yield from _task("tasks_done", did["rest"], sentence, 2, row)
    yield from boxes.values()


def find_questions(rows: list[Row], conversation: Conversation) -> Iterator[Found]:
    """Questions that are called open, and what the person asked last if nobody answered it.

    An unanswered request ("can you …") is work that was not done: it is yielded as an open task.
    """
    for row in rows:
        low = row.low
        if row.kind in ("bullet", "prose") and row.heading and _OPEN_HEADING.match(row.heading):
            asked = next(
                (said for said in sentences(row) if said.text.endswith("?") and len(said.text.split()) > 5), None
            )
            if asked:
                yield from _question(asked.text, asked, 4, row)
                continue
        if not has(low, _QUESTION_CUES):
            continue
        for sentence in sentences(row, _QUESTION_CUES):
            explicit = _EXPLICIT_QUESTION.match(sentence.text)
            if explicit:
                yield from _question(next(part for part in explicit.groups() if part), sentence, 4, row)
            elif _UNCLEAR.search(sentence.text) and not _loose(sentence.text.rstrip("?"), row):
                yield from _question(sentence.text, sentence, 3, row)
    number = _unanswered(conversation)
    if number < 0 or (conversation.format == "plain" and len(conversation.turns) == 1):
        # In a text without speakers nobody can tell a question that waits from one that was a figure of speech.
        return
    mine = [row for row in rows if row.turn == number]
    for row in mine[-3:]:
        for sentence in sentences(row):
            request = _REQUEST.match(sentence.text)
            if request and not looks_like_code(sentence.text) and not _SLASH.match(sentence.text):
                rest = next(part for part in request.groups() if part)
                if len(rest.split()) >= 4:
                    yield from _task("tasks_open", rest, sentence, 3, row)
            elif sentence.text.endswith("?") and not sentence.text.lower().startswith(("will you", "would you")):
                yield from _question(sentence.text, sentence, 3, row)


def _box(row: Row) -> Found | None:
    said = whole(row)
    words = re.findall(r"[^\W\d_]+", said.text.lower())
    if len(said.text) > 300 or len(words) < 2 or all(word in _GENERIC for word in words):
        return None
    if row.mark in "-~/":
        # Dropped or half done, tools differ in what they mean by it: as open it is looked at again.
        return _task_found("tasks_open", said.text, said, 2, row)
    if row.mark != " " and _LOOKED.match(said.text):
        return None  # having looked at something is no work that anybody will ask for
    return _task_found("tasks_open" if row.mark == " " else "tasks_done", said.text, said, 3, row)


def _loose(text: str, row: Row) -> bool:
    """Whether a sentence only keeps the talk going, or supposes something."""
    if text.endswith("?") or text.startswith(("If ", "When ", "Unless ")):
        return True
    return row.role == "assistant" and _MECHANICS.search(text) is not None


def _task(category: str, text: str, said: Sentence, score: int, row: Row) -> Iterator[Found]:
    text = text.strip(" -—–:")
    if 3 <= len(text.split()) <= 60 and not _NONE.match(text) and not looks_like_code(text) and text[-1:] not in "?:":
        yield _task_found(category, text, said, score + (row.role == "user"), row)


def _question(text: str, said: Sentence, score: int, row: Row) -> Iterator[Found]:
    text = text.strip(" -—–:")
    if _VAGUE.match(text) and len(text.split()) < 8:
        return
    if 4 <= len(text.split()) <= 60 and not _NONE.match(text) and not looks_like_code(text):
        yield _task_found("questions", text, said, score + (row.role == "user"), row)


def _task_found(category: str, text: str, said: Sentence, score: int, row: Row) -> Found:
    text = clean(text)
    text = begun(text)
    return Found(category, {"statement": text, "detail": "", "quote": said.quote}, score, row.turn)


def _last_turn(conversation: Conversation, role: str) -> int:
    return max((number for number, turn in enumerate(conversation.turns) if turn.role == role), default=-1)


def _unanswered(conversation: Conversation) -> int:
    """The number of the person's last turn if no assistant spoke after it, else -1."""

    def speaks(turn: Turn) -> bool:
        return turn.role in ("user", "assistant") and not _SLASH.match(turn.text)

    spoken = [number for number, turn in enumerate(conversation.turns) if speaks(turn)]
    return spoken[-1] if spoken and conversation.turns[spoken[-1]].role == "user" else -1


# --- notes on one file ---


_EXTENSIONS = (
    "py|pyi|js|jsx|mjs|cjs|ts|tsx|vue|svelte|go|rs|c|h|cc|cpp|hpp|cs|java|kt|swift|rb|php|lua|sh|bash|zsh|ps1|sql|toml|"
    "yaml|yml|json|jsonl|ini|cfg|conf|env|md|rst|txt|html|css|scss|xml|proto|tf|gradle|lock|ipynb|db|log|service"
)
_PATH = rf"(?:[A-Za-z]:[\\/]|~/|\.{{1,2}}/|/)?(?:[\w.@+-]{{1,80}}[\\/]){{0,20}}[\w.@+-]{{0,80}}\.(?:{_EXTENSIONS})"
_FILE_NOTE = re.compile(
    rf"(?P<tick>`?)(?P<path>{_PATH})(?::\d+(?:-\d+)?)?(?P=tick)(?: \([^()\n]{{1,60}}\))?"
    r"(?::| [-—–]| is| has) ?(?P<note>\S.*)$"
)
_AGAIN = re.compile(rf"`(?P<path>{_PATH})`[.:,]? (?P<note>\S.*)$")
_CHANGE = re.compile(r"→|\b(?:deleted|dropped|removed|renamed|updated|changed|added|replaced|merged)\b", re.IGNORECASE)
_FAULT = re.compile(
    rf"\b(?:bug|issue|problem|error|cause|culprit|fault|leak|regression)\b[^.`]{{0,60}}? (?:was|is|lives|sits|lay) in "
    rf"`?(?P<path>{_PATH})`?",
    re.IGNORECASE,
)
_FAULTS = ("bug", "issue", "problem", "error", "cause", "culprit", "fault", "leak", "regression")
_NO_NOTE = re.compile(
    r"^(?:add(?:s|ed|ing)?|updat(?:e|es|ed|ing)|remov(?:e|es|ed|ing)|creat(?:e|es|ed|ing)|modif(?:y|ies|ied)|"
    r"chang(?:e|es|ed)|"
    r"fix(?:e[sd])?|implement(?:s|ed)?|replac(?:e|es|ed)|use|run|check|see|ensure|make|mov(?:e|ed)|renam(?:e|ed)|"
    r"import|"
    r"call|delet(?:e|ed)|new\b|done|ok\b|no changes|unchanged|same|this file|lines?\b|line \d|extend(?:ed)?|"
    r"refactor(?:ed)?|wir(?:e|ed)|set|put|edit(?:ed)?|introduc(?:e|ed)|includ(?:e|ed)|writ(?:e|ten)|wrote|"
    r"extract(?:ed)?|to |this is|keep|merge|expand(?:ed)?|references?|\d|"
    r"drop(?:s|ped)?|for |test(?:s|ed)? for)\b",
    re.IGNORECASE,
)
_UNSURE = re.compile(
    r"\b(?:might|may|could|would|should|likely|probably|if|need|needs|will|let me|i'll|please|you|your|todo|perhaps)\b",
    re.IGNORECASE,
)
_VERB = re.compile(
    r"\b(?:is|are|was|were|has|have|holds|contains|handles|parses|reads|writes|defines|provides|uses|does|requires|"
    r"returns|runs|expects|ignores|depends|fails|breaks|keeps|owns|implements|exports|registers|never|only|must|"
    r"cannot|calls|loads|stores|maps|builds|generates|wraps|controls|needs|leaks|swallows|drops|overwrites|"
    r"misses|lacks|lists|describes|enables|sets|shows|checks|gates|\w+ates|\w+izes|\w+ifies)\b",
    re.IGNORECASE,
)


def find_file_notes(rows: list[Row]) -> Iterator[Found]:
    """Notes bound to one path, which is given as it was spoken."""
    for row in rows:
        if row.kind == "check" or "." not in row.text:
            continue
        start = row.text[:160]
        if ("/" in start or "`" in start) and row.kind == "bullet":
            yield from _described(row, whole(row))
        low = row.low
        if " in " in low and ("/" in low or "`" in low) and has(low, _FAULTS):
            for sentence in sentences(row, _FAULTS):
                fault = _FAULT.search(sentence.text)
                if fault and not _UNSURE.search(sentence.text) and not sentence.text.endswith("?"):
                    yield _note_found(fault["path"], sentence.text, sentence, 3, row)


def _described(row: Row, said: Sentence) -> Iterator[Found]:
    found = _FILE_NOTE.match(said.text) if len(said.text) <= 500 else None
    if not found:
        return
    path, note = found["path"], found["note"].strip(" -—–:")
    if "/" not in path and not found["tick"]:
        return
    again = _AGAIN.match(note)
    if again and again["path"].endswith(path):
        path, note = again["path"], again["note"]
    words = note.split()
    if not 4 <= len(words) <= 60 or _NO_NOTE.match(note) or _UNSURE.search(note) or not _VERB.search(note):
        return
    if looks_like_code(note) or _CHANGE.search(note) or note.endswith((":", "?")):
        return
    yield _note_found(path, note, said, 2, row)


def absolute_path(path: str, conversation: Conversation) -> str:
    """The one absolute path in the conversation that ends with `path`; as it was spoken when there is none or several.

    A relative path is not joined with the session's folder by guess: people name files by their last part.
    """
    if path.startswith(("/", "~")) or "\\" in path or ":" in path:
        return path
    tail = "/" + path.removeprefix("./")
    seen: set[str] = set()
    for turn in conversation.turns:
        at = turn.text.find(tail)
        while at >= 0 and len(seen) < 2:
            start = at
            while (
                start > 0 and at - start < 400 and (turn.text[start - 1].isalnum() or turn.text[start - 1] in "/._-@+")
            ):
                start -= 1
            end = at + len(tail)
            if (
                turn.text[start] == "/"
                and turn.text[start : start + 2] != "//"
                and not turn.text[end : end + 1].isalnum()
            ):
                seen.add(turn.text[start:end])
            at = turn.text.find(tail, end)
    return seen.pop() if len(seen) == 1 else path


def _note_found(path: str, note: str, said: Sentence, score: int, row: Row) -> Found:
    note = begun(note)
    return Found("files", {"path": path, "note": note, "quote": said.quote}, score + (row.role == "user"), row.turn)
