"""Context files: `context.md` of the home and of a project, in front of every conversation.

They are loaded once at the start of a session, global first, under fixed headings, in `<system-reminder>` tags.
A project's file comes with its repository and is as little to be trusted as one: it is read only where the user has
said that it may be (core/base/trust.py), and even then cannot close the tags, open a fence of ours, or hide text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.base import files
from core.base.conflict import conflict_line, without_marks
from core.base.entry import Entry
from core.base.frontmatter import TIMESTAMP, field_line, parse_frontmatter
from core.base.homes import own_target, why_foreign_file, why_refused
from core.base.marks import for_prompt
from core.base.trust import ALLOW, OWN_FILE, read_trust

GLOBAL, PROJECT = "global", "project"
BUDGET_BYTES = {GLOBAL: 3 * 1024, PROJECT: 7 * 1024}
WARN_BYTES, MAX_BYTES = 10 * 1024, 20 * 1024
READ_BYTES = 1 << 20
TITLES = {GLOBAL: "Global Context", PROJECT: "Project Context"}
HEADING = "## Internal Knowledge\n\n"
OPEN, CLOSE = "<system-reminder>\n", "</system-reminder>\n"


@dataclass(frozen=True)
class ContextFile:
    """One `context.md` as it is on disk.

    `scope` is "global" or "project"; `bytes` is the size of its body, `budget` what it may have, both in bytes;
    `problems` are sentences that name file, line and field. `body` is "" for a file that is absent or empty.
    """

    scope: str
    path: Path
    exists: bool
    body: str = ""
    bytes: int = 0
    budget: int = 0
    version: int | None = None
    updated: str = ""
    sha256: str = ""
    problems: tuple[str, ...] = ()
    trusted: bool = True
    """False for one of a project that the user has not allowed; then its text is not here."""

    def to_json(self) -> dict[str, Any]:
        """Without the text: `knowledge context` prints that."""
        row = {key: value for key, value in vars(self).items() if key != "body"}
        return {**row, "path": str(self.path), "problems": list(self.problems)}


@dataclass(frozen=True)
class Context:
    """All context files together. `text` is what stands in the prompt ("" for nothing at all), `bytes` the size of
    what they say before it was cut; `warnings` are the lines for stderr."""

    text: str
    bytes: int
    files: tuple[ContextFile, ...]
    warnings: tuple[str, ...] = ()


def load_context(
    global_file: Path, project_file: Path | None, *, secrets: bool = True, environment: Mapping[str, str] | None = None
) -> Context:
    """Read both files and join them. `secrets` replaces passwords and keys by placeholders;
    `environment` tells where the user's own record of what they trust lies (None: that of the process).

    A file that cannot be read, or a project's that is not trusted, is a warning, never an error: a conversation starts
    without it.
    """
    found = [read_context(GLOBAL, global_file)]
    if project_file is not None:
        found.append(read_context(PROJECT, project_file, environment))
    warnings = [f"WARNING: {problem}" for row in found for problem in row.problems]
    text, size, sentence = join_context(found, secrets=secrets)
    return Context(text, size, tuple(found), tuple([*warnings, sentence] if sentence else warnings))


def read_context(scope: str, path: Path, environment: Mapping[str, str] | None = None) -> ContextFile:
    """One file, its frontmatter checked. What is wrong with it stands in `problems`; the body is there all the same.

    The home's file may be a link to one that is the user's own, as those who keep such files in one place have it. A
    project's is none, and its text stays out while it is not trusted.
    """
    budget = BUDGET_BYTES[scope]
    project = path.parents[2] if scope == PROJECT else None
    try:
        if project is not None and files.exists(path) and (refused := why_refused(project)):
            return ContextFile(scope, path, True, budget=budget, problems=(f"{refused}.",), trusted=False)
        read = files.read_file(own_target(path) if project is None else path, READ_BYTES)
    except FileNotFoundError:
        return ContextFile(scope, path, False, budget=budget)
    except OSError as error:
        problem = f"{path} cannot be read: {error.strerror or error}; it is left out"
        return ContextFile(scope, path, True, budget=budget, problems=(problem,))
    if project is not None and read.data.strip() and not read_trust(environment).allows(project, path, read.sha256):
        foreign = why_foreign_file(path)
        problem = f"{path} {foreign}, so it is left out: {OWN_FILE}"
        if not foreign:
            problem = f"{path} may come from somebody else, so it is left out; {ALLOW} there lets it in"
        return ContextFile(scope, path, True, budget=budget, sha256=read.sha256, problems=(problem,), trusted=False)
    text = read.data.decode("utf-8", "replace")
    problems = []
    if line := conflict_line(text):
        problems.append(f"{path}:{line}: a merge conflict begins here; both sides are loaded, without its marks")
        text = without_marks(text)
    parsed = parse_frontmatter(text)
    if "\ufffd" in text and b"\xef\xbf\xbd" not in read.data:
        problems.append(f"{path} is not UTF-8 text; what is damaged shows as \ufffd")
    if parsed.problem:
        problems.append(f"{path}:{parsed.line}: {parsed.problem}; the text is loaded all the same")
    else:
        problems += [f"{path}:{field_line(text, name)}: {why}" for name, why in validate_context(parsed.fields)]
    version, updated = parsed.fields.get("version"), parsed.fields.get("updated")
    body = parsed.body.strip()
    version = version if isinstance(version, int) else None
    updated = updated if isinstance(updated, str) else ""
    size = len(body.encode("utf-8"))
    return ContextFile(scope, path, True, body, size, budget, version, updated, read.sha256, tuple(problems))


def validate_context(fields: Any) -> list[tuple[str, str]]:
    """What is wrong with the frontmatter of a context file: (field, sentence that names it), [] for nothing."""
    wrong = []
    if "version" not in fields:
        wrong.append(("version", "the field 'version' is missing; it is a whole number, now 1"))
    elif type(fields["version"]) is not int:
        wrong.append(("version", f"the field 'version' must be a whole number, not {fields['version']!r}"))
    if "updated" not in fields:
        wrong.append(("updated", "the field 'updated' is missing; it is a time, YYYY-MM-DDTHH:MM:SS"))
    elif not isinstance(fields["updated"], str) or not TIMESTAMP.match(fields["updated"]):
        wrong.append(("updated", f"the field 'updated' must be a time, YYYY-MM-DDTHH:MM:SS, not {fields['updated']!r}"))
    return wrong


def join_context(found: Sequence[ContextFile], *, secrets: bool = True) -> tuple[str, int, str]:
    """The block for the prompt, its size in bytes before cutting, and a sentence about that size ("" for none).

    Over 10 KiB is a warning. Over 20 KiB, the tags around it included, it is cut and said to be: the result is never
    longer than 20,480 bytes. Each file keeps its share of the room, as their budgets are to each other (3 to 7), and
    what one does not need is the other's; what is too long is cut at the last whole character.
    """
    found = [row for row in found if row.body]
    if not found:
        return "", 0, ""
    heads = [f"### {TITLES[row.scope]}\n\n" for row in found]
    bodies = [for_prompt(row.body, secrets=secrets).strip("\n") for row in found]
    frame = len((HEADING + "".join(f"{head}\n\n" for head in heads)).encode("utf-8"))
    sizes = [len(body.encode("utf-8")) for body in bodies]
    size, room, sentence, end = frame + sum(sizes), MAX_BYTES - len(OPEN + CLOSE), "", "\n\n"
    if size > room:
        sentence = f"ERROR: Knowledge size {size} bytes exceeds 20 KiB. Truncating: shorten {_longest(found)}."
        shares = _shares(sizes, [row.budget for row in found], room - frame + 1)
        end = "\n"
        bodies = [_cut(body, share) for body, share in zip(bodies, shares, strict=True)]
    elif size > WARN_BYTES:
        sentence = f"WARNING: Knowledge size {size} bytes exceeds 10 KiB target: shorten {_longest(found)}."
    text = HEADING + "\n\n".join(f"{head}{body}" for head, body in zip(heads, bodies, strict=True))
    return f"{OPEN}{text}{end}{CLOSE}", size, sentence


def _shares(sizes: Sequence[int], budgets: Sequence[int], room: int) -> list[int]:
    """How many bytes of `room` each body gets: what it needs, up to its share by budget and what others leave over."""
    whole = max(1, sum(budgets))
    shares = [min(size, room * budget // whole) for size, budget in zip(sizes, budgets, strict=True)]
    for at, size in enumerate(sizes):
        shares[at] += min(size - shares[at], room - sum(shares))
    return shares


def _cut(body: str, share: int) -> str:
    data = body.encode("utf-8")
    return body if len(data) <= share else data[:share].decode("utf-8", "ignore").rstrip("\n")


def entries(found: Sequence[ContextFile], project: str = "") -> list[Entry]:
    """One row for the search for each paragraph, so that a hit leads to a place and not to a whole file."""
    rows = []
    for row in found:
        heading = TITLES[row.scope]
        owner = project if row.scope == PROJECT else ""
        for number, paragraph in enumerate(filter(None, (part.strip() for part in row.body.split("\n\n")))):
            if paragraph.startswith("#") and "\n" not in paragraph:
                heading = paragraph.lstrip("#").strip() or heading
                continue
            key, path = f"{row.scope}:{number}", str(row.path)
            rows.append(Entry("context", key, heading, paragraph, date=row.updated[:10], project=owner, path=path))
    return rows


def _longest(found: Sequence[ContextFile]) -> Path:
    return max(found, key=lambda row: row.bytes - row.budget).path
