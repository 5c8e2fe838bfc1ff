"""What became of the files that a session wrote, and on which branch it was left, as its events tell."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from core.conversations.conversation import Turn
from core.conversations.events import Call, Command, Edit, call_words

DELETED, NO_CHANGE, MOVED = "deleted", "changed and taken back", "moved to "
GONE = (DELETED, NO_CHANGE, MOVED)
_DELETED = re.compile(r"^\*\*\* Delete File: (.+)$", re.MULTILINE)
_REPLACED = re.compile(
    r"^old_?str(?:ing)?: (.*?)\nnew_?str(?:ing)?: (.*?)(?=\n\w+: |\Z)", re.DOTALL | re.MULTILINE | re.IGNORECASE
)
_DIFF = re.compile(r"^```diff\n((?:(?!```).*\n)*)```$", re.MULTILINE)
_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")
_QUOTED = re.compile(r"\"(?:[^\"\\]|\\(?:.|\Z))*(?:\"|\Z)|'[^']*(?:'|\Z)", re.DOTALL)
_MARK_OF_TEXT = re.compile(r"-?\s*['\"]?\w+['\"]?")
_WHOLE = re.compile(r"(?<![\w.~/:])(?:[A-Za-z]:)?/(?:[\w.@+-]+/)+[\w.@+-]+")
_RELATIVE = re.compile(r"`((?:[\w.@+-]+/)+[\w.@+-]*\w)`")
_PART = re.compile(r"&&|\|\||[;|\n]")
MAX_COMMAND = 8000
"""The characters of a command line that are looked at."""
_TAKES_BACK = re.compile(r"git (?:checkout (?!-b )(?=.*(?:-- |[./]))|restore (?!--staged))")
_REMOVES = re.compile(r"(?:sudo )?(?:git )?rm (?!.*--cached)")
_MOVES = re.compile(r"(?:git )?mv (?:-\w+ )*(?P<old>\S+) (?P<new>\S+)$")
_WRITES = re.compile(r"git add (?:-- )?(?P<added>.+)|.*?(?<![\d&>])>{1,2} ?(?P<into>[\w./-]+\.\w+)(?: |$)")
_ELSEWHERE = ("/dev/", "/tmp/", "/var/tmp/", "/private/tmp/", "/var/folders/", "/private/var/folders/")
PLANS = "/.claude/plans/"
"""Where a tool keeps its plans, for no repository."""
_IS_WHOLE = re.compile(r"/|~|[A-Za-z]:")
_ON = re.compile(
    r"^(?:On branch (?P<status>\S+)|## (?P<short>[^\s.]+(?:\.[^\s.]+)*)(?:\.\.\.\S+.*)?|"
    r"Switched to (?:a new )?branch '(?P<switched>[^']+)'|"
    r"\[(?P<committed>[^\s\]]+)(?: \(root-commit\))? [0-9a-f]{7,40}\] .*)$",
    re.MULTILINE,
)
_TELLS_BRANCH = re.compile(r"\bgit (?:status|commit|checkout|switch)\b")


@dataclass
class Changed:
    """One file: what became of it (`how`, "" where only the writing is told), how often it was written, and the turn
    (from 0) of the last change."""

    how: str = ""
    count: int = 0
    last: int = -1
    stand: list[str] = field(default_factory=list)
    """The replacements that were not taken back, as hashes of what they took out and put in; "" for another edit."""


def changed_files(turns: Sequence[Turn]) -> dict[str, Changed]:
    """The files that were written or brought to git (paths with `/`), in the order of their first change."""
    rows: dict[str, Changed] = {}
    for at, turn in enumerate(turns):
        change_files(rows, at, turn)
    return rows


def change_files(rows: dict[str, Changed], at: int, turn: Turn) -> None:
    """What the turn `at` did to files, put into `rows`."""
    for event in turn.events:
        if isinstance(event, Edit) and event.path and not (event.refused or event.failed):
            _edited(rows, at, turn, event)
        elif isinstance(event, Command) and not (event.refused or event.failed):
            aside = False
            for part in command_parts(event.words):
                if part.startswith("cd "):
                    aside = _is_aside(part[3:].strip(" '\"").rstrip("/") + "/", rows)
                if not aside:
                    _ran(rows, at, part)


def _is_aside(folder: str, rows: Iterable[str]) -> bool:
    """Whether a folder, which ends with a slash, is none of the work: no file of the session lies there."""
    return folder.startswith(_ELSEWHERE) and not any(path.startswith(folder) for path in rows)


def of_the_work(rows: dict[str, Changed]) -> dict[str, Changed]:
    """The files without what lies aside of the work, as a scratch file or a tool's plan; all of them where no whole
    path tells that the work is elsewhere, and where it began there."""
    rows = {path: row for path, row in rows.items() if PLANS not in path} or rows
    inside = {path: row for path, row in rows.items() if not path.startswith(_ELSEWHERE)}
    begun_aside = next(iter(rows), "").startswith(_ELSEWHERE)
    return inside if any(_IS_WHOLE.match(path) for path in inside) and not begun_aside else rows


def command_parts(words: str) -> list[str]:
    """The commands of a line, without what stands in quotes or is given to one of them as a text."""
    line, _, here = words[:MAX_COMMAND].partition("<<")
    plain = _QUOTED.sub("''", line + _MARK_OF_TEXT.sub("", here.split("\n", 1)[0], count=1))
    return [part.strip() for part in _PART.split(plain)]


def _edited(rows: dict[str, Changed], at: int, turn: Turn, event: Edit) -> None:
    swap, deleted = _swap(turn.text), _DELETED.findall(turn.text)
    for path in event.path.split(", "):
        row = rows.setdefault(plain_path(path), Changed())
        row.count, row.last = row.count + 1, at
        old, new = map(_hash, swap) if swap is not None else ("", "")
        if swap is not None and f"{new} {old}" in row.stand:
            row.stand.remove(f"{new} {old}")
        else:
            row.stand.append(f"{old} {new}".strip())
        was_gone = row.how.startswith(GONE)
        how = DELETED if path in deleted else event.how or ("changed" if was_gone else row.how)
        row.how = how if row.stand else NO_CHANGE


def _ran(rows: dict[str, Changed], at: int, line: str) -> None:
    """What one command of a line did to files."""
    if moved := _MOVES.match(line):
        for name in _named(rows, moved["old"]):
            rows[name].how, rows[name].last = f"{MOVED}`{moved['new']}`", at
    elif _REMOVES.match(line) or _TAKES_BACK.match(line):
        for name in [name for word in line.split()[1:] for name in _named(rows, word)]:
            rows[name].how, rows[name].last = DELETED if _REMOVES.match(line) else NO_CHANGE, at
            rows[name].stand.clear()
    elif written := _WRITES.match(line):
        for word in (written["added"] or written["into"]).split():
            if re.search(r"\w\.\w+$", word) and not word.startswith(_ELSEWHERE) and not list(_named(rows, word)):
                rows[word] = Changed(count=1, last=at, stand=[""])


def _named(rows: dict[str, Changed], word: str) -> Iterator[str]:
    """The file of `rows` that a word of a command line names, from whichever folder; none where two may be meant."""
    word = plain_path(word).removeprefix("./").rstrip("/")
    found = [name for name in rows if word and name.endswith(f"/{word}")]
    yield from [word] if word in rows else found if len(found) == 1 else []


def plain_path(path: str) -> str:
    """A path of any system with `/` between; some tools set one before the drive of Windows."""
    return re.sub(r"^/(?=[A-Za-z]:)", "", path.replace("\\", "/"))


def root_of(turns: Sequence[Turn]) -> tuple[set[str], str]:
    """The whole paths that calls named, and the folder from which most of them are told elsewhere, in a call or as the
    assistant's word; "" where none is."""
    whole: set[str] = set()
    told: set[str] = set()
    for turn in turns:
        told.update(_RELATIVE.findall(turn.text) if turn.role == "assistant" else ())
        for event in turn.events:
            named = plain_path(getattr(event, "path", "") or (call_words(event) if isinstance(event, Call) else ""))
            told.add(named.removeprefix("./"))
            whole.update(_WHOLE.findall(named))
    roots: Counter[str] = Counter()
    for path in whole:
        places = [at for at, letter in enumerate(path) if letter == "/"]
        roots.update(path[:at] for at in places[1:-1] if path[at + 1 :] in told)
    return whole, min(roots, key=lambda root: (-roots[root], len(root)), default="")


def _swap(text: str) -> tuple[str, str] | None:
    """The lines that an edit took out and put in, None where its call does not tell all of them."""
    told, diffs = _REPLACED.search(text), _DIFF.findall(text)
    if " characters left out" in text or not (told or len(diffs) == 1):
        return None
    if told:
        old, new = told[1].split("\n"), told[2].split("\n")
    else:
        old, new = (_side(diffs[0], number, signs) for number, signs in ((1, "- "), (2, "+ ")))
        return ("\n".join(old), "\n".join(new)) if old != new else None
    for end in (0, -1):
        while old and new and old[end] == new[end]:
            del old[end], new[end]
    swap = "\n".join(old), "\n".join(new)
    return swap if any(swap) else None  # only blank lines: that is no swap which another could take back


def _side(diff: str, number: int, signs: str) -> list[str]:
    """The lines of one side of a diff, each hunk below the number of its first line there: what was taken out in one
    place and put in at another with the same lines beside it was not taken back."""
    found: list[str] = []
    for line in diff.split("\n"):
        hunk = _HUNK.match(line)
        if hunk:
            found.append(hunk[number])
        elif line[:1] in signs and not line.startswith("@@"):
            found.append(line[1:])
    return found


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def branch_at_end(turns: Sequence[Turn]) -> str:
    """The branch that git named last, "" where it named none."""
    branch = ""
    for event in (event for turn in turns for event in turn.events):
        if isinstance(event, Command) and event.answered and _TELLS_BRANCH.search(event.words):
            found = [one[one.lastgroup or 0] for one in _ON.finditer(event.output)]
            branch = found[-1] if found else branch
    return branch
