"""What the closing messages of a session say beside the work that was done: causes, facts, what is left.

A closing message is right about *what* more often than about *why*. So a cause or a fact is taken only when it is
strictly worded and the things that it names stand in what a tool gave back. What a later word of the person refuted, or
later work overtook, is not taken at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from core.conversations.events import Commit
from core.offline import cues
from core.offline.closing import (
    FILE_LINE,
    LABEL,
    request_of,
    told_done,
)
from core.offline.prose import Row, begun, clean, has, looks_like_code, whole
from core.offline.reviews import find_in_review, find_risks
from core.offline.sessions import TRIVIAL, Closing, Session, is_change
from core.offline.statements import Found
from core.offline.substance import (
    CODE,
    DOCUMENT,
    LEAST_WORDS,
    LONG,
    SHORT,
    alike,
    named_first,
    readable,
    whole_quotes,
    written,
)

MOST_CAUSES = 2
MOST_FACTS = 2
MOST_REASONED = 3
MOST_LEFT = 3

Rows = Mapping[int, list[Row]]


def find_findings(session: Session) -> Iterator[Found]:
    """Causes, facts, findings of a review and open work, out of the closing messages."""
    if session.of_others:
        return
    rows = session.rows
    findings = list(find_in_review(session, rows))
    yield from findings
    if not findings:
        yield from _newest(list(_left(session, rows)), MOST_LEFT)
        yield from find_risks(session, rows)
    causes = list(_causes(session, rows))
    yield from causes[-MOST_CAUSES:]
    yield from _newest(list(_facts(session, rows, [cause.fields["statement"] for cause in causes])), MOST_FACTS)
    yield from list(_reasoned(session, rows))[-MOST_REASONED:]


def _newest(found: list[Found], most: int) -> list[Found]:
    ranked = sorted(found, key=lambda row: (row.score, row.turn), reverse=True)
    return sorted(ranked[:most], key=lambda row: row.turn)


# --- causes ---


_CAUSE_HEADING = re.compile(
    r"^(?:\d+\.\s*)?(?:the )?(?:root |real |actual |underlying )?(?:causes?|bugs?|problems?|issue)"
    r"(?:\s*(?:\(.*\)|of .*))?$|"
    r"^why (?:it|this|the .{3,40}) (?:fail|broke|breaks?|happen|crash|hang|is |was )|"
    r"^what (?:happen|went wrong|caused|was wrong)|"
    r"^(?:diagnosis|ursache|la cause|la causa|根本原因|原因|问题原因|原因分析|根因)$",
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
_WHY_DONE = re.compile(r"^(?:\w+: )?(?:removed|added|updated|renamed|moved|changed|dropped|kept)\b", re.IGNORECASE)
"""Why something was done is no cause of a failure."""
_CUT_OFF = re.compile(r"\b(?:if|that|when|to|is|are|the|a|an|of|in|with|by|and|or|because|for)\W*$", re.IGNORECASE)
_SAME_AGAIN = re.compile(r"this is (?:the|exactly|a known)\b", re.IGNORECASE)
_PRAISED = re.compile(
    r"\bwell[- ](?:understood|\w+ed)\b|\b(?:right|correct) (?:place|approach|fix)\b|"
    r"\b(?:sound|solid|good) (?:design|choice|approach)\b|\bworks? (?:correctly|well|fine)\b",
    re.IGNORECASE,
)
_NOT_MENDED = "not mended in the session"
LONGEST_CAUSE = 380
MOST_SENTENCES = 3


def _causes(session: Session, rows: Rows) -> Iterator[Found]:
    """Why something failed: the sentence that says so together with those that explain it, when the things they name
    stand in what tools gave back; with what mended it, or that nothing did."""
    found: list[Found] = []
    for closing in session.closings:
        told = [] if closing.refuted else rows[closing.number]
        said = next((said for at in range(len(told)) if (said := _cause_in(session, told, at))), None)
        if said:
            fields = {"statement": begun(said[0]), "detail": _mended(session, rows, closing, said[0]), "quote": said[1]}
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
    parts = session.parts(row)
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
            following += session.parts(later) if later.kind == "prose" else ()
        for part in following[: MOST_SENTENCES - 1]:
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
        told = " ".join(part if part.endswith((".", "。", "!")) else f"{part}." for part in said)
        told = _without_title(session, told)
        if not named_first(told):
            return None
        if len(told) >= SHORT and cues.ANCHOR.search(told) and session.bears_out(told):
            return told, sentence.quote
    return None


def _lead(session: Session, rows: Sequence[Row], at: int) -> str:
    """The sentence that leads to a list above a row: what its "these" are."""
    above = next((row for row in reversed(rows[max(0, at - 6) : at]) if row.kind == "prose"), None)
    last = session.parts(above)[-1:] if above and above.text.endswith((":", "：")) else []
    text = _neutral(last[0].text).rstrip(":：") if last else ""
    return text if text and _explains(text) and cues.ANCHOR.search(text) else ""


def _neutral(text: str) -> str:
    """A sentence without line numbers and without whom it was said to."""
    return _YOURS.sub("the ", _CLEAR.sub("", cues.LINE_NUMBERS.sub("", text)))


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


def _mended(session: Session, rows: Rows, closing: Closing, cause: str) -> str:
    """What was done about a cause: the work that its closing message tells of, or a later one in the same words."""
    names = {name.strip("`()").casefold() for name in cues.ANCHOR.findall(cause)}
    for later in session.closings:
        if later.number >= closing.number and later.changed and not later.refuted:
            for done, _ in told_done(session, later.number):
                if later is closing or any(name in done.casefold() for name in names):
                    return f"mended in the session: {done}"
    if any(closing.before < at < closing.number and is_change(row) for at, row in session.events):
        return ""
    return _NOT_MENDED if session.events and not closing.overtaken else ""


# --- facts ---


def _facts(session: Session, rows: Rows, causes: Sequence[str]) -> Iterator[Found]:
    """Sentences that say how something works: of what was not changed afterwards."""
    for closing in session.closings:
        if closing.refuted:
            continue
        for row in rows[closing.number]:
            if row.kind == "check" or cues.LEFT_HEADING.match(row.heading):
                continue
            told = _KNOWS_HEADING.search(row.heading) is not None and len(row.heading) < LONGEST_HEADING
            if cues.REVIEW_HEADING.search(row.heading) and not told:
                continue
            if cues.SEVERE.match(row.text):
                break  # a review: what follows is about lines of code
            asked = closing.at_end and told
            if not (asked or has(row.low, _OF_FACT)):
                continue
            for sentence in session.parts(row):
                text = _neutral(sentence.text)
                rule = cues.RULE.search(text) is not None
                state = (row.kind == "prose" or closing.at_end) and _STATE.search(text) is not None
                last = asked and not _AS_IT_RAN.search(text)
                if not (rule or state or last) or not _is_fact(session, text) or session.worked_on(closing, text):
                    continue
                if _OF_FILE.match(text) or any(text.rstrip(".") in cause for cause in causes):
                    continue  # what one file is for stands in the file
                about = "" if named_first(text) else _subject_of(session, closing)
                if not about and not named_first(text):
                    continue
                score = 40 * rule + 10 * state + 5 * closing.at_end + 5 * ("`" in sentence.quote)
                fields = {"statement": about + begun(_NOW.sub("", text)), "detail": "", "quote": sentence.quote}
                yield Found("facts", fields, score, closing.number)


_OF_FACT = (
    "only", "not", "n't", "default", "require", "must", "can", "overrid", "precedence", "wins over", "limited", "hard",
    "deprecated", "ignore", "instead", "rather", "never", "always", "unlike", "unless", "even ", "regardless",
    "independent", "separate", "live", "stored", "kept", "defined", "configured", "tracked", "based", "come", "point",
    " no ", "without", "nur wenn", "standardmäßig", "unterstützt", "erfordert", "ignoriert", "seulement", "par défaut",
    "prend pas", "nécessite", "solo si", "por defecto", "no admite", "requiere", "不支持", "只有", "只能", "优先于",
    "デフォルト", "必須", "のみ", "できません", "対応していません", "기본값", "반드시", "지원하지",
)  # fmt: skip
_NOW = re.compile(r"^(?i:now|so|thus),? (?=[`A-Z])")
LONGEST_HEADING = 60
_KNOWS_HEADING = re.compile(
    r"\b(?:key|design|decisions?|notes?|security|important|behaviou?r|architecture|caveats?|gotchas?|discover\w+|"
    r"learn\w+|insights?|takeaways?|observations?|facts?|constraints?|assumptions?|environment|compat\w+|how it works|"
    r"context)\b|注意|要点|关键|设计|ポイント|주의",
    re.IGNORECASE,
)
"""Headings below which a closing message says what is worth knowing."""
_AS_IT_RAN = re.compile(
    r"\b(?:pass(?:es|ed|ing)?|green|clean(?:ly)?|succeed\w*|success\w*|verified|ready|complete[ds]?|the fix|"
    r"as (?:requested|expected)|file:|(?:no|zero|\d+) (?:errors?|warnings?|failures?|issues?))\b|"
    r"^(?:draft |PR\b|commit|branch|file)",
    re.IGNORECASE,
)
"""How the work of that day went."""
_STATE = re.compile(
    r"\b(?:instead of|rather than|only|never|always|unlike|unless|even (?:if|when)|regardless of|independent(?:ly)? of|"
    r"separate(?:ly)? from|(?:lives?|stored|kept|defined|configured|tracked) in|based on|comes? from|points? (?:to|at)|"
    r"(?:is|are|was|were|does|do|did)(?:n't| not)|ha(?:s|ve) no|without)\b",
    re.IGNORECASE,
)
"""What a sentence says that tells how a thing is and not what was done to it."""
_POINTS = re.compile(r"\b(?:these|those|this|above|below|such|here)\b", re.IGNORECASE)
_SNIPPET = re.compile(r"^`[^`]*[\s<>=?:{][^`]*`")
_OF_FILE = re.compile(
    r"^(?:`[^`]+`\s*(?:[:：(]|[-–—]\s)|(?:later|then|afterwards|eventually)\b|[^`:：]{3,40}[:：]\s*`[^`]+`\s*(?:$|\(|,|and\b|\+))"
)
PAST = re.compile(
    rf"(?:{cues.DONE.pattern})|^\W*(?:[A-Z][a-z]+ed|(?:re)?(?:built|wrote|made|set|ran|did)|kept|left|sent|put|cut|brought|"
    r"split|took)\b",
    re.IGNORECASE,
)
PERSONS = re.compile(r"\b(?:I|I've|I'd|I'm|we|we've|you|your|my|our|us)\b", re.IGNORECASE)


_OF_REQUEST = re.compile(r"^(?:PR|MR|pull request|issue) #?\d+\b\s*[—–:-]+\s*", re.IGNORECASE)


def _without_title(session: Session, text: str) -> str:
    """A text without the title of a pull request that is glued to its front."""
    found = _OF_REQUEST.match(text)
    rest = text[found.end() :] if found else text
    subjects = [row.subject for _, row in session.events if isinstance(row, Commit) and row.subject]
    title = next((subject for subject in subjects if found and rest.startswith(subject)), "")
    return rest[len(title) :].strip(" .—–-:") + "." if title else "" if found else text


def _subject_of(session: Session, closing: Closing) -> str:
    """The one file that was written for a closing message: what its items are about where they do not say it."""
    names = {name for row in written(session, closing) for name in row.names}
    return f"In `{names.pop()}`: " if len(names) == 1 else ""


_OF_GIT_TODAY = re.compile(
    r"^the commit `?[0-9a-f]{7,}|"
    r"\b(?:ha(?:s|ve) no|no|not|without|(?:is|are) (?:clean|up[- ]to[- ]date|in sync))\b.*"
    r"\b(?:branch(?:es)?|tags?|commits?|worktrees?|remotes?|checkouts?)\b",
    re.IGNORECASE,
)
"""How a look at a repository found it that day."""


def _is_fact(session: Session, text: str) -> bool:
    return (
        readable(text)
        and not _OF_GIT_TODAY.search(text)
        and (len(text.split()) >= LEAST_WORDS or not text.isascii())
        and not cues.HEDGE.search(text)
        and not cues.LEFT.search(text)
        and not cues.REMARK.search(text)
        and not PERSONS.search(text)
        and not PAST.match(text)
        and not _WHY_DONE.match(text)
        and not _POINTS.search(text)
        and not _SNIPPET.match(text)
        and session.bears_out(text)
    )


# --- why something is as it is now ---


def _reasoned(session: Session, rows: Rows) -> Iterator[Found]:
    """What a change does together with its reason, where later work left it alone: "empty ids are allowed, since …"."""
    told: list[str] = []
    for closing in session.closings:
        if closing.refuted or not closing.changed:
            continue
        where = ""
        told += [text for text, _ in told_done(session, closing.number)[:1]]
        for row in rows[closing.number]:
            named = FILE_LINE.match(clean(row.text)) or FILE_LINE.match(row.heading)
            where = named["path"] if named else where if row.kind == "bullet" else ""
            if row.kind == "check" or cues.LEFT_HEADING.match(row.heading):
                continue
            short = row.kind == "bullet" and len(row.text) <= LONG + 100
            for sentence in [whole(row)] if short else session.parts(row):
                text = _neutral(sentence.text)
                label = LABEL.match(text)
                if label:
                    where, text = label["path"], text[label.end() :]
                if not cues.REASON.search(text) or not _tells_why(session, text) or session.worked_on(closing, text):
                    continue
                if any(alike(text, done) for done in told) or DOCUMENT.search(where) or where.endswith(".md"):
                    continue
                told.append(text)
                about = f"In `{where}`: " if where and where.rsplit("/", 1)[-1] not in text else ""
                about = about or ("" if named_first(PAST.sub("", text)) else _subject_of(session, closing))
                fields = {"statement": about + begun(text), "detail": "", "quote": sentence.quote}
                yield Found("facts", fields, 50, closing.number)


def _tells_why(session: Session, text: str) -> bool:
    """Whether a sentence with a reason in it stands by itself and names what tools have shown."""
    return (
        LEAST_REASONED <= len(text) * (1 if text.isascii() else 2) <= 2 * (LONG + 100)
        and cues.ANCHOR.search(text) is not None
        and not (PERSONS.search(text) or cues.HEDGE.search(text) or cues.OFFER.search(text))
        and not (cues.MONOLOGUE.match(text) or cues.DANGLING.match(text) or TRIVIAL.match(text))
        and not (text.endswith((":", "?", "：", "？")) or looks_like_code(text) or not whole_quotes(text))
        and session.bears_out(text)
    )


LEAST_REASONED = 60

# --- left ---


_NEXT_HEADING = re.compile(
    r"\b(?:next steps?|remaining|pending|follow[- ]?ups?|not (?:yet )?(?:done|tested|verified|covered|included)|"
    r"still to|open (?:questions|items|issues|points)|before (?:you|merging|deploy\w*|releas\w*)|"
    r"after (?:deploy|merg)\w*|you(?:'ll| will)? (?:still )?(?:need|have|must|should|may want)(?: to)?|"
    r"action (?:items|required)|for later|blockers?|to (?:finish|complete))\b|"
    r"nächste schritte|prochaines étapes|próximos pasos|下一步|后续|次のステップ|다음 단계",
    re.IGNORECASE,
)
LONGEST_LEAD = 90
LEAST_BELOW = 4


def _left(session: Session, rows: Rows) -> Iterator[Found]:
    """What the closing messages say is not done: items below such a heading, and sentences that say so."""
    for closing in session.closings:
        if closing.refuted:
            continue
        told = rows[closing.number]
        for at, row in enumerate(told):
            listed = row.kind in ("bullet", "check") and row.mark != "x"
            below = listed and bool(cues.LEFT_HEADING.match(row.heading))
            after = listed and not below and closing.at_end and bool(_NEXT_HEADING.search(row.heading[:LONGEST_LEAD]))
            stale = closing.overtaken or not (closing.at_end or session.events)
            for sentence in [whole(row)] if (below or after) and len(row.text) <= LONG else session.parts(row):
                said = (cues.LEFT.search(sentence.text) and not cues.CAUSE.search(sentence.text)) or _NOT_OURS.search(
                    sentence.text
                )
                last = closing.at_end and at >= len(told) - LAST_ROWS and _WAITING.search(sentence.text)
                if not (below or after or said or last):
                    continue
                text = _addressed(sentence.text)
                if after and not (cues.ORDER.match(text) and cues.ANCHOR.search(text)):
                    continue
                if PAST.match(LABEL.sub("", text)) and not _HELD_UP.search(text):
                    continue
                named = readable(text) or ((below or said) and closing.at_end and _stands(text))
                if not named or (not below and cues.UNSURE.search(text)):
                    continue
                if cues.ABOUT_GIT.search(text) and session.sent_after(closing.number):
                    continue
                names = cues.ANCHOR.findall(text)
                if stale and (session.spoken_of(closing.number, names) or not (names or below)):
                    continue
                detail = _about(session) if below or after or not names else ""
                score = 65 if below else 58 if after else 55 if said else 50
                fields = {"statement": begun(text), "detail": detail, "quote": sentence.quote}
                yield Found("tasks_open", fields, score, closing.number)


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
_WAITING = re.compile(
    r"\b(?:once|until|as soon as|when) .{2,60} "
    r"(?:merges?|lands?|(?:is|are) (?:merged|deployed|released|published|approved))\b|"
    r"\bwaiting (?:for|on)\b|\bawaiting\b|\brequires? (?:a )?manual\w*\b|"
    r"\bmust be (?:set|run|added|rotated|configured|created|updated|done) (?:by|in|on|manually|before)\b|"
    r"\bneeds? to be (?:set|run|added|rotated|configured|created|updated|done)\b|"
    r"\b(?:in|as|for|needs?) a (?:separate|follow-?up) (?:PR|pull request|issue|change|task|commit|session)\b|"
    r"\bnot yet\b|\bha(?:s|ve) not been\b|\bwill need\b|\bcan be (?:deleted|removed)\b|"
    r"\b(?:only|just) local(?:ly)?\b|\b(?:not|un)tracked (?:by|in) git\b|\bready (?:for you )?to commit\b",
    re.IGNORECASE,
)
"""What the last lines of a session say still has to happen."""
LAST_ROWS = 5


def _stands(text: str) -> bool:
    """Whether an item below a heading for open work says something though it names no file and no identifier."""
    return (
        len(text) <= LONG
        and (len(text.split()) >= LEAST_BELOW or not text.isascii())
        and readable(f"{text} `.`" if len(text) + 4 >= SHORT else f"{text} {'`.`' * 10}")
    )


def _about(session: Session) -> str:
    """What a session was about, in the person's words, for an item that says less by itself."""
    asked = [turn for turn in session.conversation.turns if turn.role == "user" and not turn.agent]
    wanted = next((text for turn in asked if (text := request_of(turn.text))), "")
    return f"left of “{wanted}”" if wanted else ""


_YOU = re.compile(
    r"^(?:you(?:'ll| will)? (?:still )?(?:need|have) to|make sure to|remember to|don't forget to) ", re.IGNORECASE
)
_I = re.compile(r"^I (?=(?:could not|couldn't|was (?:not able|unable) to|did not|didn't|have not|haven't) )")


def _addressed(text: str) -> str:
    """With the assistant as nobody: "I could not run the tests because …" is about the tests."""
    return begun(_I.sub("", _YOU.sub("", text)))
