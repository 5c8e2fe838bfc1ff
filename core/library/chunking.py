"""A text into chunks, each a stretch of it that says one thing: sections and paragraphs, turns, blocks of code.

Chunks do not overlap, stand in the order of the text, and hold every line that says anything: `text[begins:ends]` is
the content of a chunk, so that each can be shown where it stands. Sizes are in tokens, four bytes
each.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, takewhile

from markdown_it import MarkdownIt

from core.library.code_blocks import code_blocks, line_starts
from core.library.extract import NAMES, Extracted, without_marks
from core.search.words import STOP_WORDS, words_of

FULL = 320
"""Tokens at which a chunk of prose is full: the next paragraph begins another."""
MAX_TOKENS = 640
"""A paragraph with more tokens is parted between its sentences, a class between its methods."""
LEAST = 24
"""A section with fewer is read together with its neighbour below the same heading."""
WHOLE_NOTE = 480
"""A note with no more than these stays whole."""
MAX_CODE_TOKENS = 1200
"""A function with at most this many tokens stays whole."""
SAME_TOPIC = 0.12
"""Exchanges of a conversation that share this part of their words speak of one thing."""


@dataclass(frozen=True)
class Piece:
    """A chunk before it is described. `kind` is what its form tells: prose, code, data, turn."""

    begins: int
    ends: int
    heading: str = ""
    kind: str = "prose"


def token_count(text: str) -> int:
    """Tokens of a text, as a size of chunks counts them: its bytes by four, and at least one."""
    return max(1, (len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))) // 4)


def pieces_of(document: Extracted) -> list[Piece]:
    """The chunks of a document, by its form."""
    text = document.text
    if document.form == "code":
        code = code_blocks(text, document.language, lambda part: token_count(part) <= MAX_TOKENS)
        found = _parted(text, [Piece(*row, "code") for row in code], MAX_CODE_TOKENS)
    elif document.form == "conversation":
        found = list(_exchanges(document))
    elif document.form == "data":
        found = list(_packed(text, [Piece(*row, "", "data") for row in pairwise(line_starts(text))], FULL))
    else:
        blocks = list(_markdown(text) if document.form == "markdown" else _paragraphs(document))
        whole = document.content_type == "note" and token_count(text) <= WHOLE_NOTE
        if whole and len({row.heading for row in blocks}) <= 2:
            found = [Piece(0, len(text), blocks[0].heading if blocks else "", _kind_of(blocks, text))]
        else:
            found = _together(text, _packed(text, _parted(text, blocks, MAX_TOKENS), FULL))
    return [tight for row in found if (tight := _tight(text, row)) is not None]


def _tight(text: str, piece: Piece) -> Piece | None:
    """Without the empty lines around it; None for a piece of nothing."""
    part = text[piece.begins : piece.ends]
    if not part.strip():
        return None
    indent = len(part) - len(part.lstrip())
    begins = piece.begins + (part.rfind("\n", 0, indent) + 1)
    return replace(piece, begins=begins, ends=piece.begins + len(part.rstrip()))


# --- prose ------------------------------------------------------------------------------------------------------------


def _markdown(text: str) -> Iterator[Piece]:
    """The blocks of a markdown text below their headings; front matter is a block of its own."""
    lines = line_starts(text)
    path: list[tuple[int, str]] = []
    front = re.match(r"---\n(?:.*\n){0,60}?---\n", text)
    skipped = front.end() if front else 0
    if skipped:
        yield Piece(0, skipped, "", "data")
    shift = text[:skipped].count("\n")
    tokens = MarkdownIt("commonmark").enable("table").parse(text[skipped:])
    for at, token in enumerate(tokens):
        if token.level or token.nesting < 0 or token.map is None:
            continue
        begins, ends = lines[token.map[0] + shift], lines[min(token.map[1] + shift, len(lines) - 1)]
        if token_count(text[begins:ends]) > FULL and (marks := list(_INLINE_HEADING.finditer(text, begins, ends))):
            path = []
            for mark, follows in zip(marks, [*(mark.start() for mark in marks[1:]), ends], strict=True):
                level = len(mark[1])
                # How the section begins: its heading and text stand on one line.
                words = without_marks(text[mark.end() : follows][:200], ticks=False).split()
                path = [*(row for row in path if row[0] < level), (level, " ".join(words[:6])[:60])]
                yield Piece(begins, follows, _joined(path))
                begins = follows
            continue
        if token.type == "heading_open":
            level = int(token.tag[1:])
            title = without_marks(tokens[at + 1].content, ticks=False).strip()[:120]
            path = [*(row for row in path if row[0] < level), (level, title)]
            yield Piece(begins, ends, _joined(path), "heading")
            continue
        kind = "code" if token.type in ("fence", "code_block") else "data" if token.type == "table_open" else "prose"
        yield Piece(begins, ends, _joined(path), kind)


_INLINE_HEADING = re.compile(r"(?<!\S)(#{1,6})[ \t]+(?=\S)")
"""A heading in the middle of a line: of a text that lost its line breaks, which is long and would be one block."""


def _joined(path: Sequence[tuple[int, str]]) -> str:
    return " > ".join(words for _level, words in path if words)


_NUMBERED = re.compile(r"(\d+(?:\.\d+)*)\.?[ \t]+([A-Z][^\n]{2,80})\Z")
_ADORNED = re.compile(r"([=~^\"'#*+.:_`-])\1{2,}[ \t]*\Z")


def _paragraphs(document: Extracted) -> Iterator[Piece]:
    """The paragraphs of a text without marks, below what looks like a heading: underlined, numbered, in capitals."""
    text, path = document.text, list[tuple[int, str]]()
    adornments: list[str] = []
    pages = {part.begins for part in document.parts}
    outline = _outline(text) if pages else {}
    for begins, ends in _runs(text, {*pages, *outline, *outline.values()}):
        lines = text[begins:ends].rstrip().split("\n")
        level, words = 0, ""
        if len(lines) >= 2 and _ADORNED.match(lines[1]) and 2 < len(lines[0]) <= len(lines[1]) + 4:
            mark = lines[1][0]
            if mark not in adornments:
                adornments.append(mark)
            level, words = adornments.index(mark) + 1, lines[0].strip()
        elif len(lines) == 1:
            words = lines[0].strip()
            if (numbered := _NUMBERED.match(words)) and (begins in outline if pages else not words.endswith(".")):
                level = numbered[1].count(".") + 1
            elif 3 < len(words) < 60 and words.isupper():
                level = 1
        if level:
            path = [row for row in path if row[0] < level]
            path.append((level, words[:120]))
            if len(lines) <= 2:
                yield Piece(begins, ends, _joined(path), "heading")
                continue
        yield Piece(begins, ends, _joined(path), "prose")


def _outline(text: str) -> dict[int, int]:
    """Where the numbered headings of a text without empty lines begin -> where they end. Each must follow the one
    before it (2.1 after 2, 3 after 2.4), else it is the row of a list; what ends with a number is a table of
    contents."""
    found: dict[int, int] = {}
    last: tuple[int, ...] = (0,)
    for begins, ends in pairwise(line_starts(text)):
        numbered = _NUMBERED.match(text[begins:ends].strip())
        if numbered is None or numbered[2][-1] in ".,;:" or numbered[2][-1].isdigit():
            continue
        number = tuple(map(int, numbered[1].split(".")))
        before, step = number[:-1], number[-1] - (last[len(number) - 1] if len(number) <= len(last) else 0)
        if len(number) <= len(last) + 1 and before == last[: len(before)] and 1 <= step <= 2:
            found[begins], last = ends, number
    return found


def _runs(text: str, borders: Iterable[int] = ()) -> Iterator[tuple[int, int]]:
    """Runs of lines between empty ones."""
    stops = [found.end() for found in re.finditer(r"\n[ \t\f]*(?:\n[ \t\f]*)*\n", text)]
    begins = 0
    for stop in sorted({*stops, *borders, len(text)} - {0}):
        if text[begins:stop].strip():
            yield begins, stop
        begins = stop


_SENTENCE = re.compile(r"[.!?…。！？][\"')\]]*(?:\s+|(?<=[。！？]))|\n")


def _parted(text: str, blocks: Sequence[Piece], most: int) -> list[Piece]:
    """Blocks, those with too many tokens cut between lines or sentences, and a line without end by force."""
    found: list[Piece] = []
    for block in blocks:
        if token_count(text[block.begins : block.ends]) <= most:
            found.append(block)
            continue
        code = block.kind in ("code", "data")
        border = re.compile("\n") if code else _SENTENCE
        stops = [match.end() for match in border.finditer(text, block.begins, block.ends)] + [block.ends]
        begins, last = block.begins, block.begins
        for stop in stops:
            if last > begins and token_count(text[begins:stop]) > most:
                found.append(replace(block, begins=begins, ends=last))
                begins = last
            while token_count(text[begins:stop]) > most * 2:  # no border inside: a page of base64, a minified file
                hard = begins + most * 3
                cut = text.rfind(" ", begins + most, hard) + 1 or hard
                found.append(replace(block, begins=begins, ends=cut))
                begins = cut
            last = stop
        found.append(replace(block, begins=begins, ends=block.ends))
    return found


def _packed(text: str, blocks: Iterable[Piece], full: int) -> Iterator[Piece]:
    """Neighbours below one heading in one chunk until it is full. A heading stands with what follows it, code with the
    sentence that leads to it."""
    held: list[Piece] = []
    for block in blocks:
        if held:
            size = token_count(text[held[0].begins : block.ends])
            opens = block.kind == "heading"
            other = block.heading != held[-1].heading
            leads = held[-1].kind == "heading" or (block.kind == "code" and size <= MAX_TOKENS)
            if (opens and not all(row.kind == "heading" for row in held)) or (not leads and (other or size > full)):
                yield _one(text, held)
                held = []
        held.append(block)
    if held:
        yield _one(text, held)


def _one(text: str, held: Sequence[Piece]) -> Piece:
    return Piece(held[0].begins, held[-1].ends, held[-1].heading, _kind_of(held, text))


def _kind_of(blocks: Sequence[Piece], text: str) -> str:
    sizes: dict[str, int] = {}
    for row in blocks:
        if row.kind != "heading":
            sizes[row.kind] = sizes.get(row.kind, 0) + len(text[row.begins : row.ends].strip())
    return max(sizes, key=lambda kind: sizes[kind]) if sizes else "prose"


def _together(text: str, pieces: Iterable[Piece]) -> list[Piece]:
    """A section of a line or two is no chunk: it joins the one before it where both stand below one heading."""
    found: list[Piece] = []
    for piece in pieces:
        last = found[-1] if found else None
        size = token_count(text[piece.begins : piece.ends])
        if last is not None and min(size, token_count(text[last.begins : last.ends])) < LEAST:
            top = last.heading.split(" > ")[0] == piece.heading.split(" > ")[0] or not last.heading
            if top and token_count(text[last.begins : piece.ends]) <= FULL:
                kind = last.kind if size < token_count(text[last.begins : last.ends]) else piece.kind
                found[-1] = Piece(last.begins, piece.ends, _common(last.heading, piece.heading), kind)
                continue
        found.append(piece)
    return found


def _common(one: str, other: str) -> str:
    """The part of two headings that holds for both; the second where the first is none."""
    if not one:
        return other
    pairs = zip(one.split(" > "), other.split(" > "), strict=False)
    return " > ".join(left for left, _right in takewhile(lambda pair: pair[0] == pair[1], pairs)) or one


# --- conversations ----------------------------------------------------------------------------------------------------


_LABELS = frozenset(name.lower() for name in NAMES.values())


def _exchanges(document: Extracted) -> Iterator[Piece]:
    """A question with its answers; short ones together while they speak of one thing, long ones parted."""
    text = document.text
    rounds: list[list[int]] = []
    for number, part in enumerate(document.parts):
        if not rounds or (part.label == "user" and any(document.parts[at].label != "user" for at in rounds[-1])):
            rounds.append([])
        rounds[-1].append(number)
    held: list[int] = []
    words: set[str] = set()
    for row in rounds:
        span = text[document.parts[row[0]].begins : document.parts[row[-1]].ends]
        said = {word for word in words_of(span) if len(word) > 2 and word not in STOP_WORDS and word not in _LABELS}
        if held:
            size = token_count(text[document.parts[held[0]].begins : document.parts[row[-1]].ends])
            shared = len(said & words) / max(1, min(len(said), len(words)))
            if size > FULL or (shared < SAME_TOPIC and len(said) > 5):
                yield from _turns(document, held)
                held, words = [], set()
        held += row
        words |= said
    if held:
        yield from _turns(document, held)


def _turns(document: Extracted, numbers: Sequence[int]) -> Iterator[Piece]:
    text, parts = document.text, document.parts
    span = Piece(parts[numbers[0]].begins, parts[numbers[-1]].ends, _turn_names(numbers), "turn")
    if token_count(text[span.begins : span.ends]) <= MAX_TOKENS:
        yield span
        return
    blocks = [
        Piece(begins + parts[at].begins, ends + parts[at].begins, _turn_names([at]),
              "data" if parts[at].label == "tool" else "turn")
        for at in numbers
        for begins, ends in _runs(text[parts[at].begins : parts[at].ends])
    ]  # fmt: skip
    yield from _packed(text, _parted(text, blocks, MAX_TOKENS), FULL)


def _turn_names(numbers: Sequence[int]) -> str:
    first, last = numbers[0] + 1, numbers[-1] + 1
    return f"turn {first}" if first == last else f"turns {first} to {last}"
