"""What a review of one's own code found and nobody mended: rated or numbered findings, weak points of an assessment."""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.offline import cues
from core.offline.closing import done_parts
from core.offline.prose import Row, begun, by_person, clean, sentences, whole
from core.offline.sessions import Session
from core.offline.statements import Found
from core.offline.substance import LONG, SHORT, readable, shortened, written

MAX_FINDINGS_UNFILTERED = 3
"""Where there are more findings than this, the small ones are left out."""
MAX_FINDINGS = 4
MAX_RISKS = 3


def find_in_review(session: Session) -> Iterator[Found]:
    """The findings of the reviews in a session, the grave ones where there are many."""
    findings = [*_rated(session), *_numbered(session), *_wished(session)]
    grave = [found for low, found in findings if not low]
    yield from (grave if len(findings) > MAX_FINDINGS_UNFILTERED else [found for _, found in findings])[:MAX_FINDINGS]


_LOW = ("low", "minor", "p3")


def _rated(session: Session) -> Iterator[tuple[bool, Found]]:
    """What a review of one's own code found and nothing mended afterwards; whether each is a small one."""
    for closing in session.closings:
        if closing.refuted or closing.overtaken or closing.changed:
            continue
        lines = session.rows[closing.number]
        for at, row in enumerate(lines):
            text = clean(row.text)
            rated = cues.SEVERE.match(text)
            below = row.kind == "bullet" and cues.SEVERE_HEADING.match(row.heading)
            if not rated and not below:
                continue
            how = (rated["how"] if rated else row.heading.split()[0]).lower()
            said = (rated["rest"] if rated else text).strip()
            first = next(iter(re.split(r"(?<=[.!?。])\s+(?=[A-Z`])", said)), said)
            if not first and at + 1 < len(lines):
                first = clean(lines[at + 1].text)
            if not SHORT <= len(first) <= LONG + 100 or cues.TEMPLATE.search(first):
                continue
            more = [clean(later.text) for later in lines[at + 1 : at + 4] if not cues.SEVERE.match(later.text)]
            path = re.search(r"`([\w./-]+/[\w.-]+\.\w{1,5})(?::\d[\d,-]*)?`", " ".join((row.text, *more)))
            named = path is not None and path[1].rsplit("/", 1)[-1] in first
            where = f"In `{path[1]}`: " if path and not named else ""
            detail = said[len(first) :].strip() or next((part for part in more if len(part) > SHORT), "")
            statement = f"{where}{first if where else begun(first)} (review finding, {how})"
            quote = next((part.quote for part in sentences(row) if first[:20] in part.text), "")
            fields = {"statement": statement, "detail": shortened(detail), "quote": quote}
            yield how in _LOW, Found("tasks_open", fields, 68, closing.number)


_POINT = re.compile(r"^(?:\d{1,2}[.):]|[A-Z]\d{0,2}[.):]|#\d{1,2}[:.]?)\s+(?P<what>\S.{8,120})$")
_WRONG = re.compile(
    r"\b(?:silent\w*|missing|never|not|no longer|fails?|skips?|swallow\w*|stale|race|leaks?|wrong|incorrect\w*|"
    r"inconsistent|unbounded|lacks?|without|ignor\w+|hard\w*|duplicat\w*|breaks?|errors?|bugs?|unsafe|lost|drops?|"
    r"overwrit\w+|vulnerab\w+|unused|dead|fragile|can't|cannot|doesn't)\b|风险|缺|不",
    re.IGNORECASE,
)
_RATED = re.compile(r"\b(?:critical|blocker|high|major|medium|serious|P[012])\b", re.IGNORECASE)
_HARMLESS = re.compile(
    r"\b(?:non-issue|nits?|not (?:a |really a )?block\w*|acceptable|no action|fine|cosmetic|informational|optional|"
    r"reasonable|minor|inefficien\w+|already (?:handled|fixed)|currently safe)\b",
    re.IGNORECASE,
)


def _numbered(session: Session) -> Iterator[tuple[bool, Found]]:
    """Numbered findings of a review, each below a heading of its own, of which nothing is spoken of afterwards."""
    for closing in session.closings:
        if closing.refuted or closing.changed:
            continue
        parts: dict[str, list[Row]] = {}
        for row in session.rows[closing.number]:
            parts.setdefault(row.heading, []).append(row)
        points = [(found["what"], lines) for heading, lines in parts.items() if (found := _POINT.match(heading))]
        if len(points) < 2 or sum(cues.ORDER.match(what) is not None for what, _ in points) > 1:
            continue
        for what, lines in points:
            said = " ".join(clean(row.text) for row in lines)
            names = cues.ANCHOR.findall(what) or cues.ANCHOR.findall(said)[:2]
            if not names or not _WRONG.search(what) or _HARMLESS.search(f"{what} {said}"):
                continue
            if closing.overtaken and not _RATED.search(what):
                continue  # the user chose what to do about them, and let this one be
            if session.spoken_of(closing.number, names):
                continue
            first = next(
                (part for row in lines for part in sentences(row) if readable(cues.LINE_NUMBERS.sub("", part.text))),
                None,
            )
            text = f"{clean(what)}: {cues.LINE_NUMBERS.sub('', first.text)}" if first else clean(what)
            quote = first.quote if first else ""
            fields = {"statement": f"{begun(text).rstrip('.')} (review finding)", "detail": "", "quote": quote}
            yield False, Found("tasks_open", fields, 66, closing.number)


_WISHED = re.compile(
    r"^\W*(?:\d+\W+)?(?:(?:the |my )?(?:top|most|important|main|key|suggested|recommended|possible|priority|"
    r"prioriti[sz]ed|further|other)\s+){0,3}(?:improvements?|recommendations?|suggestions?|action items|"
    r"(?:must|should)[- ]fix(?:es)?|next steps?)(?:\s*[(:：,—–-].*)?$|"
    r"^\W*(?:empfehlungen|verbesserungen|nächste schritte|recommandations|améliorations|prochaines étapes|"
    r"recomendaciones|mejoras|próximos pasos|(?:主要|重要)?(?:改进)?建议|改进(?:点|项)|下一步|改善(?:点|案)|"
    r"次のステップ|개선 ?(?:점|사항)|다음 단계)\s*[:：]?$",
    re.IGNORECASE,
)
"""A heading below which a review says what it would have done."""
SLIGHT = re.compile(
    r"\b(?:optional\w*|low[- ]priority|nice[- ]to[- ]have|small\w*|trivial|consider|might|could|if you|tidy)\b|"
    r"^\W*(?:the )?(?:\w+ ){0,2}comments?\b|"
    r"^\W*(?:document|(?:add|write) (?:a |some )?(?:comments?|notes?|docs?)|rename|reword)\b|可选|考虑",
    re.IGNORECASE,
)
"""What whoever reviewed did not insist on, and what only the pages would say better."""
NUMBERS = re.compile(
    r"(?<!\s)\s*(?:\((?:obs|observation|finding|item|point)s?\.? [\d, /&]+\)|^\W*\(\w?\d+\)(?:[/+]\(\w?\d+\))*)",
    re.IGNORECASE,
)
"""The number with which a point of a review calls itself."""
MAX_WISHED = 3


def _wished(session: Session) -> Iterator[tuple[bool, Found]]:
    """What a review of code that it has seen would have done first, and of which nothing was written afterwards."""
    for closing in session.closings:
        lines = session.rows[closing.number]
        if closing.refuted or written(session, closing) or not session.events:
            continue
        if any(_RISK_HEADING.search(row.heading) for row in lines):
            continue  # the weak points stand there, and these are ideas
        if closing.overtaken and not any(by_number(session, closing.number, row.text) for row in lines):
            continue  # what was chosen nobody can tell
        found: list[tuple[bool, Found]] = []
        for row in lines:
            if row.kind != "bullet" or not _WISHED.match(row.heading):
                continue
            if by_number(session, closing.number, whole(row).text):
                continue
            text = NUMBERS.sub("", cues.LINE_NUMBERS.sub("", whole(row).text)).strip()
            if SLIGHT.search(text) or not readable(shortened(text)) or not session.bears_out(text):
                continue
            if session.rewritten(closing.number, text) or said_done(session, closing.number, text):
                continue
            statement = f"{begun(shortened(text)).rstrip('.')} (suggested, and not done in the session)"
            fields = {"statement": statement, "detail": "", "quote": whole(row).quote}
            found.append((False, Found("tasks_open", fields, 60, closing.number)))
        yield from found[:MAX_WISHED]


def by_number(session: Session, number: int, text: str) -> bool:
    """Whether the user spoke later of the number with which a text calls itself: they chose what to do about it."""
    numbers = [digits for found in NUMBERS.findall(text) for digits in re.findall(r"\d+", found)]
    if not numbers:
        return False
    later = [row.text for row in session.conversation.turns[number:] if by_person(row)]
    return any(re.search(rf"(?<![\d.]){digits}(?!\.?\d)", said) for digits in numbers for said in later)


def said_done(session: Session, number: int, text: str) -> bool:
    """Whether a later closing message tells of work on something that a sentence names: not every file tells what was
    written."""
    names = {name.strip("`()").casefold() for name in cues.ANCHOR.findall(text)}
    later = (row.number for row in session.closings if row.number > number and row.changed and not row.refuted)
    return any(name in done.casefold() for at in later for done, _ in done_parts(session, at) for name in names)


_RISK_HEADING = re.compile(
    r"^(?:\W*\d*\W*)(?:(?:main|known|open|remaining|major|key|potential)\s+)?(?:risks?|weakness(?:es)?|shortcomings?|"
    r"security (?:issues|concerns|risks))(?:\s*(?:and|&|/)\s*\w+)?$|风险|不足|缺点|リスク|課題|위험",
    re.IGNORECASE,
)


def find_risks(session: Session) -> Iterator[Found]:
    """Weak points of one's own project that an assessment named and that nobody came back to."""
    risks = []
    for closing in session.closings:
        if closing.refuted or closing.changed:
            continue
        for row in session.rows[closing.number]:
            if row.kind != "bullet" or not _RISK_HEADING.search(row.heading):
                continue
            text = whole(row).text
            names = [name for name in cues.ANCHOR.findall(text) if len(name.strip("`")) > 4]
            if len(names) < 2 or not readable(text) or _HARMLESS.search(text) or cues.UNSURE.search(text):
                continue
            if not session.spoken_of(closing.number, names):
                detail = "a weak point that was named and not worked on"
                fields = {"statement": begun(text), "detail": detail, "quote": whole(row).quote}
                risks.append(Found("tasks_open", fields, 54, closing.number))
    yield from risks[:MAX_RISKS]
