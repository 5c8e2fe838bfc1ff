"""A conversation as the pieces that the reader draws, as plain data: tested without a window.

A piece is small (a paragraph or two, some lines of code, a call): ten thousand turns cost only what is in sight. What a
call gave back is folded into it. First a conversation becomes pieces; then a piece becomes lines of a width.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import NamedTuple

from core.base.figures import count
from core.conversations.events import Call, Command, Compaction, Edit, Question, Reminder, Todos, call_words
from core.conversations.readable import HarvestedItem, ReadableConversation, ReadableTurn
from gui.toolkit.flow_rows import FlowRow
from gui.toolkit.letters import cells
from gui.toolkit.typeset import Style, visible
from gui.views.looks import capital, category_of

HEAD, WORDS, CODE, CALL, OUTPUT = "head", "words", "code", "call", "output"
NOTE = "note"
"""The state of what is folded like a call and is none: a reminder, an output of nobody knows which call."""
WORDS_CHARACTERS = 1200
"""The longest piece of words; a longer text is several."""
CODE_CHARACTERS = 4000
"""The longest piece of code."""
CODE_LINES = 40
"""The most lines of one."""
LABEL_CHARACTERS = 400
OUTPUT_CHARACTERS = 400_000
"""The characters of an output that can be unfolded; the file has the rest."""


@dataclass(frozen=True)
class Piece:
    """One part of a turn. `turn` is its number, from 1; `text` is drawn and searched, with `styles` as (begin, end,
    name). `label` is who speaks, what is called or what code it is; `aside` a time or an outcome; `state` the role of
    who speaks, or of a call ok, failed or "". `fold` is the number of the call that it belongs to, -1 for none: a CALL
    shows it, an OUTPUT is hidden while it is folded. `opens` and `closes` say that a block begins and ends with it."""

    kind: str
    turn: int
    text: str = ""
    styles: tuple[Style, ...] = ()
    label: str = ""
    aside: str = ""
    state: str = ""
    language: str = ""
    fold: int = -1
    opens: bool = True
    closes: bool = True
    apart: bool = False
    """A little room above: it follows upon calls."""


@dataclass(frozen=True)
class Mark:
    """A harvested item in the margin: `piece` is where its quote stands (or its turn begins), `begin` and `end` are the
    quote's letters there."""

    item: HarvestedItem
    category: str
    piece: int
    begin: int = 0
    end: int = 0


@dataclass(frozen=True)
class Script:
    """A conversation ready to be drawn: its pieces, the first of each turn, and the items in their order."""

    pieces: tuple[Piece, ...] = ()
    first: Mapping[int, int] = field(default_factory=dict)
    marks: tuple[Mark, ...] = ()
    elsewhere: tuple[HarvestedItem, ...] = ()
    """Items of which nobody knows the turn."""
    calls: int = 0
    failed: int = 0


# --- what can be seen of a text --------------------------------------------------------------------------------------


def one_line(text: str) -> str:
    """The first line that says something, not endlessly long."""
    for line in visible(text[: 4 * LABEL_CHARACTERS]).split("\n"):
        if line.strip():
            words = " ".join(line.split())
            return words if len(words) <= LABEL_CHARACTERS else words[:LABEL_CHARACTERS] + "…"
    return ""


def one_line_of(words: str) -> str:
    """All words as one line that can be drawn."""
    return " ".join(visible(words).split())


def clock(when: str) -> str:
    """`16:31` in local time; "" for what is no time."""
    try:
        at = datetime.fromisoformat(when)
    except ValueError:
        return ""
    return f"{at.astimezone():%H:%M}" if at.tzinfo is not None else f"{at:%H:%M}"


# --- a conversation as pieces ----------------------------------------------------------------------------------------


def script_of(talk: ReadableConversation) -> Script:
    """All pieces of a conversation; on a worker."""
    assistant = visible(talk.tool) or "Assistant"
    answers, taken = _answers(talk.turns)
    pieces: list[Piece] = []
    first: dict[int, int] = {}
    speaker, folds, calls, failed = "", 0, 0, 0
    for turn in talk.turns:
        if turn.number in taken:
            continue
        first[turn.number] = len(pieces)
        spoken = turn.agent or {"tool": "assistant"}.get(turn.role, turn.role)
        hidden = turn.role == "system" or (turn.role == "tool" and not _calls(turn))
        if not hidden and (spoken != speaker or turn.role == "user"):
            who = {"user": "You", "assistant": assistant}.get(spoken, visible(turn.agent)[:80] or capital(spoken))
            role = "agent" if turn.agent else spoken
            pieces.append(Piece(HEAD, turn.number, who, label=who, aside=clock(turn.time), state=role))
            speaker = spoken
        for piece in _of_turn(turn, answers.get(turn.number, {}), folds):
            folds += piece.kind == CALL
            calls += piece.kind == CALL and piece.state != NOTE
            failed += piece.kind == CALL and piece.state == "failed"
            if piece.kind == OUTPUT and piece.turn != turn.number:
                first.setdefault(piece.turn, len(pieces))
            below = piece.kind in (WORDS, CODE) and bool(pieces) and pieces[-1].kind in (CALL, OUTPUT)
            pieces.append(replace(piece, apart=True) if below else piece)
        if first[turn.number] == len(pieces):  # a turn without any word of its own
            first[turn.number] = max(0, len(pieces) - 1)
    marks, elsewhere = _marks(talk, pieces, first)
    return Script(tuple(pieces), first, marks, elsewhere, calls, failed)


def _calls(turn: ReadableTurn) -> list[Call]:
    return [event for event in turn.events if isinstance(event, Call)]


def _answers(turns: Sequence[ReadableTurn]) -> tuple[dict[int, dict[int, ReadableTurn]], frozenset[int]]:
    """Turn -> number of its call -> the turn that holds what came back; and the numbers of all those turns.

    A call names the byte at which its answer stands; the answers of one byte are told apart by how they begin.
    """
    by_start: dict[int, list[ReadableTurn]] = {}
    for turn in turns:
        if turn.role == "tool" and not _calls(turn):
            by_start.setdefault(turn.start, []).append(turn)
    found: dict[int, dict[int, ReadableTurn]] = {}
    taken: set[int] = set()
    for turn in turns:
        for at, call in enumerate(_calls(turn)):
            able = [one for one in by_start.get(call.result, ()) if one.number not in taken]
            if not able or call.result < 0:
                continue
            begin = call.output[:60].strip()
            best = next((one for one in able if begin and one.text.strip().startswith(begin)), able[0])
            found.setdefault(turn.number, {})[at] = best
            taken.add(best.number)
    return found, frozenset(taken)


def _of_turn(turn: ReadableTurn, answers: Mapping[int, ReadableTurn], number: int) -> Iterator[Piece]:
    """The pieces of one turn. A command that the text repeats as code is shown once, as the call that it is."""
    calls = _calls(turn)
    if turn.role == "system":
        yield from _folded(turn, _system_label(turn), number)
        return
    if turn.role == "tool" and not calls:
        yield from _folded(turn, "Output", number)
        return
    left = dict(enumerate(calls))
    if turn.role != "tool":
        for kind, text, language in blocks(turn.text):
            plain = " ".join(text.strip("`\n ").split())
            same = next((at for at, call in left.items() if isinstance(call, Command)
                         and " ".join(call.words.split()) == plain), None)  # fmt: skip
            if same is None and kind == WORDS:
                for part, inside in with_tables(text):
                    if part == WORDS:
                        yield from words_pieces(turn.number, inside, turn.role)
                    else:
                        yield from (replace(one, label="table") for one in code_pieces(turn.number, inside, ""))
            elif same is None:
                yield from code_pieces(turn.number, text, language)
            else:
                yield from _call_pieces(turn, left.pop(same), answers.get(same), number)
                number += 1
    shown = turn.text if turn.role == "tool" else ""
    for at, call in left.items():
        yield from _call_pieces(turn, call, answers.get(at), number, shown if len(calls) == 1 else "")
        number += 1


def _system_label(turn: ReadableTurn) -> str:
    if any(isinstance(event, Compaction) for event in turn.events):
        return "Summary of what went before"
    return "Reminder" if any(isinstance(event, Reminder) for event in turn.events) else "System"


def _folded(turn: ReadableTurn, label: str, number: int) -> Iterator[Piece]:
    yield Piece(CALL, turn.number, one_line(turn.text), label=label, state=NOTE, fold=number)
    yield from _output(turn.number, turn.text, number, False)


def _call_pieces(
    turn: ReadableTurn, call: Call, answer: ReadableTurn | None, number: int, given: str = ""
) -> Iterator[Piece]:
    """A call, folded: what it was asked, and below it what came back."""
    words = one_line(call_words(call) or _about(call))
    state = "failed" if call.failed or call.refused else "ok" if call.answered or answer is not None else ""
    yield Piece(CALL, turn.number, words, label=visible(call.tool)[:60] or "Call", aside=_outcome(call, answer),
                state=state, fold=number)  # fmt: skip
    asked = given or (call.words if isinstance(call, Command) and "\n" in call.words.strip() else "")
    if asked.strip():
        yield from _output(turn.number, asked, number, isinstance(call, Edit) and _is_diff(asked))
    back = answer.text if answer is not None else "" if given else call.output
    if back.strip():
        yield from _output(answer.number if answer is not None else turn.number, back, number, _is_diff(back))


def _about(call: Call) -> str:
    if isinstance(call, Question):
        return "; ".join(asked for asked, _, _ in call.asked)
    if isinstance(call, Todos):
        return f"{count(len(call.items), 'step')}: {'; '.join(words for words, _ in call.items)}"
    return str(getattr(call, "text", ""))


def _outcome(call: Call, answer: ReadableTurn | None) -> str:
    if call.refused:
        return "refused"
    if isinstance(call, Command) and call.status is not None:
        return f"exit {call.status}"
    if call.failed:
        return "failed"
    back = answer.text if answer is not None else call.output
    lines = back.count("\n") + 1 if back.strip() else 0
    return count(lines, "line") if lines else "no result" if not call.answered and answer is None else ""


def _is_diff(text: str) -> bool:
    return text.startswith(("diff --git", "--- ", "*** Begin Patch")) or "\n@@ " in text[:4000]


def _output(turn: int, text: str, number: int, diff: bool) -> Iterator[Piece]:
    cut = len(text) > OUTPUT_CHARACTERS
    shown = text[:OUTPUT_CHARACTERS].strip("\n") + ("\n… the rest is in the file" if cut else "")
    yield from code_pieces(turn, shown, "diff" if diff else "", OUTPUT, number)


# --- text as blocks and pieces ---------------------------------------------------------------------------------------

_FENCE = re.compile(r"^(?P<lead>[ ]{0,12})(?P<fence>`{3,}|~{3,})(?P<info>[^`\n]*)$")


def blocks(text: str) -> Iterator[tuple[str, str, str]]:
    """A text as words and code, in their order: (WORDS or CODE, text, language or the path that its fence names)."""
    lines: list[str] = []
    fence, info, lead = "", "", 0
    for line in text.replace("\r\n", "\n").split("\n"):
        if fence:
            bare = line.strip()
            if bare.startswith(fence) and not bare.strip(fence[0]):
                yield CODE, "\n".join(lines), info
                lines, fence = [], ""
            else:
                lines.append(line[min(lead, len(line) - len(line.lstrip(" "))) :])
            continue
        found = _FENCE.match(line)
        if found is None:
            lines.append(line)
            continue
        if any(map(str.strip, lines)):
            yield WORDS, "\n".join(lines), ""
        lines, fence, info, lead = [], found["fence"], found["info"].strip(), len(found["lead"])
    if fence and lines:
        yield CODE, "\n".join(lines), info
    elif any(map(str.strip, lines)):
        yield WORDS, "\n".join(lines), ""


_TABLE = re.compile(r"^[ ]*\|.*\|[ ]*$\n^[ ]*\|(?:[ ]*:?-+:?[ ]*\|)+[ ]*$(?:\n^[ ]*\|.*\|[ ]*$)*", re.MULTILINE)


def with_tables(text: str) -> Iterator[tuple[str, str]]:
    """Words apart from the tables of markdown in them, whose columns stand below each other: (WORDS or CODE, text)."""
    at = 0
    for found in _TABLE.finditer(text) if "\n" in text and "|-" in text.replace(" ", "").replace(":", "") else ():
        if text[at : found.start()].strip():
            yield WORDS, text[at : found.start()]
        yield CODE, _table(found[0])
        at = found.end()
    if text[at:].strip():
        yield WORDS, text[at:]


def _table(text: str) -> str:
    rows = [[cell.strip().replace("**", "").replace("`", "") for cell in line.strip().strip("|").split("|")]
            for line in text.split("\n")]  # fmt: skip
    most = max(map(len, rows))
    wide = [
        max((int(cells(row[at])) for row in (rows[0], *rows[2:]) if at < len(row)), default=0) for at in range(most)
    ]
    lines = []
    for number, row in enumerate(rows):
        if number == 1:
            lines.append("─┼─".join("─" * width for width in wide))
            continue
        padded = (cell + " " * (wide[at] - int(cells(cell))) for at, cell in enumerate(row))
        lines.append(" │ ".join(padded).rstrip())
    return "\n".join(lines)


def in_parts(text: str, characters: int, most_lines: int = 10**9) -> Iterator[str]:
    """A text in parts of at most `characters` and `most_lines`, ended at a line where there is one."""
    at = 0
    while at < len(text):
        end = min(len(text), at + characters)
        if end < len(text):
            cut = text.rfind("\n", at, end)
            blank = text.rfind(" ", at, end)
            end = cut + 1 if cut > at else blank + 1 if blank > at else end
        part = text[at:end]
        if part.count("\n") >= most_lines:
            places = [found.end() for found in re.finditer("\n", part)]
            end = at + places[most_lines - 1]
            part = text[at:end]
        yield part.removesuffix("\n") if end < len(text) else part
        at = end


_CODE = r"(?<!`)(?P<code>`+)(?!`)(?P<inside>[^`\n]+|[^\n]{1,400}?)(?<!`)(?P=code)(?!`)"
_STRONG = r"(?<![A-Za-z0-9_*/])\*\*(?=[^\s*/])(?P<strong>[^*\n]{1,400})(?<!\s)\*\*(?![A-Za-z0-9_*])"
"""Not the stars of `**/*.py`, nor of `2**3`."""
_INLINE = re.compile(f"{_CODE}|{_STRONG}")
_OVER_LINES = re.compile(r"(?<!`)(?P<code>`+)(?!`)(?:[^`\n]|\n(?![ \t]*(?:\n|```)))+(?P=code)(?!`)")
"""Code among words that may go on in the next line, as long as that is no empty one, and no fence."""
_HEADING = re.compile(r"^#{1,6}[ ]+")


def words_pieces(turn: int, text: str, role: str) -> Iterator[Piece]:
    """Paragraphs, with what stands in backticks and between stars marked and without those signs."""
    shown = visible(re.sub(r"\n{3,}", "\n\n", text.strip("\n")))
    parts = list(in_parts(shown, WORDS_CHARACTERS))
    for at, part in enumerate(parts):
        words, styles = inline(part.strip("\n"))
        yield Piece(WORDS, turn, words, styles, state=role, opens=at == 0, closes=at == len(parts) - 1)


def inline(text: str) -> tuple[str, tuple[Style, ...]]:
    """A text without the signs of its markdown, and which of its letters are code or strong."""
    out: list[str] = []
    styles: list[Style] = []
    length = 0

    def put(words: str, style: str = "") -> None:
        nonlocal length
        if style:
            styles.append((length, length + len(words), style))
        out.append(words)
        length += len(words)

    for number, line in enumerate(_OVER_LINES.sub(lambda code: code[0].replace("\n", " "), text).split("\n")):
        if number:
            put("\n")
        heading = _HEADING.match(line)
        if heading is not None:
            put(line[heading.end() :].replace("**", "").replace("`", ""), "strong")
            continue
        at = 0
        for found in _INLINE.finditer(line):
            put(line[at : found.start()])
            code = found["inside"]
            put((code.strip() or code) if code else found["strong"].replace("`", ""), "code" if code else "strong")
            at = found.end()
        put(line[at:])
    return "".join(out), tuple(styles)


def marked_down(key: Hashable, markdown: str) -> FlowRow:
    """A row of a list with such a text: code as code, without the signs."""
    text, styles = inline(markdown)
    return FlowRow(key, text, code=tuple((begin, end) for begin, end, style in styles if style == "code"))


def code_pieces(turn: int, text: str, info: str, kind: str = CODE, fold: int = -1) -> Iterator[Piece]:
    """Code in parts. `info` is what its fence says: a language, or the path of a file."""
    shown = visible(text.strip("\n"))
    language, label = code_language(info, shown)
    parts = list(in_parts(shown, CODE_CHARACTERS, CODE_LINES)) or [""]
    for at, part in enumerate(parts):
        yield Piece(kind, turn, part, label=label, language=language, fold=fold, opens=at == 0,
                    closes=at == len(parts) - 1)  # fmt: skip


def code_language(info: str, text: str = "") -> tuple[str, str]:
    """Language and label of code: "python", "" for code of no language that is named."""
    word = info.split()[0].split("{")[0].strip(":,") if info.split() else ""
    path = next((part for part in (*info.split(), word) if "." in part or "/" in part), "")
    label = visible(path or info)[:120].replace("\n", " ")
    if path:
        word = path.rsplit(":", 1)[0] if re.search(r":\d+(?:[-:]\d+)*$", path) else path
    if not word and _is_diff(text):
        return "diff", "diff"
    return word, label


# --- what was harvested ----------------------------------------------------------------------------------------------


def _marks(
    talk: ReadableConversation, pieces: Sequence[Piece], first: Mapping[int, int]
) -> tuple[tuple[Mark, ...], tuple[HarvestedItem, ...]]:
    from core.commands.panel.evidence import span_of

    marks: list[Mark] = []
    elsewhere: list[HarvestedItem] = []
    turns = [piece.turn for piece in pieces]
    for item in talk.items:
        start = first.get(item.turn)
        category = category_of(item.file)
        if category == "tasks_open" and item.category == "tasks_done":
            category = "tasks_done"
        if start is None:
            elsewhere.append(item)
            continue
        own = [at for at in range(start, len(pieces)) if turns[at] == item.turn] if item.quote else []
        for at in own[:400]:
            span = span_of(item.quote, pieces[at].text)
            if span is not None:
                marks.append(Mark(item, category, at, *span))
                break
        else:
            marks.append(Mark(item, category, start))
    marks.sort(key=lambda mark: (mark.piece, mark.begin))
    return tuple(marks), tuple(elsewhere)


class Place(NamedTuple):
    """Where searched words stand: the piece, and their letters in it."""

    piece: int
    begin: int
    end: int


MAX_PLACES = 5000


def places_of(script: Script, words: str) -> tuple[Place, ...]:
    """Where words stand as they are, small and capital letters alike; on a worker. At most `MAX_PLACES`."""
    wanted = words.casefold()
    found: list[Place] = []
    if not wanted.strip():
        return ()
    pattern = re.compile(re.escape(words), re.IGNORECASE)
    for at, piece in enumerate(script.pieces):
        if piece.kind == HEAD:
            continue
        for one in pattern.finditer(piece.text):
            found.append(Place(at, one.start(), one.end()))
            if len(found) == MAX_PLACES:
                return tuple(found)
    return tuple(found)
