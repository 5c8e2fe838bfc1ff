"""What happened in a conversation, as data beside its words: commands with their outcome, edits, plans, questions.

A reader fills what its format tells. What a format does not tell stays empty (`None` for a truth value): nothing here
is guessed, and what an output means is for whoever reads the event.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

DONE_STATES = ("completed", "done", "cancelled", "canceled", "complete", "deleted")
OUTPUT_HEAD, OUTPUT_TAIL = 800, 1200
"""The characters of the beginning and of the end of a call's output that stay with the event."""


@dataclass(frozen=True, kw_only=True)
class Event:
    """`start` and `end` are the bytes of the record in the source file; `time` is ISO 8601 or ""."""

    start: int = 0
    end: int = 0
    time: str = ""


@dataclass(frozen=True, kw_only=True)
class Call(Event):
    """A tool was called. `answered` says that its result stands in the file, at the byte `result`; `failed` is what
    the record itself says about it; `output` is what came back, its middle left out where it is long. `id` is what a
    result names the call by."""

    tool: str = ""
    id: str = field(default="", compare=False, repr=False)
    answered: bool = False
    failed: bool | None = None
    refused: bool = False
    output: str = ""
    result: int = -1


@dataclass(frozen=True, kw_only=True)
class Command(Call):
    """A command line; `status` is the exit status where the record tells it."""

    words: str = ""
    status: int | None = None


@dataclass(frozen=True, kw_only=True)
class Edit(Call):
    """A file was written, or several by one patch (`path` with ", " between). `how` is created, changed or deleted, or
    "" where only the writing is told."""

    path: str = ""
    how: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """The files' names, without their folders."""
        return tuple(re.split(r"[\\/]", path)[-1] for path in self.path.split(", ") if path)


@dataclass(frozen=True, kw_only=True)
class FileRead(Call):
    """A file was looked at."""

    path: str = ""


@dataclass(frozen=True, kw_only=True)
class Search(Call):
    """Files, their text or the web were searched for `words`."""

    words: str = ""
    path: str = ""


@dataclass(frozen=True, kw_only=True)
class Todos(Call):
    """The assistant's list of steps as it stood then: (step, state), the state in the tool's own word."""

    items: tuple[tuple[str, str], ...] = ()

    @property
    def done(self) -> bool:
        """Whether no step is left."""
        return all(state.lower() in DONE_STATES for _, state in self.items)


@dataclass(frozen=True, kw_only=True)
class Plan(Call):
    """A plan was put to the user; `approved` is their answer, None while there is none."""

    text: str = ""
    approved: bool | None = None


@dataclass(frozen=True, kw_only=True)
class Question(Call):
    """Questions were put to the user: (question, options joined by " | ", answer; "" while there is none)."""

    asked: tuple[tuple[str, str, str], ...] = ()


@dataclass(frozen=True, kw_only=True)
class Delegation(Call):
    """A sub-agent was given `words` to do; `output` is its report, in the sub-agent's words."""

    words: str = ""


@dataclass(frozen=True, kw_only=True)
class OtherCall(Call):
    """A tool that is none of the others; `words` is what it was given, shortened."""

    words: str = ""


@dataclass(frozen=True, kw_only=True)
class Commit(Event):
    """A commit was made, or tried. `hash` is "" where it is not told; `succeeded` None where no outcome is."""

    subject: str = ""
    hash: str = ""
    succeeded: bool | None = None


@dataclass(frozen=True, kw_only=True)
class Push(Event):
    """Commits were sent to another repository."""

    words: str = ""
    succeeded: bool | None = None


@dataclass(frozen=True, kw_only=True)
class PullRequest(Event):
    """A pull request was opened, or is linked to the session."""

    url: str = ""
    title: str = ""


@dataclass(frozen=True, kw_only=True)
class Compaction(Event):
    """What went before was replaced by this summary."""

    text: str = ""


@dataclass(frozen=True, kw_only=True)
class Reminder(Event):
    """Text that the tool put into the conversation; nobody said it."""

    text: str = ""


@dataclass(frozen=True, kw_only=True)
class Hook(Event):
    """A command that the tool ran by itself, and what it complained about."""

    words: str = ""
    output: str = ""
    failed: bool | None = None


# --- which call is which event ---------------------------------------------------------------------------------------

NOT_WANTED = ("The user doesn't want", "Permission for this tool use was denied")
"""How Claude Code answers a call that the user refused."""
INTERRUPTED = "[Request interrupted"
"""How it notes that the user broke off."""
SHELLS = frozenset({
    "bash", "shell", "exec_command", "shell_command", "local_shell", "local_shell_call", "run_shell_command",
    "run_in_terminal", "execute_command", "run_terminal_cmd", "run_command", "container.exec", "developer__shell",
    "powershell", "terminal", "execute", "run_terminal_command", "execute_bash",
})  # fmt: skip
EDITS = frozenset({
    "edit", "multiedit", "write", "write_file", "str_replace", "str_replace_editor", "str_replace_based_edit_tool",
    "apply_patch", "applypatch", "replace", "replace_in_file", "write_to_file", "create_file", "insert_edit_into_file",
    "edit_file", "notebookedit", "patch", "delete_file", "search_replace", "create", "apply_diff", "insert_content",
    "developer__text_editor", "text_editor", "strreplacefile", "writefile", "edit_notebook", "replace_string_in_file",
    "multi_replace_string_in_file", "update_file", "search_and_replace", "replace_file_content", "write_to_file_v2",
    "multi_replace_file_content", "fs_write", "write_new_file",
})  # fmt: skip
_READS = frozenset({
    "read", "read_file", "view", "open", "cat", "notebookread", "read_many_files", "view_image", "readfile",
    "read_files", "view_file", "viewfile", "view_line_range", "image_view", "list_code_definition_names", "fs_read",
})  # fmt: skip
_SEARCHES = frozenset({
    "grep", "glob", "search", "search_file_content", "list_directory", "ls", "list", "find", "web_search", "websearch",
    "webfetch", "web_fetch", "fetch", "codebase_search", "grep_search", "file_search", "list_dir", "list_files",
    "search_files", "rg", "google_web_search", "fetch_webpage", "semantic_search", "web_search_call",
    "find_by_name", "search_web", "read_url_content", "toolsearch", "tool_search_call", "fetchurl", "searchweb",
    "find_file", "ripgrep_raw_search", "search_dir", "search_file", "web_extract", "x_search", "rip_grep_search",
    "glob_file_search",
})  # fmt: skip
_TODOS = frozenset({
    "todowrite", "todo_write", "update_plan", "taskcreate", "taskupdate", "manage_todo_list", "write_todos",
    "update_todo_list", "set_todo_list", "settodolist", "todo", "todo_list", "sql_todo", "update_todo", "todos",
})  # fmt: skip
_PLANS = frozenset(
    {"exitplanmode", "exit_plan_mode", "exitspecmode", "plan_mode_respond", "present_plan", "create_plan"}
)
_QUESTIONS = frozenset({
    "askuserquestion", "ask_followup_question", "ask_user", "question", "ask_user_question", "request_user_input",
    "askuser", "ask_questions", "ask_question",
})  # fmt: skip
_DELEGATIONS = frozenset({
    "task", "agent", "spawn_agent", "dispatch_agent", "subagent", "new_task", "delegate", "runsubagent",
    "browser_subagent", "codebase_investigator", "delegate_to_agent", "subagent_task", "delegate_task", "use_subagent",
})  # fmt: skip

_PATHS = (
    "file_path", "path", "filePath", "absolute_path", "notebook_path", "target_file", "AbsolutePath", "TargetFile",
    "filename", "file", "relative_workspace_path", "uri", "folder", "dir_path", "DirectoryPath", "SearchDirectory",
)  # fmt: skip
_WORDS = ("pattern", "query", "q", "url", "search_term", "Query", "regex", "search", "name_pattern", "prompt")
_TASKS = ("prompt", "message", "task", "description", "objective", "instructions")
_PATCHED = re.compile(r"^\*\*\* (Update|Add|Delete) File: (.+)$", re.MULTILINE)
_PATCHES = re.compile(
    r"\s*(?:cd\s+\S+\s*&&\s*)?(?:apply_?patch|git apply)\b[^\n]*\n?\*\*\* Begin Patch\n.*?\n\*\*\* End Patch"
    r"\s*(?:['\"]|\n\s*['\"]?\w+['\"]?)?\s*\Z",
    re.DOTALL,
)
"""A command line that applies a patch and does nothing else: an edit, however it was called."""
_PATCH_HOW = {"Update": "changed", "Add": "created", "Delete": "deleted"}


def call_event(tool: str, given: Any, command: str, time: str, start: int, end: int) -> Call:
    """The event of a call: which kind is told by the tool's name and its arguments. `command` is a shell's line."""
    name = tool.lower().rsplit("__", 1)[-1] if tool.lower().startswith("mcp__") else tool.lower()
    about: dict[str, Any] = {"tool": tool, "time": time, "start": start, "end": end}
    row: Mapping[str, Any] = given if isinstance(given, Mapping) else {}
    if command:
        if "*** Begin Patch" in command and _PATCHES.match(command):
            return _edit(name, command, {}, about)
        return Command(words=command, **about)
    if name in EDITS and row.get("command") != "view":
        return _edit(name, given, row, about)
    if name in _READS or name in EDITS:
        return FileRead(path=_first(row, _PATHS), **about)
    if name in _SEARCHES:
        return Search(words=_first(row, _WORDS), path=_first(row, _PATHS), **about)
    if name in _TODOS:
        return Todos(items=todo_items(row), **about)
    if name in _PLANS:
        return Plan(text=_first(row, ("plan", "response", "text")), **about)
    if name in _QUESTIONS:
        return Question(asked=_asked(row), **about)
    if name in _DELEGATIONS:
        return Delegation(words=_first(row, _TASKS), **about)
    shown = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False, default=str) if given else ""
    return OtherCall(words=ends(shown, 400, 0)[0], **about)


def call_words(event: Event) -> str:
    """What a tool was asked, in a line: the words that it was given, and the path."""
    return f"{getattr(event, 'words', '')} {getattr(event, 'path', '')}".strip()


def _first(row: Mapping[str, Any], keys: tuple[str, ...]) -> str:
    return next((row[key] for key in keys if isinstance(row.get(key), str) and row[key]), "")


def _edit(name: str, given: Any, row: Mapping[str, Any], about: Mapping[str, Any]) -> Edit:
    patch = given if isinstance(given, str) else _first(row, ("patch", "input", "diff", "patchText"))
    patched = _PATCHED.findall(patch)
    ways = {_PATCH_HOW[way] for way, _ in patched}
    asked = str(row.get("command", "")).lower()
    if ways:
        how = ways.pop() if len(ways) == 1 else "changed"
    elif name.startswith("delete") or asked == "delete":
        how = "deleted"
    elif name.startswith("create") or asked == "create":
        how = "created"
    else:
        how = "" if name.startswith("write") else "changed"
    return Edit(path=_first(row, _PATHS) or ", ".join(path.strip() for _, path in patched), how=how, **about)


def todo_items(row: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """The steps and states in the arguments of a list of steps, whatever the tool calls their members; a step that is
    named by its number alone is `#NUMBER`."""
    held = next((row[key] for key in ("todos", "plan", "todoList", "items", "tasks") if key in row), None)
    content = row.get("content")
    held = content if held is None and isinstance(content, str) and "- [" in content else held
    if isinstance(held, str):  # a checklist in markdown
        found = re.findall(r"^\s*(?:[-*]|\d{1,3}\.) \[( |x|X|-|~|/|[a-z_]{4,20})\] +(.+)$", held, re.MULTILINE)
        states = {"x": "completed", " ": "pending", "-": "in_progress", "~": "in_progress", "/": "in_progress"}
        return tuple((text.strip(), states.get(mark.lower(), mark)) for mark, text in found)
    if not isinstance(held, list):
        subject = _first(row, ("subject", "content", "title"))
        status, number = _first(row, ("status",)), row.get("taskId")
        moved = ((f"#{number}", status),) if isinstance(number, str) and status else ()
        return ((subject, status or "pending"),) if subject else moved
    names = ("content", "step", "title", "subject", "text", "description")
    rows = (entry for entry in held if isinstance(entry, Mapping))
    return tuple((text, _first(row, ("status", "state"))) for row in rows if (text := _first(row, names)))


def question_of(row: Mapping[str, Any]) -> str:
    """The words of a question that is put to the user, whatever the tool calls their member; "" for none."""
    return _first(row, ("question", "text", "prompt", "message", "title"))


def _asked(row: Mapping[str, Any]) -> tuple[tuple[str, str, str], ...]:
    held = row.get("questions")
    rows = [entry for entry in held if isinstance(entry, Mapping)] if isinstance(held, list) else [row]
    found = []
    for entry in rows:
        question = question_of(entry)
        options = entry.get("options", entry.get("follow_up", entry.get("choices", ())))
        names = [
            option if isinstance(option, str) else _first(option, ("label", "title", "text", "value"))
            for option in (options if isinstance(options, list) else ())
            if isinstance(option, str | Mapping)
        ]
        if question:
            found.append((question, " | ".join(name for name in names if name), ""))
    return tuple(found)


# --- what a result tells ---------------------------------------------------------------------------------------------

_STATUS = re.compile(
    r"(?:^|\n)(?:[<\[(]?(?:Process|Command|The command)?\s*(?:exited|finished|failed|completed)?\s*(?:with\s*)?"
    r"(?:exit[ _-]?(?:code|status)|return[ _-]?code|code)\s*[:=]?\s*(-?\d{1,5}))\b",
    re.IGNORECASE,
)
_KEY_HEAD = re.compile(r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY")
_KEY_END = re.compile(r"-----END (?:[A-Z0-9]+ ){0,3}PRIVATE KEY[^\n]*\n?")
_COMMITTED = re.compile(
    r"^\[(?P<branch>[^\s\]]+(?: \([^)]*\))?)(?: \(root-commit\))? (?P<hash>[0-9a-f]{7,40})\] (?P<subject>.+)$", re.M
)
_COMMITS = re.compile(r"(?:^|[\s;&|(])git(?:\s+-[cC]\s+\S+)*\s+commit\b")
_IN_PASSING = re.compile(
    r"""\b(?P<name>\w+)=["'`$(]{1,3}mktemp -d.{0,2000}?\b(?:cd|pushd|git -C) "?\$\{?(?P=name)\b|"""
    r"""\b(?:cd|pushd|git -C) ["']?(?P<place>/tmp/[\w.-]+).{0,2000}?"""
    r"""\b(?:rm -\w*r\w*|worktree remove(?: --force)?) ["']?(?P=place)(?![\w.-]|/\w)""",
    re.DOTALL,
)
"""A folder that is gone with the command line: what is committed there is no commit of the project."""
_PUSHES = re.compile(r"(?:^|[\s;&|(])git(?:\s+-[cC]\s+\S+)*\s+push\b[^\n;&|]*")
_PUSHED = re.compile(r"(?:->|\[new branch\]|set up to track)")
"""Where everything is up-to-date nothing was sent: what was committed may be of another branch."""
_NOT_PUSHED = re.compile(r"(?:\[rejected\]|error: failed to push|fatal:|remote rejected)")
OPENED = re.compile(r"https://[\w.-]+/[\w./-]+/(?:pull|merge_requests)/\d+")
"""The address of a pull request."""
MESSAGE = re.compile(
    r"""\s-(?:[a-zA-Z]*m|-message)[= ]\s*(?:"\$\(cat <<-?\s*['"]?(?P<end>\w+)['"]?\s*\n(?P<here>.*?)\n\s*(?P=end)"""
    r"""|"(?P<double>(?:[^"\\]|\\.)*)"|'(?P<single>[^']*)')"""
    r"""|\s(?:-F|--file)[= ]-\s*<<-?\s*['"]?(?P<stop>\w+)['"]?\s*\n(?P<file>.*?)\n\s*(?P=stop)""",
    re.DOTALL,
)
"""The message that a command line gives a commit."""


def exit_status(output: str) -> int | None:
    """The exit status that a tool wrote into the text of a result, at its beginning or end."""
    for part in (output[:400], output[-200:]):
        lower = part.lower()
        found = _STATUS.search(part) if "code" in lower or "status" in lower else None
        if found:
            return int(found[1])
    return None


def shortened(text: str) -> str:
    """The beginning and the end of a long text, with a mark between."""
    text = text.strip()
    first, last = ends(text, OUTPUT_HEAD, OUTPUT_TAIL)
    return text if first == text else f"{first}\n[…]\n{last}"


def ends(text: str, head: int, tail: int) -> tuple[str, str]:
    """The first `head` and the last `tail` characters of a long text; of one that is hardly longer (text, "").

    Never inside a word, so that half of a secret does not pass by the redaction; the rest of a private key that begins
    in the missing part goes with it.
    """
    if len(text) <= head + tail + min(200, (head + tail) // 4):
        return text, ""
    first, last = text[:head], text[len(text) - tail :]
    line, blank = first.rfind("\n"), first.rfind(" ")
    first = first[: max(line if head - line < head // 3 else blank, 0)]
    gaps = [at for at in (last.find("\n"), last.find(" ")) if at >= 0]
    last = last[min(gaps) + 1 :] if gaps else ""
    begun = None
    for begun in _KEY_HEAD.finditer(text, len(first), len(text) - len(last)):  # noqa: B007  (the last one matters)
        pass
    if begun and not _KEY_END.search(text, begun.end(), len(text) - len(last)):
        ended = _KEY_END.search(last)
        last = last[ended.end() :] if ended else ""
    return first, last


def settled(event: Call, output: str, result: int, failed: bool | None, status: int | None, refused: bool) -> Call:
    """The event with what came back."""
    reported = exit_status(output) if status is None and isinstance(event, Command) else status
    failed = reported != 0 if failed is None and reported is not None else failed
    ended: dict[str, Any] = {"answered": True, "failed": failed, "refused": refused, "result": result}
    if isinstance(event, Command):
        ended["status"] = reported
    return replace(event, output=shortened(output), **ended)


def follow_ups(event: Event) -> Iterator[Event]:
    """Commits, pushes and pull requests that a command line made."""
    if not isinstance(event, Command) or not ("git" in event.words or " create" in event.words):
        return
    place: dict[str, Any] = {"start": event.start, "end": event.end, "time": event.time}
    if _COMMITS.search(event.words) and "--dry-run" not in event.words and not _IN_PASSING.search(event.words):
        yield from _commits(event, place)
    pushed = _PUSHES.search(event.words)
    if pushed:
        good, bad = _PUSHED.search(event.output), _NOT_PUSHED.search(event.output)
        succeeded = False if bad or event.failed else True if good else None
        yield Push(words=pushed[0].strip(), succeeded=succeeded, **place)
    opened = OPENED.findall(event.output) if "pr create" in event.words or "mr create" in event.words else []
    if opened and not event.failed:
        yield PullRequest(url=opened[-1], **place)  # whatever a hook prints, the program's own line is the last


def _commits(event: Command, place: Mapping[str, Any]) -> Iterator[Commit]:
    """What a command line committed, in the words of the command. A hook may print any line that looks like git's
    receipt: the output only tells that a commit of such a subject was made, and its hash."""
    receipts = [(found["subject"].strip(), found["hash"]) for found in _COMMITTED.finditer(event.output)]
    for said in commit_messages(event.words) or [""]:
        mine = [hash for line, hash in receipts if not said or line.startswith(f"{said} ") or _is_same(line, said)]
        failed = None if not event.answered or event.refused else False if event.failed else None
        yield Commit(subject=said, hash=mine[-1] if mine else "", succeeded=True if mine else failed, **place)


def _is_same(line: str, said: str) -> bool:
    """Whether a receipt is of that message: a terminal drops letters that it cannot print."""
    plain = ["".join(char for char in text if char.isascii() and char.isalnum()) for text in (line, said)]
    return line == said or (plain[0] == plain[1] != "")


def commit_messages(words: str) -> list[str]:
    """The first line of the message of each `git commit` in a command line, also where a here-document holds it."""
    found, places = [], [one.start() for one in _COMMITS.finditer(words)]
    for start, end in zip(places, [*places[1:], len(words)], strict=True):
        message = MESSAGE.search(words, start, end)
        if message is None:
            continue
        double = re.sub(r'\\(["$`\\])', r"\1", message["double"] or "")
        text = message["here"] or message["file"] or double or message["single"] or ""
        found += [line.strip() for line in text.split("\n") if line.strip()][:1]
    return found


def with_text(event: Event, change: Callable[[str], str]) -> Event:
    """The event with `change` applied to every text in it that somebody wrote."""
    new: dict[str, Any] = {}
    for one in fields(event):
        value = getattr(event, one.name)
        if one.name in ("time", "tool", "hash", "id"):
            continue
        if isinstance(value, str) and value:
            new[one.name] = change(value)
        elif isinstance(value, tuple) and value:
            new[one.name] = tuple(tuple(change(part) if part else part for part in row) for row in value)
    return replace(event, **new)
