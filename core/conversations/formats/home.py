"""What the host application leaves in `home/conversations`: plain text with tags around who said what.

`<initial_context>` was put in by the application, `<user-prompt>` is the user, `<agent-response>` the assistant.
Any of them can be missing. Text between the tags belongs to nobody who is known: where answers are tagged it is what
tools gave back, where only prompts are, it is the answer.

That text can hold the same tags, also in its first line. Turns are read as they are marked, but where a tool gave back
anything everybody behind the first answer is in doubt; so too where a closing tag stands alone, for then an answer was
closed from inside. In doubt is also who is marked inside a code fence, or behind one that nothing closes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from core.conversations.conversation import Conversation
from core.conversations.lines import (
    INJECTED,
    Label,
    Line,
    block_ends,
    doubt_after_tools,
    doubt_in_fences,
    first_line,
    fold_turns,
    split_lines,
    tag_name,
)
from core.conversations.plain import doubt_in_copies, speaker_labels

SPEECH: dict[str, str] = {"user-prompt": "user", "agent-response": "assistant"}
_TAGS = SPEECH | INJECTED
Blocks = Mapping[int, tuple[int, str]]
_END = re.compile(r"</(?:user[-_]prompt|agent[-_]response)\s?>", re.IGNORECASE)


def sniff(head: str) -> bool:
    """One of the three tags at the beginning of a line."""
    return any(tag_name(row) in ("initial-context", *SPEECH) for row in head.split("\n"))


def read(name: str, data: bytes) -> Conversation:
    """Read one conversation of the host application; its name is its id."""
    lines = split_lines(data)
    speakers = [number for number, line in enumerate(lines) if tag_name(line.text) in SPEECH]
    blocks = block_ends(lines, _TAGS, speakers)
    labels = list(_labels(lines, speakers, blocks) if speakers else speaker_labels(lines))
    unmarked = any(label.role == "tool" for label in labels) or _has_stray_end(lines, blocks)
    turns = doubt_after_tools(fold_turns(lines, labels), lines, labels, stray=bool(speakers) and unmarked)
    turns = doubt_in_fences(turns, lines)
    turns = turns if speakers else doubt_in_copies(turns, lines)
    return Conversation(name, "home", turns, first_line(turns))


def _labels(lines: Sequence[Line], speakers: Sequence[int], blocks: Blocks) -> Iterator[Label]:
    tagged = any(tag_name(lines[number].text) == "agent-response" for number in speakers)
    outside = "tool" if tagged else "assistant"
    last, role, name = -1, "", ""
    inner_last, inner_role = -1, ""
    for number, line in enumerate(lines):
        text = line.text
        opening = tag_name(text) if number in blocks else ""
        if number <= inner_last:
            yield Label(inner_role, text)
        elif opening and number > last:
            last, role = blocks[number]
            name = opening
            yield Label(role, _inside(text, name) if name in SPEECH else text, opens=True)
        elif opening in INJECTED:
            # Put into somebody's words, and over at the latest where those words are.
            inner_last, inner_role = min(blocks[number][0], last), blocks[number][1]
            yield Label(inner_role, text)
        elif number <= last:
            yield Label(role, _inside(text, name) if number == last and name in SPEECH else text)
        elif text.strip():
            yield Label(outside, text)
        else:
            yield Label("", text)


def _has_stray_end(lines: Sequence[Line], blocks: Blocks) -> bool:
    """Whether a closing tag of speech stands outside of all blocks."""
    last = -1
    for number, line in enumerate(lines):
        if number > last and number in blocks:
            last = blocks[number][0]
        elif number > last and _END.search(line.text):
            return True
    return False


def _inside(text: str, name: str) -> str | None:
    """The words of a line without the opening and the closing tag; None when only tags are there."""
    bare = text
    if tag_name(text) == name:
        bare = text[text.index(">") + 1 :] if ">" in text else ""
    cut = bare.lower().replace("_", "-").find(f"</{name}")
    bare = bare if cut < 0 else bare[:cut]
    return bare if bare.strip() else None
