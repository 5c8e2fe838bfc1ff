"""Tasks and questions: checkboxes, TODO lines, lists of what remains, reported work, and what nobody answered."""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.conversations.conversation import Conversation, Turn
from core.offline.prose import Row, Sentence, begun, clean, has, looks_like_code, sentences, whole
from core.offline.statements import Found

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
        return _found("tasks_open", said.text, said, 2, row)
    if row.mark != " " and _LOOKED.match(said.text):
        return None  # having looked at something is no work that anybody will ask for
    return _found("tasks_open" if row.mark == " " else "tasks_done", said.text, said, 3, row)


def _loose(text: str, row: Row) -> bool:
    """Whether a sentence only keeps the talk going, or supposes something."""
    if text.endswith("?") or text.startswith(("If ", "When ", "Unless ")):
        return True
    return row.role == "assistant" and _MECHANICS.search(text) is not None


def _task(category: str, text: str, said: Sentence, score: int, row: Row) -> Iterator[Found]:
    text = text.strip(" -—–:")
    if 3 <= len(text.split()) <= 60 and not _NONE.match(text) and not looks_like_code(text) and text[-1:] not in "?:":
        yield _found(category, text, said, score + (row.role == "user"), row)


def _question(text: str, said: Sentence, score: int, row: Row) -> Iterator[Found]:
    text = text.strip(" -—–:")
    if _VAGUE.match(text) and len(text.split()) < 8:
        return
    if 4 <= len(text.split()) <= 60 and not _NONE.match(text) and not looks_like_code(text):
        yield _found("questions", text, said, score + (row.role == "user"), row)


def _found(category: str, text: str, said: Sentence, score: int, row: Row) -> Found:
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
