"""Plain text and markdown: turns where the text marks them (`User:`, `**Assistant**`, `### 2. user (time)`).

Markers count only when a user and an assistant are both marked; a lone `User:` is more likely a line of a form.
Text without them is one turn of the user: a note of theirs, or a paste that they are answerable for. That keeps
statements, checkboxes and files in reach of the harvest, while only its very last words can be an open question.

A tool's output can hold such markers too, so that whoever is marked behind one is in doubt (`lines.doubt_after_tools`),
and so is who is marked behind a code fence that nothing closes. In one that is closed there are no markers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from core.conversations.conversation import Conversation, Turn
from core.conversations.damage import json_values
from core.conversations.lines import (
    INJECTED,
    Label,
    Line,
    block_ends,
    code_fences,
    doubt_after_tools,
    doubt_in_fences,
    first_line,
    fold_turns,
    split_lines,
    users_in_doubt,
)

SPEAKERS: dict[str, str] = {
    "user": "user", "human": "user", "me": "user", "you": "user", "prompt": "user",
    "benutzer": "user", "nutzer": "user", "utilisateur": "user", "usuario": "user", "usuário": "user",
    "utente": "user", "пользователь": "user", "用户": "user", "ユーザー": "user", "사용자": "user",
    "assistant": "assistant", "ai": "assistant", "agent": "assistant", "model": "assistant", "bot": "assistant",
    "chatgpt": "assistant", "claude": "assistant", "gemini": "assistant", "cursor": "assistant",
    "copilot": "assistant", "github copilot": "assistant", "antigravity": "assistant", "response": "assistant",
    "assistent": "assistant", "asistente": "assistant", "assistente": "assistant", "ассистент": "assistant",
    "助手": "assistant", "アシスタント": "assistant", "어시스턴트": "assistant",
    "system": "system", "developer": "system", "context": "system",
    "tool": "tool", "tool result": "tool", "tool output": "tool", "function": "tool", "output": "tool",
}  # fmt: skip
_ASKED: dict[str, str] = {
    "질문": "user", "質問": "user", "提问": "user", "답변": "assistant", "回答": "assistant",
}  # fmt: skip
"""Question and answer, as chats are kept; in front of words they are any question."""
# Written in lower case, the other names are too common as words in front of a colon.
_LOWER = ("user", "human", "assistant")
_NAMES = "|".join(sorted(map(re.escape, SPEAKERS), key=len, reverse=True))
# A line that holds nothing but the marker: heading or emphasis, perhaps a number and a time.
_ALONE = re.compile(
    rf"(?:#{{1,6}} {{1,3}}(?:\d{{1,5}}\. )?[*_\[]{{0,3}}|[*_]{{2,3}}|\[(?=[^\]\n]{{1,60}}\]:?\s*$))"
    rf"({_NAMES}|{'|'.join(_ASKED)})(?: #?\d{{1,5}})?(?: \(([^()\n]{{0,80}})\))?:?[*_\]]{{0,3}}:?\s*$",
    re.IGNORECASE,
)
# `User: words` on one line, also in bold.
_INLINE = re.compile(rf"(\*{{0,2}})((?i:{_NAMES}))(?:[:：]\1|\1[:：])(?:\s+|(?<=：)|$)")
# As the pages of chats are copied: "You said …" and "Gemini said …" in turns.
_SAID = re.compile(r"(You|ChatGPT|Gemini|Claude|Copilot|Grok|DeepSeek) said:?(?:\s+|$)")
# Headings of chats that were exported: "# you asked", "### 👤 User:".
_EXPORTED: dict[str, str] = SPEAKERS | {
    "you asked": "user", "gemini response": "assistant", "chatgpt response": "assistant",
    "claude response": "assistant",
}  # fmt: skip
_HEADED = re.compile(
    rf"#{{1,6}} {{1,3}}(?:[^\w\s#*_\[`<>]{{1,4}} )?({'|'.join(map(re.escape, _EXPORTED))}):?\s*$", re.IGNORECASE
)
# VS Code copies a chat with the user's login in front of what they say.
_LOGIN = re.compile(r"(?:# )?([\w.-]{1,39}): ")
_TIME = re.compile(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d)?)")


def sniff(head: str) -> bool:
    """Anything at all: this is the last row of the table."""
    return True


def read(name: str, data: bytes) -> Conversation:
    """Read any text; never fails."""
    lines = split_lines(data)
    labels = list(speaker_labels(lines))
    turns = doubt_after_tools(fold_turns(lines, labels), lines, labels)
    turns = doubt_in_copies(doubt_in_fences(turns, lines), lines)
    times = [turn.time for turn in turns if turn.time]
    began, ended = (times[0], times[-1]) if times else ("", "")
    return Conversation(name, "plain", turns, first_line(turns), started=began, ended=ended)


def doubt_in_copies(turns: Sequence[Turn], lines: Sequence[Line]) -> tuple[Turn, ...]:
    """The turns; of a page of a chat that was copied nothing is surely the user's, for an answer may go on with "You
    said …" or a heading, or show such a page."""
    copied = any((said := _SAID.match(line.text)) and said[1] != "You" for line in lines)
    copied = copied or (not _are_both(_markers(lines)) and bool(_exported(lines)))
    return users_in_doubt(turns) if copied else tuple(turns)


def speaker_labels(lines: Sequence[Line]) -> Iterator[Label]:
    """Label lines by the markers in them; all of it is the user's when nobody, or only one side, is marked."""
    marks = _markers(lines)
    if not _are_both(marks):
        marks = _said_in_turns(lines) or _exported(lines)
    stops = sorted(marks)
    blocks = block_ends(lines, INJECTED, stops)
    # Words above the first marker are a page around the conversation.
    base, last, role = ("system" if marks else "user"), -1, ""
    for number, line in enumerate(lines):
        if number <= last:
            yield Label(role, line.text)
        elif number in blocks:
            last, role = blocks[number]
            yield Label(role, line.text)
        elif number in marks:
            base = marks[number].role
            yield marks[number]
        elif line.text == "---" and number + 2 < len(lines) and ({number + 1, number + 2} & marks.keys()):
            yield Label("", None)
        else:
            yield Label(base if line.text.strip() else "", line.text)


def is_marked(text: str) -> bool:
    """Whether a line names a speaker, in whatever way."""
    return re.split(r"[:(]", text, maxsplit=1)[0].strip("#*_[] .0123456789").lower() in SPEAKERS


def _markers(lines: Sequence[Line]) -> dict[int, Label]:
    fenced = code_fences(lines).inside
    marks: dict[int, Label] = {}
    for number, line in enumerate(lines):
        text = line.text
        if number in fenced:
            continue
        if text[:1] in "#*_[" and len(text) < 200 and (alone := _ALONE.match(text)):
            when = _TIME.search(alone[2] or "")
            time = f"{when[1]}T{when[2]}" if when else ""
            marks[number] = Label((SPEAKERS | _ASKED)[alone[1].lower()], None, opens=True, time=time)
        elif (":" in text[:24] or "：" in text[:24]) and (inline := _INLINE.match(text)) and _is_name(inline[2]):
            marks[number] = Label(SPEAKERS[inline[2].lower()], text[inline.end() :] or None, opens=True)
    return marks


def _are_both(marks: Mapping[int, Label]) -> bool:
    return {"user", "assistant"} <= {label.role for label in marks.values()}


def _is_name(word: str) -> bool:
    return word[0].isupper() or word in _LOWER or not word.isascii()


def _said_in_turns(lines: Sequence[Line]) -> dict[int, Label]:
    """The markers of a page that was copied, where they take turns: of two of the user's in a row one is a sentence of
    the assistant's, and nobody knows which."""
    fenced = code_fences(lines).inside
    marks: dict[int, Label] = {}
    for number, line in enumerate(lines):
        begins = number == 0 or not lines[number - 1].text.strip()
        if begins and number not in fenced and (said := _SAID.match(line.text)):
            role = "user" if said[1] == "You" else "assistant"
            marks[number] = Label(role, line.text[said.end() :] or None, opens=True)
    return marks if _take_turns(marks) else {}


def _take_turns(marks: Mapping[int, Label]) -> bool:
    roles = [label.role for label in marks.values()]
    return roles[:1] == ["user"] and all(one != other for one, other in pairwise(roles))


def _exported(lines: Sequence[Line]) -> dict[int, Label]:
    """The markers of a chat that was exported below headings, which take turns, or that VS Code copied, in which the
    user's login stands at least twice; none for any other text."""
    fenced = code_fences(lines).inside
    headed: dict[int, Label] = {}
    for number, line in enumerate(lines):
        if line.text[:1] == "#" and number not in fenced and (found := _HEADED.match(line.text)):
            headed[number] = Label(_EXPORTED[found[1].lower()], None, opens=True)
    if _are_both(headed) and _take_turns(headed):
        return headed
    first = next((line.text for line in lines if line.text.strip()), "")
    login = found[0] if (found := _LOGIN.match(first)) and found[1].lower() not in SPEAKERS else ""
    marks: dict[int, Label] = {}
    for number, line in enumerate(lines if login else ()):
        said = _INLINE.match(line.text)
        if number not in fenced and line.text.startswith(login):
            marks[number] = Label("user", line.text[len(login) :] or None, opens=True)
        elif number not in fenced and said and said[2] == "GitHub Copilot":
            marks[number] = Label("assistant", line.text[said.end() :] or None, opens=True)
    often = sum(label.role == "user" for label in marks.values()) > 1
    return marks if often and _are_both(marks) else {}


# --- JSON of no kind that is known: settings, logs, data, or the conversations of a tool that has no reader here -----

UNKNOWN_JSON = "unknown-json"


def read_json(name: str, data: bytes) -> Conversation:
    """No turns, for nothing in it is taken for anybody's words: it counts as skipped, so that the user is told. Text
    that merely begins with a bracket is plain text."""
    values = json_values(data)
    return Conversation(name, UNKNOWN_JSON, (), skipped=values) if values else read(name, data)
