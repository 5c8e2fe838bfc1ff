"""Labels that people gave, as cases: a text without the answer's marker, and what was marked in it.

What each set really says stands in `SETS`. The folders lie beside the project and nothing of them is in the
repository; `labels_folder` says where.
"""

from __future__ import annotations

import json
import re
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from core.conversations.conversation import Conversation
from core.conversations.read import read_conversation
from core.harvest.distil import redacted_conversation
from core.offline.prose import clean, read_prose, sentences
from core.offline.talk import read_talk

CORPUS = Path(__file__).resolve().parents[3] / "shared" / "corpus"


@dataclass(frozen=True)
class Case:
    """One text. `gold` is what people marked, by category; `units` are the lines or sentences a baseline chooses from.

    `document` is what must not stand on both sides of a split. `judged`: the only units that anybody looked at (None:
    all of them); what is found elsewhere counts neither for nor against. `neutral` likewise: units that may be either.
    `whole`: the label is for the whole text, so anything found in it is a yes.
    """

    document: str
    conversation: Conversation
    gold: Mapping[str, tuple[str, ...]]
    units: tuple[str, ...]
    judged: frozenset[str] | None = None
    neutral: frozenset[str] = frozenset()
    whole: bool = False


@dataclass(frozen=True)
class LabelSet:
    """A set of labels: which category they are for, what they really are, and how its cases are read."""

    name: str
    category: str
    truth: str
    read: Callable[[Path], Iterator[Case]] = field(compare=False)


def normal(text: str) -> str:
    """Words alone, in lower case: how two statements are compared."""
    return " ".join(re.findall(r"\w+", text.lower()))


def fold_of(document: str, folds: int) -> int:
    """Which fold a document belongs to: by its name, so that it never changes."""
    return zlib.crc32(document.encode()) % folds


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


def _talk_case(document: str, text: str, gold: Mapping[str, tuple[str, ...]]) -> Case:
    conversation = read_conversation(document, text.encode())
    talk = read_talk(conversation)
    units = [line.text for line in talk.lines] if talk else [line.strip() for line in text.split("\n")]
    return Case(document, conversation, gold, tuple(unit for unit in units if len(unit.split()) > 1))


# --- minutes and notes of meetings -----------------------------------------------------------------------------------

_MARK = re.compile(
    r"(?:> ?)?\*{0,3}(Resolution|Proposed resolution|Action)(?: #\d+)?: (.*?)\*{2,3}(?: \*\(.*\)\*)?\s*$", re.I
)
_LISTS = re.compile(r"#{1,4} (?:\d+\. )?(?:Resolutions|Action items)\s*$", re.IGNORECASE)
_NOTE_MARK = re.compile(r"\s*(?:/?> ?)?(?:[*-] )?(ACTION|DECISION|PROPOSAL|RESOLVED|RESOLUTION)S?: *(.*)$")


def strip_minutes(text: str, spoken: bool) -> tuple[str, list[str], list[str]]:
    """Minutes of a W3C group without front matter, closing lists, anchors and the words that mark a resolution.

    The words of a resolution, a proposal or an action stay as a line. `spoken` puts it into the mouth of whoever
    spoke last, so that not even the missing speaker gives it away. -> text, resolutions, actions.
    """
    lines, out = text.split("\n"), []
    if lines[0] == "---" and "---" in lines[1:]:
        lines = lines[lines.index("---", 1) + 1 :]
    decisions: list[str] = []
    actions: list[str] = []
    listed, last = False, "Chair"
    for line in lines:
        listed = (listed and not line.startswith("#")) or _LISTS.match(line) is not None
        if listed or re.match(r"\{: ?[#.]|\s*\* \[(?:Resolution|Action)", line):
            continue
        marked = _MARK.match(line)
        if not marked:
            speaker = re.match(r"(?:> ?)?\*{1,2}([^*:]+):\*", line)
            last = speaker[1] if speaker else last
            out.append(line)
            continue
        words = marked[2].strip()
        if marked[1].lower() == "resolution":
            decisions.append(words)
        elif marked[1].lower() == "action":
            words = re.sub(r" \([^()]*\)$", "", words)
            actions.append(words)
        out.append(f"> *{last}:* {words}" if spoken else f"> {words}")
    return "\n".join(out), decisions, actions


def strip_notes(text: str, spoken: bool) -> tuple[str, list[str], list[str]]:
    """Notes of a call with `ACTION:` and the like taken out; the words stay. -> text, decisions, actions."""
    out: list[str] = []
    decisions: list[str] = []
    actions: list[str] = []
    last = ""
    for line in text.split("\n"):
        speaker = re.match(r"[*-] ([A-Za-z]{1,5}):", line)
        last = speaker[1] if speaker else last
        marked = _NOTE_MARK.match(line)
        if not marked:
            out.append(line)
            continue
        words = marked[2].strip()
        if len(words.split()) > 1 and marked[1] != "PROPOSAL":
            (actions if marked[1] == "ACTION" else decisions).append(words)
        out.append(f"* {last}: {words}" if spoken and last else words)
    return "\n".join(out), decisions, actions


def minutes(labels: Path, spoken: bool = False) -> Iterator[Case]:
    for path in sorted((labels / "meeting_minutes").rglob("*.md")):
        text, decisions, actions = strip_minutes(_text(path), spoken)
        yield _talk_case(path.stem, text, {"decisions": tuple(decisions), "tasks_open": tuple(actions)})


def notes(labels: Path, spoken: bool = False) -> Iterator[Case]:
    for path in sorted((labels / "meeting_notes").rglob("*.md")):
        text, decisions, actions = strip_notes(_text(path), spoken)
        yield _talk_case(path.stem, text, {"decisions": tuple(decisions), "tasks_open": tuple(actions)})


# --- questions in a chat ---------------------------------------------------------------------------------------------


def chats(labels: Path) -> Iterator[Case]:
    folder = labels / "irc_replies"
    waiting: dict[str, dict[str, bool]] = defaultdict(dict)
    if (folder / "derived_questions.jsonl").is_file():
        for line in _text(folder / "derived_questions.jsonl").splitlines():
            row = json.loads(line)
            waiting[Path(row["file"]).name][row["text"]] = not row["answered"]
    for path in sorted(folder.rglob("*.raw.txt")):
        asked = waiting[path.name]
        gold = tuple(_words_of_line(text) for text, open_ in asked.items() if open_)
        units = tuple(_words_of_line(text) for text in asked)
        conversation = read_conversation(path.stem, path.read_bytes())
        yield Case(path.stem, conversation, {"questions": gold}, units, frozenset(map(normal, units)))


def _words_of_line(text: str) -> str:
    return re.sub(r"^\[\d\d:\d\d\] <[^>]*> ", "", text)


# --- requests in mail ------------------------------------------------------------------------------------------------


def mail(labels: Path) -> Iterator[Case]:
    """One sentence is one message. Sentences that begin alike are one document: many are near copies."""
    for path in sorted((labels / "email_requests").rglob("*.txt")):
        for line in _text(path).splitlines():
            answer, _, sentence = line.partition("\t")
            sentence = re.sub(r"&quot;", '"', sentence).strip()
            if answer in ("Yes", "No") and sentence:
                conversation = read_conversation("mail", sentence.encode())
                gold = {"tasks_open": (sentence,) if answer == "Yes" else ()}
                yield Case(" ".join(normal(sentence).split()[:4]), conversation, gold, (sentence,), whole=True)


# --- steps -----------------------------------------------------------------------------------------------------------

_PROCEDURE = re.compile(r"diagnosis|mitigation|resolution|remediation|procedure|steps|debug|fix", re.IGNORECASE)
_FENCE = re.compile(r"\s*```(\w*)")


def runbooks(labels: Path) -> Iterator[Case]:
    """Steps are the list items and the shell commands below `Diagnosis` and `Mitigation`; headings, list marks and
    fences are taken out. What may be a step or not is neutral: other sentences of those sections, items of an inner
    list (mostly examples), items that are nothing but a link or a lead-in, output shown below a command."""
    for path in sorted((labels / "playbooks").glob("prometheus*/**/*.md")):
        yield _runbook(path)


def _runbook(path: Path) -> Case:
    title = ""
    out: list[str] = []
    gold: list[str] = []
    neutral: list[str] = []
    inside = fence = False
    block: list[str] = []
    language = ""
    into: list[str] | None = None  # the list that a wrapped line goes on in
    text = re.sub(r"\A---\n.*?\n---\n", "", _text(path), flags=re.DOTALL)
    for line in text.split("\n"):
        fenced = _FENCE.match(line)
        if fenced and fence:
            shell = inside and language in ("", "sh", "bash", "shell", "console")
            prompted = any(row.startswith("$ ") for row in block)
            for row in block:
                command = shell and (row.startswith("$ ") if prompted else re.match(r"[a-z]+ ", row) is not None)
                (gold if command else neutral).append(row.removeprefix("$ "))
            fence, block = False, []
            out.append("")
        elif fenced:
            fence, language, into = True, fenced[1].lower(), None
            out.append("")
        elif fence:
            block.append(line.strip())
            out.append(re.sub(r"^\s*\$ ", "", line).strip())
        elif re.match(r"\s{0,3}#", line):
            heading = line.strip("# ")
            inside = _PROCEDURE.search(heading) is not None if re.match(r"\s{0,3}## ", line) else inside
            out.append("" if title else f"# {heading}")
            title = title or heading
        else:
            marked = re.match(r"(\s*)(?:[*-]|\d+[.)])\s+(\S.*)", line)
            bare = clean(marked[2] if marked else line)
            if marked and inside:
                free = (
                    len(marked[1]) > 1 or bare.endswith(":") or (marked[2].startswith("[") and marked[2].endswith(")"))
                )
                into = neutral if free else gold
                into.append(bare)
            elif bare and into is not None and line.startswith("  "):
                into[-1] += " " + bare
            elif bare:
                into = None
                if inside:
                    neutral.append(bare)
            out += ["", bare] if marked else [bare]
    conversation = read_conversation(path.stem, "\n".join(out).encode())
    rows, _ = read_prose(conversation)
    units = tuple(said.text for row in rows for said in sentences(row))
    covered = normal(" ".join(neutral))
    free_units = {normal(unit) for unit in units if normal(unit) in covered} | {normal(row) for row in neutral}
    return Case(path.stem, conversation, {"playbooks": tuple(gold)}, units, None, frozenset(free_units - {""}))


def cheat_sheets(labels: Path) -> Iterator[Case]:
    """Commands of a cheat sheet whose list marks, backticks and placeholder marks are taken out: the line above says
    what the command is for, nothing says that it is one."""
    for path in sorted((labels / "playbooks").glob("tldr*/**/*.md")):
        gold: list[str] = []
        out: list[str] = []
        for line in _text(path).split("\n"):
            command = re.fullmatch(r"`(.+)`\s*", line)
            bare = re.sub(r"\{\{|\}\}", "", command[1]) if command else re.sub(r"^(?:- |> )", "", line)
            if command:
                gold.append(bare)
            out.append(bare)
        units = tuple(line for line in out if line.strip() and not line.startswith("#"))
        conversation = read_conversation(path.stem, "\n".join(out).encode())
        yield Case(path.stem, conversation, {"playbooks": tuple(gold)}, units)


# --- decision records and proposals ----------------------------------------------------------------------------------


def records(labels: Path) -> Iterator[Case]:
    """Decision records with every heading but the title taken out; gold is the first paragraph of `Decision`."""
    for path in sorted((labels / "adr").rglob("*.md")):
        out: list[str] = []
        section, decision = "", []
        for line in _text(path).split("\n"):
            if line.startswith("#"):
                section = line.lstrip("# ").strip().lower()
                out.append(line if line.startswith("# ") else "")
                continue
            found = re.match(r"\*{0,2}chosen option:?\*{0,2}:? *", line, re.IGNORECASE)
            line = line[found.end() :] if found else line
            if section.startswith("decision") and (line.strip() or not decision):
                decision.append(line.strip())
            elif section.startswith("decision") and any(decision):
                section = ""
            out.append(line)
        conversation = read_conversation(path.stem, "\n".join(out).encode())
        rows, _ = read_prose(conversation)
        units = tuple(said.text for row in rows for said in sentences(row))
        told = normal(" ".join(decision))
        gold = tuple(unit for unit in units if normal(unit) and normal(unit) in told)
        yield Case(path.stem, conversation, {"decisions": gold}, units)


SPOKEN = "the same, given to whoever spoke last"
SETS: tuple[LabelSet, ...] = tuple(
    LabelSet(name, category, truth, read)
    for name, category, truth, read in (
        ("chat: unanswered", "questions", "experts linked replies; a question of an IRC log that nobody replied to",
         chats),
        ("mail: requests", "tasks_open", "crowd and one verifier: the sentence asks for an action or an answer", mail),
        ("notes: actions", "tasks_open", "written down as ACTION by the people in the call, marker removed", notes),
        ("notes: actions, spoken", "tasks_open", SPOKEN, partial(notes, spoken=True)),
        ("minutes: decisions", "decisions", "resolved by the group, put down by the scribe, marker removed", minutes),
        ("minutes: decisions, spoken", "decisions", SPOKEN, partial(minutes, spoken=True)),
        ("records: decisions", "decisions", "first paragraph under Decision, headings removed", records),
        ("runbooks: steps", "playbooks", "list items and commands under Diagnosis and Mitigation, marks removed",
         runbooks),
        ("cheat sheets: commands", "playbooks", "the command of each example, marks removed", cheat_sheets),
    )
)  # fmt: skip


# --- real coding conversations, with what an independent model noted about some of them: silver labels ---------------

MAX_BYTES = 2_000_000


def sessions_of(folder: Path) -> Iterator[Case]:
    """Every conversation of the corpus that is not huge; `gold` is empty where nobody noted anything."""
    for path in sorted(folder.rglob("*")) if folder.is_dir() else ():
        named = path.name == "SOURCES.md" or path.name.endswith(".metadata.json")
        if not path.is_file() or named or path.stat().st_size > MAX_BYTES:
            continue
        conversation, _ = redacted_conversation(read_conversation(path.stem, path.read_bytes()))
        if conversation.turns:
            beside = path.with_name(path.name.removesuffix("".join(path.suffixes)) + ".metadata.json")
            yield Case(path.name, conversation, _noted(beside), ())


def _noted(path: Path) -> dict[str, tuple[str, ...]]:
    try:
        summary: Any = json.loads(path.read_bytes()).get("summary") or {}
    except (OSError, ValueError, AttributeError):
        return {}
    learned = summary.get("learnings") or {}
    gold = {
        "facts": tuple(learned.get("repo") or ()),
        "files": tuple(row.get("finding", "") for row in learned.get("code") or ()),
        "playbooks": tuple(learned.get("workflow") or ()),
        "tasks_open": tuple(summary.get("open_items") or ()),
    }
    return gold if any(gold.values()) else {}
