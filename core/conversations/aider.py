"""aider's `.aider.chat.history.md`: `#### ` the person, `> ` the tool, everything else the assistant.

Format as aider writes it (io.py of that project): every line of a prompt gets its own `#### ` and two blanks at the
end; a session begins with `# aider chat started at`. Fences mean nothing here, so an answer's own `#### ` heading is
told from a prompt by the missing blanks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from core.conversations.conversation import Conversation
from core.conversations.lines import Label, Line, first_line, fold_turns, split_lines

_BANNER = re.compile(r"# aider chat started at (\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)\s*$")
_SIGNS = ("> $ aider", "> Aider v", "> Tokens: ", 'class="chat-transcript"', "> Applied edit to ", "> Repo-map: ")


def sniff(head: str) -> bool:
    """A start banner, or prompts together with a line that only aider prints (its published examples)."""
    rows = head.split("\n")
    if any(_BANNER.match(row) for row in rows):
        return True
    return any(row.startswith("#### ") for row in rows) and any(sign in head for sign in _SIGNS)


def read(name: str, data: bytes) -> Conversation:
    """Read one history file; it may hold many sessions, which stay one conversation as they share one file."""
    lines = split_lines(data)
    starts = [f"{found[1]}T{found[2]}" for line in lines if (found := _BANNER.match(line.text))]
    turns = fold_turns(lines, _labels(lines, strict=bool(starts)))
    return Conversation(name, "aider", turns, first_line(turns), started=starts[0] if starts else "")


def _labels(lines: Sequence[Line], strict: bool) -> Iterator[Label]:
    before = ""
    # Words before the first banner or prompt are a page around the transcript, not the assistant.
    spoken = False
    for line in lines:
        text = line.text
        prompt = text.startswith("####") and text[4:5] in ("", " ") and (not strict or text.endswith("  "))
        if prompt and "(Y)es/(N)o" in text:
            # The answer to one of aider's own questions, kept with the question: nothing that the person said.
            yield Label("tool", text[5:].rstrip())
            kind = "tool"
        elif _BANNER.match(text):
            yield Label("system", None, opens=True)
            spoken, kind = strict, "banner"
        elif prompt:
            yield Label("user", text[5:].rstrip(), opens=before != "prompt")
            spoken, kind = True, "prompt"
        elif text.startswith("> ") or text.rstrip() == ">":
            yield Label("tool", text[2:].rstrip(), opens=False)
            kind = "tool"
        elif text.strip() == "" or text.startswith(("<div class=", "</div>", "<br/>")):
            yield Label("", text if text.strip() == "" else None)
            kind = "blank"
        else:
            yield Label("assistant" if spoken else "system", text)
            kind = "words"
        before = kind
