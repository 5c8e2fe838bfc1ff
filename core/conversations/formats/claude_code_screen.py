"""Claude Code's screen as its `/export` writes it, or as it was copied: text, for people.

A banner with the model and the folder, then blocks (claude_code_blocks.py). Calls stand by the names that the screen
gives them (`Update(core/a.py)`), their outputs shortened; newer versions tell of many calls only how many there were.
The words of an answer, a plan that the user approved and the answers to questions stand at marks that no output has;
what came back is the tool's, whatever it says. A page that a tool printed, or a copy that lost its indentation, can
look like all of it: so what the user said is read as theirs, and in doubt. The maker does not document the format; this
follows public exports of versions 1.0 to 2.1.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from core.conversations.conversation import Conversation
from core.conversations.events import INTERRUPTED, Call, Compaction, Edit, Plan
from core.conversations.formats.claude_code_blocks import (
    ANSWER,
    BACK,
    BANNER,
    PROMPT,
    THOUGHT,
    TOLD,
    Block,
    cut,
    joined,
    opens,
    widths,
)
from core.conversations.lines import first_line, split_lines, users_in_doubt
from core.conversations.plain import is_marked
from core.conversations.turns import Reading

_MODEL = re.compile(
    r"(?:[▝▜▛▘█▌]{4,12}|▗ ▗ {2,4}▖ ▖) +([^·\n│ ][^·\n│]{0,80}?) · |│\s*(\w[^·\n│]*?) · (?:Claude|API)\b"
)
_FOLDER = re.compile(
    r"(?:\s{0,3}▘▘ ▝▝ +| {9,12}(?=[~/]))(\S.*)|│\s+cwd: (\S.*?)\s*│|│\s+((?:~|/|[A-Za-z]:)[\\/]?\S*?)\s+│"
)
_HEAD_LINES, _BANNER_LINES = 60, 14
_SHOWS = re.compile(r"  ⎿ |.*\(ctrl\+[or] to expand\)$")
_ORDER = re.compile(r"/[\w:.-]+(?: \(MCP\))?(?: is running…)?")
_CALL = re.compile(r"(?P<name>[A-Z]\w*(?: [A-Z]\w*)?|[\w.:@ -]{2,80} \(MCP\)|[\w.:@-]{2,80})\(")
_CALL_END = re.compile(r"\)(?: \(?timeout:? [\w ]+\)?)?$")
_TOOLS = {
    "Bash": ("Bash", "command"),
    "Read": ("Read", "file_path"),
    "Update": ("Edit", "file_path"),
    "Edit": ("Edit", "file_path"),
    "MultiEdit": ("MultiEdit", "file_path"),
    "Write": ("Write", "file_path"),
    "Create": ("Write", "file_path"),
    "Edit Notebook": ("NotebookEdit", "notebook_path"),
    "List": ("LS", "path"),
    "Search": ("Grep", "pattern"),
    "Fetch": ("WebFetch", "url"),
    "Web Search": ("WebSearch", "query"),
    "Task": ("Task", "description"),
    "Agent": ("Task", "description"),
    "Explore": ("Task", "description"),
    "Plan": ("Task", "description"),
    "Skill": ("Skill", "skill"),
}
"""What the screen calls a tool -> its name, and the argument that it shows."""
_NAMED = re.compile(r'\b(\w{1,64}): "((?:[^"\\]|\\.)*)"')
_LINES_READ = re.compile(r" · (?:lines?|pages?|from line) [\d –-]+$")
_TODOS = "Update Todos"
_TODO = re.compile(r"[☐☒☑✔◻◼] ")
_STATES = {"☐": "pending", "◻": "pending", "◼": "in_progress"}
_PLANS = re.compile(r"(?:Updated plan|(?:Entered|Exited) plan mode)$")
_OF_THE_TOOL = re.compile(
    rf'{_PLANS.pattern}|Background command "|No completion record was found for |Task Output \w+$'
)
_MCP = re.compile(r"(\S.*?) - (\S+) \(MCP\)$")
_ASKED = {"User answered Claude's questions:": True, "User declined to answer questions": False}
_ARROW = " → "
_APPROVED = re.compile(r"User approved Claude's plan:?$")
_SAVED = re.compile(r"Plan saved to:.*?/plan\s+to\s+edit\s*", re.DOTALL)
_DECLINED_PLAN = "User rejected Claude's plan:"
_WITH_WORDS = "Tool use rejected with user message:"
_INSTEAD = "The user wants to clarify these questions"
_REFUSED = re.compile(
    r"User rejected (?:write|update|edit)\b|No \(tell Claude what to do differently\)$|Tool use rejected"
)
_BROKEN_OFF = re.compile(r"(?:\[Request i|I)nterrupted (?:by user|· What should Claude do instead\?)")
_FAILED = re.compile(
    r"Error(?:: | (?:reading|editing|writing|searching)\b)|Invalid tool parameters$|"
    r"File (?:must be read|has not been read)"
)
_STATUS = re.compile(r"Error: Exit code (\d{1,3})$")
_UNDER_WAY = re.compile(r"(?:Running|Waiting|Initializing)…")
_DELEGATED = re.compile(r"Done \(\d+ tool uses?\b")
_WROTE = re.compile(r"Wrote \d+ lines?\b")
_COMPACTED = re.compile(r"\W*(?:Previous )?Conversation compacted\b|Compact summary\b", re.IGNORECASE)
_IDLE = re.compile(r"[✻✽✶✳✢✺✸·] \S+ for \d|[✻✽✶✳✢✺✸·] \S+…|Thought for [\dms ]+(?: \(|$)")
_DRAWN = re.compile(r"\s*[╭│╰▐▝▜▘─━═╌⏵⏸↑⚠❯>▎]")


def sniff(head: str) -> bool:
    """The banner near the top; without one, somebody speaks in the first line, and an output follows, or is hidden."""
    rows = head.split("\n")
    banner = next((at for at, row in enumerate(rows[:_HEAD_LINES]) if BANNER.match(row)), -1)
    above = [row for row in rows[: max(banner, 0)] if row.strip()]
    if banner >= 0 and len(above) <= _BANNER_LINES:
        return any(map(opens, rows[banner:])) and not any(
            row.lstrip().startswith("```") or is_marked(row) for row in above
        )
    first = next((row for row in rows if row.strip()), "")
    return (
        opens(first)
        and not any(row.startswith("▸ ") for row in rows)
        and any(row[:2] in ("● ", "⏺ ") for row in rows)
        and any(map(_SHOWS.match, rows))
    )


def read(name: str, data: bytes) -> Conversation:
    """Read one screen; it tells no times. A folder is told as the screen does, `~` for the user's own."""
    lines = split_lines(data)
    blocks = cut(lines, data)
    screen = _Screen()
    columns = widths(blocks)
    at = 0
    while at < len(blocks):
        screen.width = columns[at]
        at += screen.take(blocks[at], blocks[at + 1] if at + 1 < len(blocks) else None)
    begins = [at for at, line in enumerate(lines) if BANNER.match(line.text)]
    heads = [[line.text for line in lines[at : at + _BANNER_LINES]] for at in begins]
    folder = _told_in(heads[0], _FOLDER) if heads else ""
    folder = "" if "…" in folder else folder
    model = next(filter(None, (_told_in(head, _MODEL) for head in reversed(heads))), "")
    found = screen.reading.conversation(name, "claude_code", folder=folder, model=model)
    title = first_line([turn for turn in found.turns if not turn.text.startswith("!")])
    return replace(found, turns=users_in_doubt(found.turns), title=title)


def _told_in(rows: Sequence[str], pattern: re.Pattern[str]) -> str:
    found = next((found for row in rows if (found := pattern.match(row) or pattern.search(row))), None)
    return next((part.rstrip() for part in found.groups() if part), "") if found else ""


class _Screen:
    """Reads blocks one by one; `width` are the columns of the window, `waiting` is the call whose result comes next, ""
    for none."""

    def __init__(self) -> None:
        self.reading = Reading()
        self.width = 0
        self.waiting = ""

    def take(self, block: Block, after: Block | None) -> int:
        """Read a block; how many were read, for what came back is read with what is asked."""
        self.reading.place = ("", block.rows[0].start, block.rows[-1].end)
        before, taken = len(self.reading.entries), 1
        if block.kind != BACK:
            self.waiting = ""
        if block.kind == ANSWER:
            taken = self._answer(block, after if after and after.kind == BACK else None)
        elif block.kind == BACK:
            self._back(block)
        elif block.kind == PROMPT:
            self._prompt(block)
        else:
            self._tell(block)
        for entry in self.reading.entries[max(before - 1, 0) :] if block.doubtful else ():
            entry.doubtful = entry.doubtful or entry.end > block.rows[0].start
        return taken

    def _prompt(self, block: Block) -> None:
        words = joined(block.texts, self.width)
        if block.rows[0].text[0] == "!":
            self.reading.say("user", f"!{words}")
            if not block.doubtful:
                self._called("Bash", {"command": words}, block)
        elif _ORDER.fullmatch(words):
            self.reading.say("system", words)
        else:
            self.reading.person(words)

    def _called(self, tool: str, given: object, block: Block) -> None:
        self.waiting = str(block.rows[0].start)
        self.reading.called(tool, given, id=self.waiting)

    def _tell(self, block: Block) -> None:
        """What the tool tells: thoughts, what it did in short, and what is no part of the conversation."""
        if block.kind == THOUGHT:
            self.reading.say("system", joined(block.texts[1:], self.width))
            return
        banner = next((at for at, row in enumerate(block.rows) if BANNER.match(row.text)), len(block.rows))
        rows = [text for text in block.texts[:banner] if text.strip() and not _DRAWN.match(text)]
        rows = [text for text in rows if not _IDLE.match(text.strip())]
        words = "\n".join(rows).strip()
        compacted = next((text for text in block.texts if _COMPACTED.match(text)), "")
        if compacted:
            self.reading.say("system", compacted.strip())
            self.reading.note(Compaction(**self.reading.about))
        elif block.kind == TOLD:
            self.reading.say("tool", words)
        else:
            self.reading.say("system", words)

    # --- what the assistant said or called ---

    def _answer(self, block: Block, back: Block | None) -> int:
        texts = block.texts
        first = texts[0].strip()
        if not block.doubtful:
            if first in _ASKED and back:
                self._questions(back, chosen=_ASKED[first])
                return 2
            if _APPROVED.match(first) and back:
                plan = _SAVED.sub("", joined(_behind(back), self.width), count=1)
                self.reading.place = ("", block.rows[0].start, back.rows[-1].end)
                self.reading.say("assistant", plan)
                self.reading.note(
                    Plan(text=plan, approved=True, tool="ExitPlanMode", answered=True, **self.reading.about)
                )
                return 2
            if first == _TODOS and back:
                self._todos(block, back)
                return 2
            if self._call(block, back):
                return 1
            if _OF_THE_TOOL.match(first):
                self.reading.say("tool", joined(texts, self.width))
                return 1
        elif _call_of(texts, back is not None):
            self.reading.say("tool", joined(texts, self.width))
            return 1
        self.reading.say("assistant", joined(texts, self.width))
        return 1

    def _call(self, block: Block, back: Block | None) -> bool:
        found = _call_of(block.texts, back is not None)
        if found is None:
            return False
        name, given = found[0], joined(found[1], self.width, len(found[0]) + 2)
        tool, key = _TOOLS.get(name, (name, ""))
        if key == "file_path":
            given = _LINES_READ.sub("", given)
        if not key and back and _DELEGATED.match(_behind(back)[0]):
            tool, key = "Task", "description"  # a sub-agent, by its own name
        named = dict(_NAMED.findall(given)) if key in ("pattern", "") else {}
        bare = given.strip('"') if key == "query" else given
        tool = _MCP.sub(r"mcp__\1__\2", tool)
        self.waiting = str(block.rows[0].start)
        self.reading.call(tool, named or ({key: bare} if key else bare), id=self.waiting)
        return True

    def _todos(self, block: Block, back: Block) -> None:
        items: list[list[str]] = []
        for text in map(str.strip, _behind(back)):
            if _TODO.match(text):
                items.append([_STATES.get(text[0], "completed"), text[2:]])
            elif items and text and not text.startswith("…"):
                items[-1].append(text)
        rows = [{"content": " ".join(words), "status": state} for state, *words in items]
        self.reading.place = ("", block.rows[0].start, back.rows[-1].end)
        self.reading.say("tool", "\n".join([_TODOS, *map(str.strip, _behind(back))]))
        self._called("TodoWrite", {"todos": rows}, block)
        self.reading.settle(self.waiting, "")

    def _questions(self, back: Block, *, chosen: bool) -> None:
        """The questions are the assistant's words, the answers the user's; both stand in a row, an arrow between. No
        call is told: its answers would be the user's word for sure."""
        asked: list[list[str]] = []
        for text in _behind(back):
            if text.startswith("· "):
                asked.append([text])
            elif asked:
                asked[-1].append(text)
        rows = [" ".join(" ".join(map(str.strip, texts))[2:].split()) for texts in asked]
        pairs = [_parted(row) if chosen else (row, "") for row in rows]
        self.reading.say("assistant", "\n".join(question for question, _ in pairs))
        self.reading.place = ("", back.rows[0].start, back.rows[-1].end)
        self.reading.say("user", "\n".join(answer for _, answer in pairs if answer))

    # --- what came back ---

    def _back(self, block: Block) -> None:
        rows = _behind(block)
        text, first = "\n".join(rows).strip("\n"), rows[0].strip()
        reading, waiting = self.reading, self.waiting
        if block.doubtful or _UNDER_WAY.match(first):
            reading.say("tool", text)
            return
        self.waiting = ""
        if _BROKEN_OFF.match(first):
            reading.settle(waiting, text, failed=True)
            reading.say("system", f"{INTERRUPTED} by user]")
        elif first.startswith(_WITH_WORDS) and not text[len(_WITH_WORDS) :].strip().startswith(_INSTEAD):
            reading.settle(waiting, _WITH_WORDS, failed=True, refused=True)
            reading.say("user", joined([f"  {row.strip()}" for row in rows], self.width)[len(_WITH_WORDS) :].strip())
        elif first == _DECLINED_PLAN and not waiting:
            plan = "\n".join(
                row.strip(" │").rstrip() for row in rows[1:] if not _DRAWN.match(row) or "│" in row
            ).strip()
            reading.say("tool", text)
            reading.note(Plan(text=plan, approved=False, tool="ExitPlanMode", answered=True, **reading.about))
        else:
            status = _STATUS.match(first)
            refused = _REFUSED.match(first) is not None
            failed = True if refused or _FAILED.match(first) else None
            reading.result(
                text, id=waiting, failed=failed, status=int(status[1]) if status else None, refused=refused,
                change=lambda event: _written(event, first),
            )  # fmt: skip


def _written(event: Call, first: str) -> Call:
    """A file that was written anew, or changed, by what the screen tells of it."""
    if not isinstance(event, Edit) or event.how or event.failed:
        return event
    return replace(event, how="created" if _WROTE.match(first) else "changed")


def _behind(block: Block) -> list[str]:
    """What came back, without the sign in front of it and the five columns by which it is indented."""
    first, *others = (row.text.rstrip() for row in block.rows)
    return [first.partition("⎿")[2].strip(), *(text[min(5, len(text) - len(text.lstrip())) :] for text in others)]


def _call_of(texts: Sequence[str], has_result: bool) -> tuple[str, list[str]] | None:
    """The name of a call and the lines of what it was given; None for words. A tool that is not known here is one where
    something came back."""
    first = texts[0].strip()
    found, end = _CALL.match(first), _CALL_END.search(texts[-1].rstrip())
    if found is None or end is None or not (found["name"] in _TOOLS or (has_result and all(map(str.strip, texts)))):
        return None
    rows = [*texts[:-1], texts[-1].rstrip()[: end.start()]]
    rows[0] = f"{'':{len(found['name']) + 2}}{rows[0].strip()[found.end() :]}"
    return found["name"], rows


def _parted(row: str) -> tuple[str, str]:
    """A question and its answer: behind the arrow after the one question mark, or behind the last one."""
    ends = [found.start() for found in re.finditer(re.escape(_ARROW), row)]
    asked = [at for at in ends if row[:at].endswith("?")]
    at = asked[0] if len(asked) == 1 else ends[-1] if ends else len(row)
    return row[:at], row[at + len(_ARROW) :]
