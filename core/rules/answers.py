"""What was put to somebody in a coding session and what came back: questions, choices, plans, summaries.

An answer alone says nothing ("the second", "yes", "All of them"): here it stands with what was asked. That a choice was
made shows in structure: the record of a question, marks of a list, a plan that was approved and carried out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.conversations.conversation import Turn
from core.conversations.events import Compaction, Plan, Question
from core.rules import words
from core.rules.prose import Row, by_person, clean, whole
from core.rules.sentence import Found, fits, found
from core.rules.session import Session, rows_of

MAX_DECISIONS = 3
MAX_PER_SUMMARY = 3
LONGEST_ANSWER = 220
LONGEST_CHOSEN = 160

# --- questions of a tool ---

_ADVISED = re.compile(r"\s*\((?:recommended|empfohlen|推荐|推奨)\)", re.IGNORECASE)
_POINTS = re.compile(r"\b(?:this|that|these|those|it)\b(?=\W*$|\s+(?:reliably|here|now|way|one|too)\b)", re.IGNORECASE)
"""A question about something that only the talk around it names."""
_IN_HAND = re.compile(
    r"\bthe (?:[\w-]+ )?(?:removal|fix|change|clean-?up|refactor(?:ing)?|rewrite|patch|task|step|finding|comment)\b|"
    r"\b(?:proceed|continue|next|commit|push|run|start|ready|go ahead|merge)\b",
    re.I,
)
"""Work that only the session knows by this name, and how it goes on."""
_OF_STATE = re.compile(r"(?:can you|do you|did you|have you|are you|is it|does it|is there|did|has)\b", re.IGNORECASE)
_ALL = re.compile(
    r"^(?:all(?: of (?:the above|them|these))?|both(?: of them)?|beides?|以上全部|全部|両方)$", re.IGNORECASE
)


def find_answers(session: Session) -> Iterator[Found]:
    """A question that was put to the user is a decision with its answer, and open without one at the very end."""
    for turn, row in session.events:
        if not isinstance(row, Question):
            continue
        glued = len(row.asked) > 1 and len({answer for *_, answer in row.asked}) == 1
        for asked, options, answer in row.asked:
            question = clean(asked)
            # Where only a tool's record has the answer, its quote would pass for the tool's own word.
            quote = "" if glued or not _typed(session, answer) else answer
            given = _own_part(options, answer) if glued else clean(answer)
            vague = _IN_HAND.search(question) or (_POINTS.search(question) and not words.ANCHOR.search(question))
            if vague or len(given) > LONGEST_ANSWER:
                continue
            if given and words.PUT_OFF.search(given):
                yield found("tasks_open", f"Put off: {question}", turn, detail=f"the user said: {given}", quote=quote)
            elif given and not words.NO_ANSWER.match(given):
                chosen, others = _chosen(_ADVISED.sub("", given), _ADVISED.sub("", options))
                kind = "facts" if _OF_STATE.match(question) and given not in options else "decisions"
                yield found(kind, f"{question} → {chosen}", turn, detail=others, quote=quote, score=75)
            elif not answer and not row.answered and (turn, row) == session.events[-1]:
                detail = f"options: {options}" if options else ""
                yield found("questions", question, turn, detail=detail, score=70)


def _typed(session: Session, answer: str) -> bool:
    """Whether an answer stands in a message of the user."""
    return any(by_person(turn) and answer in turn.text for turn in session.conversation.turns)


def _own_part(options: str, answers: str) -> str:
    """Of the answers to several questions that stand in one line, those to the question with these options."""
    mine = [option for option in options.split(" | ") if option and option in answers]
    return clean(", ".join(mine))


def _chosen(given: str, options: str) -> tuple[str, str]:
    """The answer by its name, and what was not chosen."""
    names = [clean(name) for name in options.split(" | ") if name.strip()]
    others = [name for name in names if name != given and name not in given]
    if _ALL.match(given):
        named = [name for name in others if not _ALL.match(name)]
        return (", ".join(named) or given), ""
    return given, f"not: {'; '.join(others)}" if given in names and others else ""


# --- options in a message ---

_LISTED = re.compile(
    r"^[\s*_>#-]*(?:(?:option|variante?|choice|approach|alternative|opción|方案|选项|オプション|案|옵션)\s*)?"
    r"(?P<mark>[1-9]|[A-F])[.):：*]+\s*[*_]*\s*(?P<what>\S.{3,}?)\s*$"
    r"|^\|\s*\**(?P<cell>[1-9]|[A-F])\**\s*\|\s*(?P<row>[^|]{4,}?)\s*\|",
    re.IGNORECASE,
)
_PICK = re.compile(
    r"^(?:(?:let'?s|we'll|i'll|i'd|i|please|ok(?:ay)?,?|yes,?|go|going|do|take|use|pick|choose|prefer|like|want|with|"
    r"for|the|option|variante?|choice|approach|alternative|number|answer|nehmen wir|nimm|wir nehmen|prends|prenons|"
    r"on prend|elijo|usa|opción|la|die|das|#)\s+)*"
    r"(?:选|选择|就选|用|方案|选项|オプション|案|옵션)?\s*(?P<mark>[1-9]|[A-Fa-f])(?:案|番|号|번)?(?![\w.])"
    r"(?:(?:\s*[,.:;!?，。、–—-]+\s*|\s+(?=(?:but|because|since|please|and|with|as|aber|weil|bitte|mais|"
    r"pero)\b))(?P<more>.*))?$",
    re.IGNORECASE | re.DOTALL,
)
_WORK = re.compile(
    r"(?:create|add|implement|update|fix|refactor|write (?:a|an|the|tests?)|extend|modify|change|switch|run|commit|"
    r"push|continue|proceed|start|review|test)\b",
    re.IGNORECASE,
)
_OPTION = re.compile(r"^\W*Option\s+(?:\d|[A-Z])\b\W*\s*(?P<what>[^\n*]{8,100}?)\**\s*(?:\([^)]*\))?:?$", re.IGNORECASE)


def find_choices(session: Session) -> Iterator[Found]:
    """A letter or a number that answers a list of options: what stood behind that mark was chosen."""
    for row in session.exchanges:
        picked = _PICK.match(row.text) if row.before and len(row.text) <= LONGEST_CHOSEN else None
        if not picked or row.before is None or row.doubted:
            continue
        options, question = options_of(row.before.turn.text)
        what = options.get(picked["mark"].upper())
        if not what or len(options) < 2 or not question or _WORK.match(what) or _IN_HAND.search(question):
            continue  # what was done next, not how
        others = "; ".join(_short(text) for mark, text in options.items() if mark != picked["mark"].upper())
        why = f"{picked['more'].strip()}; " if picked["more"] and len(picked["more"]) > 12 else ""
        detail, quote = f"{why}not: {others}", row.text.split("\n")[0]
        yield found("decisions", f"{question} → {_short(what)}", row.number, detail=detail, quote=quote, score=74)


def options_of(text: str) -> tuple[dict[str, str], str]:
    """The last list of options of a message by their marks, and the question above or below it ("" where none says
    what it is about)."""
    options: dict[str, str] = {}
    asked = ""
    for line in text.split("\n"):
        listed = _LISTED.match(line.strip())
        if listed:
            mark = (listed["mark"] or listed["cell"]).upper()
            if mark in ("1", "A"):
                options = {}
            options[mark] = clean(listed["what"] or listed["row"])
        elif line.rstrip(" *_").endswith(("?", "？")):
            last = clean(line.strip(" *_#>-")).strip("*_ ")
            if words.ANCHOR.search(last) or len(last.split()) >= 5 or not last.isascii():
                asked = last if len(last) <= LONGEST_ANSWER else asked
    return options, asked


def _short(text: str) -> str:
    """What an option says before it explains itself."""
    first = re.split(r"(?<=[\w`)])(?:\s[–—-]\s|[:：]\s|(?<=[.。!])\s)", text, maxsplit=1)[0]
    return (first if len(first) >= 12 else text).strip(" .:*_?？—–-")


def find_undecided(session: Session) -> Iterator[Found]:
    """Options that the last message puts to the user, who did not choose any more."""
    closing = session.closings[-1] if session.closings else None
    if closing is None or not closing.at_end or "?" not in closing.turn.text[-400:] or not session.subject:
        return
    options = [clean(row["what"]) for line in closing.turn.text.split("\n") if (row := _OPTION.match(line.strip()))]
    if 2 <= len(options) <= 6:
        statement = f"Not decided at the end of “{session.subject}”: {'; or '.join(options)}?"
        asks = [line.strip() for line in closing.turn.text.split("\n") if "?" in line]
        yield found("questions", statement, closing.number, quote=asks[-1], score=62)


# --- plans, and decisions that stand below such a heading ---

_TITLE = re.compile(r"^#{1,3}\s+(?:Plan:?\s+|Implementation Plan:?\s+)?(.+?)\s*#*$", re.MULTILINE | re.IGNORECASE)
_LABELLED = re.compile(r"^\*\*(?P<label>[^*\n]{3,120})\*\*(?P<more>.*)$", re.DOTALL)
_CONTRAST = re.compile(
    r"\b(?:not|no|instead of|rather than|over|vs|because|since|so that|avoids?|nicht|statt|pas|en vez)\b|而不|"
    r"ではなく|대신",
    re.IGNORECASE,
)
"""What was weighed against something else, or has its reason, says more than what was simply done."""


def find_plans(session: Session) -> Iterator[Found]:
    """The last plan that was approved and carried out: its approach with the reason, and what it decided against
    something else."""
    plans = [(turn, row) for turn, row in session.events if isinstance(row, Plan) and row.text.strip()]
    if not plans or not plans[-1][1].approved or session.last_change < plans[-1][0]:
        return
    turn, plan = plans[-1]
    heading = _TITLE.search(plan.text)
    title = clean(heading[1]) if heading and not words.GENERIC_TITLE.fullmatch(heading[1]) else ""
    why = words.first_sentence(words.section(plan.text, words.CONTEXT)[1])
    name, body = words.section(plan.text, words.APPROACH)
    how = name.partition(": ")[2] or words.first_sentence(body)
    if how and why and title and not _WORK.match(how) and not re.match(r"single file|files?\b", how, re.IGNORECASE):
        yield found("decisions", how, turn, detail=f"{title}. {why}", score=70)
    chosen = [row for row in _chosen_below(rows_of(Turn("assistant", plan.text), turn)) if _CONTRAST.search(row[0])]
    for text, quote in chosen[:MAX_DECISIONS]:
        yield found("decisions", text, turn, detail=f"in the plan “{title}”" if title else "", quote=quote, score=67)


def _chosen_below(rows: list[Row]) -> Iterator[tuple[str, str]]:
    """The items below a heading of decisions that say what was chosen: a label with its reason, or a sentence."""
    for row in rows:
        if row.kind != "bullet" or not words.DECISIONS.match(row.heading):
            continue
        item = whole(row)
        labelled = _LABELLED.match(row.text)
        text = clean(f"{labelled['label'].rstrip(':')}{labelled['more']}") if labelled else item.text
        text = re.sub(r"^([^:]+?)\s+[—–-]\s", r"\1: ", text) if labelled else text
        if labelled and ":" not in text and not labelled["more"].strip():
            continue
        if fits(text) and not text.endswith(("?", ":")) and not words.HEDGE.search(text):
            yield text, item.quote


# --- summaries after compaction ---

_PART = re.compile(r"^\s{0,3}(?:#{1,4}\s*)?(?:\d+\.\s*)?\**([A-Z][\w /&-]{4,40}?)\**:?\s*$", re.MULTILINE)
_FEEDBACK = re.compile(
    r"^[\"“](?P<said>[^\"”]{8,200})[\"”]\s*\((?P<note>(?:feedback|correct\w*|prefer\w*)[^)]{5,120})\)$", re.I
)
_SETTLED = re.compile(
    r"^(?:determined|decided|agreed|chose|settled) |^(?:the )?user (?:prefers|insist\w*|(?:requested|wants|wanted|"
    r"asked for) (?:an? )?(?:strict|only|no|never|always)\b)",
    re.IGNORECASE,
)
_DEFINES = re.compile(r"\bvs\.?\s|\S → \S| = |\b(?:means|is (?:an?|the)|stands for|refers to)\b")


def find_compacted(session: Session) -> Iterator[Found]:
    """The user's words, terms and decisions out of a summary that a tool made of a session, by its headings."""
    for number, event in session.events:
        if not isinstance(event, Compaction):
            continue
        parts = _PART.split(event.text)
        for name, body in zip(parts[1::2], parts[2::2], strict=False):
            rows = [row for row in rows_of(Turn("assistant", body), number) if row.kind in ("bullet", "check")]
            items = [item for row in rows for item in _summed_up(name.strip().lower(), row, number)]
            yield from items[:MAX_PER_SUMMARY]


def _summed_up(heading: str, row: Row, number: int) -> Iterator[Found]:
    item, text = whole(row), clean(row.text)
    _, _, rest = text.partition(": ")
    bold = row.text.startswith("**") and not words.TEMPLATE.search(rest)
    said = _FEEDBACK.match(text)
    if "user messages" in heading and said and not words.POINTING.search(said["said"]):
        yield found("decisions", f"{said['said']} ({said['note']})", number, quote=item.quote, score=62)
    elif _SETTLED.match(text) and fits(text):
        yield found("decisions", text, number, quote=item.quote, score=58)
    elif "concept" in heading and bold and _DEFINES.search(rest) and fits(text):
        yield found("facts", text, number, quote=item.quote, score=50)
