"""What the closing messages of a session say beside the work that was done: causes, facts, what is left.

A closing message is right about *what* more often than about *why*. So a cause or a fact is taken only when it is
strictly worded and the things that it names stand in what a tool gave back. What a later word of the user refuted, or
later work overtook, is not taken at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from core.conversations.events import Commit
from core.offline import cues
from core.offline.closing import LABEL, done_parts, request_of
from core.offline.exchanges import typed
from core.offline.prose import Row, begun, by_person, has, looks_like_code, sentences, whole
from core.offline.reviews import NUMBERS, find_in_review, find_risks
from core.offline.sessions import Closing, Session
from core.offline.statements import Found
from core.offline.substance import CODE, LONG, SHORT, alike, named_first, readable, shortened, stems, whole_quotes

MAX_CAUSES = 2
MAX_LEFT = 4
MAX_EXPLAINED, LEAST_EXPLAINED = 2, 60


def find_findings(session: Session) -> Iterator[Found]:
    """Causes, facts, findings of a review and open work, out of the closing messages."""
    if session.of_others:
        return
    findings = list(find_in_review(session))
    yield from findings
    left = [
        row
        for row in _left(session, {row.turn for row in findings})
        if not any(_same(row, other) for other in findings)
    ]
    yield from _newest(left, MAX_LEFT)
    if not findings:
        yield from find_risks(session)
    causes = list(_causes(session))[-MAX_CAUSES:]
    yield from causes
    said = [row for row in _explained(session) if not any(_same(row, other) for other in causes)]
    yield from said[-MAX_EXPLAINED:]


def _same(one: Found, other: Found) -> bool:
    return alike(one.fields["statement"], other.fields["statement"])


def _newest(found: list[Found], most: int) -> list[Found]:
    ranked = sorted(found, key=lambda row: (row.turn, row.score), reverse=True)
    return sorted(ranked[:most], key=lambda row: row.turn)


# --- causes ---


_CAUSE_HEADING = re.compile(
    r"^(?:\d+\.\s*)?(?:the )?(?:root |real |actual |underlying )?(?:causes?|bugs?|problems?|issue)(?:\s*(?:\(.*\)|of "
    r".*))?$|^why (?:it|this|the .{3,40}) (?:fail|broke|breaks?|happen|crash|hang|is |was )|^what (?:happen|went wrong|"
    r"caused|was wrong)|^(?:diagnosis|ursache|la cause|la causa|根本原因|原因|问题原因|原因分析|根因)$",
    re.IGNORECASE,
)
_CAUSE_LABEL = re.compile(
    r"^(?:the )?(?:(?:root |real |actual )?cause|bug|problem|diagnosis|根本原因|原因|根因|Ursache)\s*"
    r"(?:\([^)]{1,30}\)\s*)?(?:(?:is|was)\s*)?[:：—–-]\s*",
    re.IGNORECASE,
)
_OF_CAUSE = (
    "caus", "culprit", "since", "due to", "turn", "problem", "bug", "issue", "reason", "which br", "diagnosis",
    "ursache", "verursacht", "liegt daran", "debido", "原因", "根因", "원인",
)  # fmt: skip
"""Where none of these stands in a line (in lower case), no pattern need be tried."""
_CLEAR = re.compile(
    r"^[^`]{0,60}\bshows? (?=the (?:issue|problem|cause|bug)\b)|"
    r"^(?:(?:ok|okay|good|great|perfect|found it|now I (?:see|understand)\b[^.!:]*|"
    r"(?:the |that |this )?(?:issue|problem|cause|bug) is (?:now )?(?:clear|obvious|found)(?: now)?)\s*[.!:,—-]+\s*)+",
    re.IGNORECASE,
)
_BREAKS = r"(?:fail(?:s|ed|ing)?|broke|breaks|crash(?:es|ed)|hangs?|hung|error(?:s|ed)?)"
_EFFECT = re.compile(
    rf"\bcausing (?:the|a|an)\b|\bwhich (?:caused|causes|broke|breaks)\b|\b(?:is|was|were) the (?:culprit|cause)\b|"
    rf"\bsame root cause\b|\b{_BREAKS}\b.{{0,80}}\b(?:because|since|due to)\b|"
    rf"\b(?:because|since|due to)\b.{{3,120}}\b{_BREAKS}\b|\bfixed a (?:long-standing )?bug where\b",
    re.IGNORECASE,
)
_YOURS = re.compile(
    r"\byour (?=repo|project|code|branch|machine|setup|environment|config|app|CLAUDE|AGENTS|test|file)", re.IGNORECASE
)
_POINTS_BACK = re.compile(
    r"^(?:these|those|such|not|to|let|replace|use|add|check|run|before|after|with the|expected|yes|no|either|pass|"
    r"call)\b",
    re.IGNORECASE,
)
_CURE = re.compile(
    r"(?:(?:the )?fix|solution|result|option|suggestion|recommend|files?\s*[:：]|location|note\b|example)",
    re.IGNORECASE,
)
_SLIP = re.compile(
    r"\b(?:indentation|typo|syntax error|missing (?:comma|colon|import|bracket|semicolon|quote|parenthes\w+)|"
    r"misspel\w+)\b",
    re.IGNORECASE,
)
"""A slip of the pen: nobody asks for it once it is gone."""
_POINTS = re.compile(r"\b(?:these|those|this|above|below|such|here)\b", re.IGNORECASE)
_WHY_DONE = re.compile(r"^(?:\w+: )?(?:removed|added|updated|renamed|moved|changed|dropped|kept)\b", re.IGNORECASE)
"""Why something was done is no cause of a failure."""
_CUT_OFF = re.compile(r"\b(?:if|that|when|to|is|are|the|a|an|of|in|with|by|and|or|because|for)\W*$", re.IGNORECASE)
_SAME_AGAIN = re.compile(r"this is (?:the|exactly|a known)\b", re.IGNORECASE)
_PRAISED = re.compile(
    r"\bwell[- ](?:understood|\w+ed)\b|\b(?:right|correct) (?:place|approach|fix)\b|"
    r"\b(?:sound|solid|good) (?:design|choice|approach)\b|\bworks? (?:correctly|well|fine)\b",
    re.IGNORECASE,
)
_COUNTED = re.compile(r"\s*\((?:observation|obs|finding|item|point|step|task|chunk|D)\.? ?#?\d+\)", re.IGNORECASE)
"""A number that only the talk explains."""
LONGEST_CAUSE = 300
MAX_SENTENCES = 2


def _causes(session: Session) -> Iterator[Found]:
    """Why something failed: the sentence that says so together with those that explain it, when the things they name
    stand in what tools gave back; with what mended it, or that nothing did."""
    found: list[Found] = []
    for closing in session.closings:
        lines = [] if closing.refuted or session.of_chat else session.rows[closing.number]
        said = next((said for at in range(len(lines)) if (said := _cause_in(session, lines, at))), None)
        if said:
            mended = _mended(session, closing, said[0])
            if not closing.changed and (mended or session.edited_after(closing.number, closing.turn.text)):
                continue  # a finding, and its file was written afterwards
            fields = {"statement": begun(said[0]), "detail": mended, "quote": said[1]}
            found.append(Found("facts", fields, 66, closing.number))
    for at, one in enumerate(found):
        if not any(alike(one.fields["statement"], other.fields["statement"]) for other in found[at + 1 :]):
            yield one


def _cause_in(session: Session, rows: Sequence[Row], at: int) -> tuple[str, str] | None:
    """The cause that a row tells, with the sentences that go on with it, and its quote."""
    row = rows[at]
    if cues.SEVERE.match(row.text) or row.kind == "check":
        return None
    below = _CAUSE_HEADING.match(row.heading) is not None and (at == 0 or rows[at - 1].heading != row.heading)
    if not below and not has(row.low, _OF_CAUSE):
        return None
    parts = list(sentences(row))
    for number, sentence in enumerate(parts):
        text = _neutral(sentence.text)
        label = _CAUSE_LABEL.match(text)
        bare = text[label.end() :] if label else text
        if not (label or (below and number == 0) or cues.CAUSE.search(text) or _EFFECT.search(text)):
            continue
        if len(bare) < 15 or not _explains(bare) or cues.DANGLING.match(bare) or _POINTS_BACK.match(bare):
            continue
        if _SLIP.search(bare) or _CUT_OFF.search(bare) or _WHY_DONE.match(bare):
            continue
        before = _lead(session, rows, at) if _POINTS.search(bare) else ""
        if _POINTS.search(bare) and not before:
            continue
        said = [before, bare.rstrip(":：")] if before else [bare.rstrip(":：")]
        following = [*parts[number + 1 :]]
        for later in rows[at + 1 : at + 8]:
            following += sentences(later) if later.kind == "prose" else ()
        for part in following[: MAX_SENTENCES - 1]:
            more = _neutral(part.text)
            if _SAME_AGAIN.match(more):
                continue
            if (
                not _explains(more)
                or cues.ORDER.match(more)
                or _POINTS_BACK.match(more)
                or more.endswith((":", "："))
                or len(more) + sum(map(len, said)) > LONGEST_CAUSE
            ):
                break
            said.append(more)
        cause = " ".join(part if part.endswith((".", "。", "!")) else f"{part}." for part in said)
        cause = _without_title(session, cause)
        if not named_first(cause):
            return None
        if len(cause) >= SHORT and cues.ANCHOR.search(cause) and session.bears_out(cause):
            return cause, sentence.quote
    return None


def _lead(session: Session, rows: Sequence[Row], at: int) -> str:
    """The sentence that leads to a list above a row: what its "these" are."""
    above = next((row for row in reversed(rows[max(0, at - 6) : at]) if row.kind == "prose"), None)
    last = list(sentences(above))[-1:] if above and above.text.endswith((":", "：")) else []
    text = _neutral(last[0].text).rstrip(":：") if last else ""
    return text if text and _explains(text) and cues.ANCHOR.search(text) else ""


def _neutral(text: str) -> str:
    """A sentence without line numbers and without whom it was said to."""
    return _YOURS.sub("the ", _CLEAR.sub("", _COUNTED.sub("", cues.LINE_NUMBERS.sub("", text))))


def _explains(text: str) -> bool:
    return not (
        cues.HEDGE.search(text)
        or cues.OFFER.search(text)
        or cues.MONOLOGUE.match(text)
        or cues.TEMPLATE.search(CODE.sub("", text))
        or PERSONS.search(text)
        or _CURE.match(text)
        or _PRAISED.search(text)
        or looks_like_code(text)
        or not whole_quotes(text)
        or text.endswith(("?", "？", "…"))
    )


_STILL = re.compile(
    r"\bstill (?:stale|open|fail\w*|broken|missing|not|pending|needs?|wrong|red|stands?|happens?|the same)\b|"
    r"\bremains? (?:stale|open|broken|unfixed|wrong)\b|"
    r"\b(?:immer noch|noch immer|weiterhin|toujours pas|todavía|aún)\b|"
    r"仍然?|还是|まだ|여전히|아직",
    re.IGNORECASE,
)


def _mended(session: Session, closing: Closing, cause: str) -> str:
    """What was done about a cause, as its closing message or a later one tells with a thing that the cause names;
    nothing where one of them says that something still stands."""
    names = {name.strip("`()").casefold() for name in cues.ANCHOR.findall(cause)}
    since = [later for later in session.closings if later.number >= closing.number]
    if any(_STILL.search(later.turn.text) for later in since):
        return ""
    for later in since:
        if later.changed and not later.refuted:
            for done, _ in done_parts(session, later.number):
                if any(name in done.casefold() for name in names) or stems(done) & stems(cause):
                    return f"mended in the session: {done}"
    return ""


# --- what an answer says first ---

_ASKED = re.compile(
    r"[?？]|吗|(?:ますか|ですか|나요|까요)|"
    r"\b(?:check (?:if|whether|why|how)|investigate|explain|find out|look into|analy[sz]e|debug|figure out|verify|"
    r"compare|research|tell me|prüfe|erkläre|vérifie|explique|comprueba|explica)\b|检查|解释|分析|調べ|説明|확인|설명",
    re.IGNORECASE,
)


_AT_LINES = re.compile(r"\blines? [~≈]?\d", re.IGNORECASE)


def _explained(session: Session) -> Iterator[Found]:
    """What the closing message of a question says first about the user's own systems, when tools have shown what it
    names and later work left it alone: a standing sentence of prose, with the next one where that goes on with it."""
    turns = session.conversation.turns
    for closing in () if session.of_chat else session.closings:
        asked = [turn for turn in turns[: closing.number] if by_person(turn)][-1:]
        if closing.refuted or closing.changed or not asked or not _ASKED.search(typed(asked[0].text)):
            continue
        if session.edited_after(closing.number, closing.turn.text):
            continue  # the finding may be mended
        said: list[str] = []
        quote = ""
        for row in [row for row in session.rows[closing.number][:6] if row.kind == "prose"]:
            for sentence in sentences(row):
                text = _neutral(sentence.text)
                stands = readable(text) and (said or named_first(text)) and _explains(text) and session.bears_out(text)
                stands = (
                    stands
                    and (bool(said) or session.knows(text))
                    and not (_AT_LINES.search(text) or cues.CAUSE.search(text))
                )
                if not stands or (PAST.match(text) and text[0] != "`") or cues.REVIEW_HEADING.search(row.heading):
                    break
                if _POINTS.search(text) or _SLIP.search(text) or _CUT_OFF.search(text):
                    break
                if not session.rewritten(closing.number, text) and sum(map(len, (*said, text))) <= LONG:
                    said.append(text)
                    quote = quote or sentence.quote
            if said:
                break
        statement = " ".join(said)
        if len(statement) >= (LEAST_EXPLAINED if statement.isascii() else SHORT) and not LABEL.match(statement):
            fields = {"statement": begun(statement), "detail": "", "quote": quote}
            yield Found("facts", fields, 56, closing.number)


# --- what a sentence is about ---

PAST = re.compile(
    rf"(?:{cues.DONE.pattern})|^\W*(?:[A-Z][a-z]+ed|(?:re)?(?:built|wrote|made|set|ran|did)|kept|left|sent|put|cut|brought|"
    r"split|took)\b",
    re.IGNORECASE,
)
PERSONS = re.compile(
    r"\b(?:I|I've|I'd|I'm|we|we've|you|your|my|our|us|du|dein\w*|wir|votre|vos|nous|tu[sao]?|tuoi|tue|abbiamo|tenemos)\b",
    re.IGNORECASE,
)


_OF_REQUEST = re.compile(r"^(?:PR|MR|pull request|issue) #?\d+\b\s*[—–:-]+\s*", re.IGNORECASE)


def _without_title(session: Session, text: str) -> str:
    """A text without the title of a pull request that is glued to its front."""
    found = _OF_REQUEST.match(text)
    rest = text[found.end() :] if found else text
    subjects = [row.subject for _, row in session.events if isinstance(row, Commit) and row.subject]
    title = next((subject for subject in subjects if found and rest.startswith(subject)), "")
    return rest[len(title) :].strip(" .—–-:") + "." if title else "" if found else text


# --- left ---


LEAST_BELOW = 4


def _left(session: Session, reviewed: set[int]) -> Iterator[Found]:
    """What the closing messages say is not done: items below such a heading, and sentences that say so. What somebody
    would have to do to use the work ("you will need to …") is advice; a review (`reviewed`: the numbers of messages
    that hold one) says of much that it is not so."""
    for closing in session.closings:
        if closing.refuted:
            continue
        stale = closing.overtaken or not (closing.at_end or session.events)
        open_words = cues.LEFT if closing.at_end else cues.UNDONE
        for row in session.rows[closing.number]:
            below = row.kind in ("bullet", "check") and row.mark != "x" and bool(cues.LEFT_HEADING.match(row.heading))
            if not below and stale and closing.number in reviewed:
                continue
            before = ""
            for sentence in [whole(row)] if below else sentences(row):
                undone = open_words.search(sentence.text) or _LABELLED.match(sentence.text)
                undone = None if cues.CAUSE.search(sentence.text) else undone
                lead, before = before, sentence.text
                if not (below or undone or _NOT_OURS.search(sentence.text)):
                    continue
                if not below and (_ADVICE.match(sentence.text) or cues.UNSURE.search(sentence.text)):
                    continue
                text = begun(_I.sub("", NUMBERS.sub("", shortened(sentence.text)).strip()))
                if lead and cues.DANGLING.match(text) and readable(f"{lead} {text}"):
                    text = f"{begun(lead)} {text}"  # the sentence before says what it is about
                if PAST.match(LABEL.sub("", text)) and not _HELD_UP.search(text):
                    text = _open_clause(text)  # what was done is told elsewhere
                if not (readable(text) or (below and _stands(text))) or _AS_IT_WAS.search(text):
                    continue
                names = cues.ANCHOR.findall(text)
                if cues.ABOUT_GIT.search(text) and session.sent_after(closing.number):
                    continue
                if stale and (session.spoken_of(closing.number, names) or not (names or below)):
                    continue
                detail = _about(session) if below or not names else ""
                fields = {"statement": text, "detail": detail, "quote": sentence.quote}
                yield Found("tasks_open", fields, 65 if below else 55, closing.number)


_CLAUSES = re.compile(
    r"(?:;|\.(?=\s|$)|[。；]|\s[—–-]|,(?=\s+(?:but|though|while|aber|mais|pero)\b)|，(?=但))\s*"
    r"(?:but |and |aber |mais |pero |但)?"
)
_AS_IT_WAS = re.compile(
    r"\b(?:left|kept|remain\w*|stay\w*|is|are|was|were) (?:\w+ )?(?:untouched|unchanged|unmodified|alone|intact|"
    r"as[- ]is)\b|\bnot (?:been )?(?:touched|modified)\b(?! yet)|\b(?:unverändert|inchangée?s?|sin cambios)\b|"
    r"保持不变|未改动|変更なし|변경 없|^\W*(?:re-?run|retry|restart|reload|refresh|try)\b",
    re.IGNORECASE,
)
"""What somebody chose to leave as it is, and what only the moment asks for."""


def _open_clause(text: str) -> str:
    """Of a sentence of work the clause that says what is open, "" where none does so by itself."""
    return next((begun(part) for part in reversed(_CLAUSES.split(text)) if cues.UNDONE.search(part)), "")


_LABELLED = re.compile(
    rf"(?:{cues.LEFT_HEADING.pattern})[^:：]{{0,20}}[:：]\s+\S|^\W*(?:residual|remaining) (?:risk|gap|issue)s?\b",
    re.IGNORECASE,
)
_ADVICE = re.compile(r"\W*(?:note\b|tip\b|you(?:'ll| will| may| can| might| need| have)?\b)", re.IGNORECASE)
_I = re.compile(r"^I (?=(?:could not|couldn't|was (?:not able|unable) to|did not|didn't|have not|haven't) )")
_HELD_UP = re.compile(
    r"\b(?:blocked|could not|couldn't|can(?:no|')t|not yet|deferred|still (?:fail|open|miss)\w*|postponed)\b",
    re.IGNORECASE,
)
_NOT_OURS = re.compile(
    r"\bpre-?existing (?:\w+ ){0,3}(?:fail\w+|errors?|issues?|bugs?|problems?)\b|"
    r"\b(?:fail\w*|errors?) (?:is|are|was|were) (?:pre-?existing|unrelated)\b|"
    r"\balready (?:fail\w*|broken) (?:on|before|in)\b",
    re.IGNORECASE,
)
"""What was broken before and stayed so."""


def _stands(text: str) -> bool:
    """Whether an item below a heading for open work says something though it names no file and no identifier."""
    return (
        len(text) <= LONG
        and (len(text.split()) >= LEAST_BELOW or not text.isascii())
        and readable(f"{text} `.`" if len(text) + 4 >= SHORT else f"{text} {'`.`' * 10}")
    )


def _about(session: Session) -> str:
    """What a session was about, in the user's words, for an item that says less by itself."""
    asked = [turn for turn in session.conversation.turns if by_person(turn)]
    wanted = next((text for turn in asked if (text := request_of(turn.text))), "")
    return f"left of “{wanted}”" if wanted else ""
