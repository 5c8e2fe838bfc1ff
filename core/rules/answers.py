"""What was put to somebody in a coding session and what came back: questions and choices.

An answer alone says nothing ("the second", "yes", "All of them"): here it stands with what was asked. That a choice was
made shows in structure: the record of a question, marks of a list.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.conversations.events import Question
from core.rules import words
from core.rules.prose import by_person, clean
from core.rules.sentence import Found, found
from core.rules.session import Session

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
