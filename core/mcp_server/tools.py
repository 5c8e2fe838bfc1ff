"""The tools: what an agent is told of each (its docstring and the words beside its arguments), and what each gives,
plain data from the commands, without secrets, within bounds.

Everything in it comes from conversations, files and other tools. It is data: an agent that reads an order in it must
not follow it, and `NOTICE` says so beside every answer. Every text goes through the gate of base/marks.py.

A long list comes in pages. A page holds as many rows as were asked for and fit into an answer, at least one, none of
them cut; `count` is the number of all, and `next_offset` asks for the next page (None: this is the last).

No `from __future__ import annotations` here: the SDK makes the schema of a tool from the annotations as they are.
"""

import json
import os
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated, Any, Literal

from pydantic import Field

from core.base.markdown import BY_HAND
from core.base.marks import for_prompt
from core.base.project import GLOBAL, slug
from core.base.result import KnowledgeError
from core.base.secrets.redact import redact
from core.commands.bullets import notes, tasks_by_date
from core.commands.context import ContextPrefix, context
from core.commands.conversations import ConversationFilters, ConversationHit, read
from core.commands.conversations import find as find_conversations
from core.commands.facts import bootstrap, list_facts
from core.commands.library.ingest import is_address, library_ingest, names_private_host
from core.commands.library.use import SECRETS_REPLACED, library_record, library_reflect, library_retrieve
from core.commands.memories import Memory, Preview, memories_list, newest_first, preview, recall_command, save
from core.commands.project import ALLOWING, EVERY, Scope, scope_of
from core.commands.search import MAX_LIMIT as MAX_HITS
from core.commands.search import remarks, search
from core.commands.statements import Found
from core.commands.text import count
from core.commands.transcript_text import cut
from core.commands.workspace import Workspace, reopened
from core.mcp_server.answers import ChunkDossier, ConversationFound
from core.mcp_server.pages import ANSWER_CHARACTERS, page_of, paged, safe, size_of

MAX_LIMIT, MAX_MEMORIES_LISTED, MAX_BUDGET_TOKENS = 50, 200, 12_000
ALL_MEMORIES = 1_000_000
MEMORY_CHARACTERS, MEMORY_LINES = 4_000, 60
"""What an agent may save: a user must be able to read all of it in the moment in which they are asked."""
SPOKEN_TURN, TOOL_TURN = (9_000, 3_000), (1_200, 800)
"""The characters of the beginning and of the end of a turn: what somebody said, and what a tool gave back."""
WIDTH = 96
_WIDE = re.compile(r" {9,}")


def _text(most: int, description: str, least: int | None = None) -> Any:
    """A text of that many characters, or a list of that many entries, at the most; an agent reads the description."""
    return Field(min_length=least, max_length=most, description=description)


MORE = "another folder, or 'all', is refused unless the user allowed other projects in the settings."
Project = Annotated[str, _text(4096, f"Empty for the project around the server; {MORE}")]
AllProjects = Annotated[
    bool, Field(description="Also conversations of other projects; refused unless the user allowed it in the settings.")
]
Size = Literal["full", "compact", "minimal"]
TaskType = Literal[
    "", "factual_lookup", "implementation_howto", "conceptual_understanding", "opinion_gathering", "decision_support",
    "debugging", "exploratory_research", "creative_inspiration", "other",
]  # fmt: skip
Limit = Annotated[int, Field(ge=1, le=MAX_LIMIT, description="At most this many in this answer.")]
Offset = Annotated[
    int, Field(ge=0, le=1_000_000, description="How many to skip: the next_offset of the page before, 0 for the first.")
]
HitOffset = Annotated[int, Field(ge=0, le=900, description="How many to skip, as next_offset says.")]


# --- saving ----------------------------------------------------------------------------------------------------------


def question(workspace: Workspace, content: str, tags: Sequence[str], project: str) -> str:
    """What the user is asked before a memory is saved: the very text, tags and folder that saving would write.

    What is theirs to decide on stands first and last, the text between them, behind a bar on every line that it cannot
    write itself: a long line goes on behind a broken bar, blank lines and wide gaps are counted instead of shown."""
    asked = _preview(reopened(workspace), content, tags, project)
    where = f"the project {json.dumps(asked.folder, ensure_ascii=False)}" if asked.folder else "all projects"
    about = f"for {where}; tags: {json.dumps(list(asked.tags), ensure_ascii=False) if asked.tags else 'none'}"
    lines = asked.content.split("\n")
    size = f"{len(asked.content):,} characters in {count(len(lines), 'line')}"
    shown = "\n".join(_behind_bars(lines))
    return (
        f"An agent asks to save a memory {about}.\n\nIts text ({size}), each line behind a bar:\n{shown}\n\n"
        f"The text ends here. Save this memory {about}?"
    )


def _behind_bars(lines: Sequence[str]) -> list[str]:
    shown: list[str] = []
    blank = 0
    for line in [*lines, "end"]:
        if not line.strip():
            blank += 1
            continue
        if blank:
            shown.append(f"· {count(blank, 'blank line')}")
            blank = 0
        text = _WIDE.sub(lambda gap: f" ·{len(gap[0])} blanks· ", line.replace("\t", "    "))
        shown += [f"{'┆' if at else '│'} {text[at : at + WIDTH]}" for at in range(0, len(text), WIDTH)]
    return shown[:-1]


def _preview(now: Workspace, content: str, tags: Sequence[str], project: str) -> Preview:
    scope = scope_of(now, project)
    if scope.everything:
        raise KnowledgeError("refused", "name the folder of the project it belongs to, or none for all")
    found = preview(now, content, tags, scope.asked)
    size, lines = len(found.content), found.content.count("\n") + 1
    if size > MEMORY_CHARACTERS or lines > MEMORY_LINES:
        raise KnowledgeError(
            "refused",
            f"this text has {size:,} characters in {lines} lines, and a memory that an agent saves has at most "
            f"{MEMORY_CHARACTERS:,} in {MEMORY_LINES}: save its gist, or ask the user to run 'knowledge save'",
        )
    return found


def save_memory(
    workspace: Workspace, content: str, tags: Sequence[str], project: str, approved: bool = False
) -> dict[str, Any]:
    """Save a memory as an agent's. `approved`: the user was asked, and said yes."""
    now = reopened(workspace)
    _preview(now, content, tags, project)
    source = "agent-approved" if approved else "agent-unapproved"
    saved = save(now, content, tag=tags, project=scope_of(now, project).asked, source=source)
    return safe(now, {**saved.to_json(), "warnings": list(saved.warnings)})


# --- looking ---------------------------------------------------------------------------------------------------------


def recall_memory(
    workspace: Workspace,
    query: Annotated[str, _text(2000, "Words and tags that a memory has; empty for all of them.")] = "",
    max_results: Limit = 5,
    offset: Offset = 0,
    project: Project = "",
) -> dict[str, Any]:
    """Find what the user had saved as a memory, such as how they like things done, by words and tags, with the
    whole texts. search_knowledge looks here too, and everywhere else: use this one when only memories are wanted.
    The newest come first; where no memory has all the words, the best matches do."""
    now = reopened(workspace)
    found = recall_command(now, query, limit=ALL_MEMORIES, project=scope_of(now, project).asked)

    def made(row: Memory) -> dict[str, Any]:
        return {**replace(found, memories=(row,)).tool_result()["results"][0], "scope": row.scope, "source": row.source}

    rows, after = page_of(now, found.memories, made, offset, max_results)
    page = replace(found, memories=found.memories[offset : offset + len(rows)], found=len(found.memories))
    display = page.display
    if len(display) + sum(map(size_of, rows)) > ANSWER_CHARACTERS:  # where texts are long, their first lines only
        display = "\n".join(page.shown(row, row.summary) for row in page.memories)
    head = {"display": display, "count": len(found.memories), "offset": offset, "next_offset": after}
    return safe(now, {**head, "warnings": list(found.warnings)}) | {"results": rows}


def list_memories(
    workspace: Workspace,
    limit: Annotated[int, Field(ge=1, le=MAX_MEMORIES_LISTED, description="At most this many in this answer.")] = 50,
    offset: Offset = 0,
    project: Project = "",
) -> dict[str, Any]:
    """List saved memories, the newest first, with their ids, dates, tags and first lines: for whoever asks what has
    been saved. To find one, recall_memory is shorter."""
    now = reopened(workspace)
    listed = memories_list(now, project=scope_of(now, project).asked)
    newest = newest_first(listed.memories)  # a long list must not hide what was saved last

    def made(row: Memory) -> dict[str, Any]:
        return dict(replace(listed, memories=(row,)).to_json()["memories"][0])

    rows, after = page_of(now, newest, made, offset, limit, room=ANSWER_CHARACTERS // 2)
    page = replace(listed, memories=tuple(newest[offset : offset + len(rows)]), found=len(newest))
    head = {"display": page.display, "count": len(newest), "offset": offset, "next_offset": after}
    return safe(now, {**head, "warnings": list(listed.warnings)}) | {"memories": rows}


def search_knowledge(
    workspace: Workspace,
    query: Annotated[str, _text(2000, "Any text; words in quotation marks are a phrase.", 1)],
    kind: Annotated[
        Literal["", "bullet", "note", "memory", "context", "fact", "document"],
        Field(description="Only this kind of entry; empty for all."),
    ] = "",
    since: Annotated[str, _text(10, "Only what is as new as this: YYYY, YYYY-MM or YYYY-MM-DD.")] = "",
    tags: Annotated[list[str] | None, _text(20, "Words of at most 50 characters.")] = None,
    project: Annotated[
        str, _text(4096, f"Empty for the project and what is the user's; its folder for the project alone; {MORE}")
    ] = "",
    limit: Limit = 10,
    offset: HitOffset = 0,
) -> dict[str, Any]:
    """Search everything that earlier conversations taught (facts, decisions with their reasons, playbooks, notes,
    memories), best first. Ask it first when a request leans on something earlier: "again", "as usual", "like the
    others", "why did we", an error that comes back, a convention, a step that was done before; and before a choice
    that may have been made already. Not for general knowledge, nor for what the files at hand say."""
    now = reopened(workspace)
    scope = scope_of(now, project)
    found = search(scope.workspace, query, kind, since, tags or (), limit=_one_more(offset + limit), scope=scope)
    warnings = [*scope.warnings, *found.warnings, *remarks(query, found.hits, [found.nothing])]
    return paged(now, "hits", found.to_json(), dict, offset, limit, warnings=warnings)


def search_conversations(
    workspace: Workspace,
    query: Annotated[
        str, _text(2000, "Any words; in quotation marks a phrase. Empty for the newest conversations that fit.")
    ] = "",
    since: Annotated[str, _text(20, "Only from this day on: YYYY-MM-DD, YYYY-MM, yesterday, monday.")] = "",
    before: Annotated[str, _text(20, "Only before this day.")] = "",
    role: Annotated[
        Literal["", "user", "assistant", "tool"], Field(description="Only what this one said; empty for all.")
    ] = "",
    source: Annotated[str, _text(40, "Only those of this tool, such as claude_code; empty for all.")] = "",
    project: Project = "",
    all_projects: AllProjects = False,
    limit: Limit = 10,
    offset: HitOffset = 0,
) -> dict[str, Any]:
    """Find earlier conversations about this project by what was said in them: when the user speaks of one ("you
    told me on Thursday"), or search_knowledge has not kept the detail, such as the very command or message. One
    row a conversation, with its best turn; read_conversation reads on from there."""
    now = reopened(workspace)
    scope = conversations_told(now, project, all_projects)
    allowed = None if scope.everything else scope.tells_conversation
    wanted = ConversationFilters(sources=(source,) if source else (), since=since, before=before, role=role)
    found = find_conversations(now, query, wanted, _one_more(offset + limit), allowed=allowed)

    def made(hit: ConversationHit) -> dict[str, Any]:
        fields = hit.to_json()
        kept = {key: fields[key] for key in ConversationFound.model_fields if key in fields}
        return kept | {"name": hit.name, "project": hit.folder or None}

    warnings = [*found.warnings, *([found.note] if found.note else []), *remarks(query, found.hits, [found.nothing])]
    return paged(now, "hits", found.hits, made, offset, limit, warnings=warnings)


def _one_more(number: int) -> int:
    """How many hits are looked for: one more than are wanted tells whether there are more."""
    return min(number + 1, MAX_HITS)


def read_conversation(
    workspace: Workspace,
    name: Annotated[str, _text(500, "Its name, as a search tells it.", 1)],
    turn: Annotated[int, Field(ge=1, le=10_000_000, description="The turn to begin with, counted from 1.")] = 1,
    limit: Annotated[int, Field(ge=1, le=MAX_LIMIT, description="At most this many turns in this answer.")] = 20,
    project: Project = "",
    all_projects: AllProjects = False,
) -> dict[str, Any]:
    """Read an earlier conversation about this project, page by page, without its secrets, once a search has named
    it."""
    now = reopened(workspace)
    told = conversations_told(now, project, all_projects)
    found = read(now, name, turn, limit, allowed=told.tells_conversation)  # all conversations are not all files

    def made(row: Any) -> dict[str, Any]:
        text = cut(row.text, *(TOOL_TURN if row.role in ("tool", "system") else SPOKEN_TURN))
        taught = [f"{item.category}: {item.text}" for item in row.items]
        left = max(0, len(row.text) - len(text))
        fields = {"number": row.number, "role": row.role, "time": row.time or None}
        return {**fields, "text": text, "left_out": left, "taught": taught}

    rows, _ = page_of(now, found.turns, made, 0, limit)
    after = turn + len(rows)
    warnings = [f"this is a part: ask again with turn {after} for what comes next"] if after <= found.count else []
    head = {
        "name": found.name, "title": found.title or None, "tool": found.tool, "date": found.day or None,
        "project": found.folder or None, "branch": found.branch or None, "count": found.count,
        "end": found.end or None, "next_turn": after if after <= found.count else None,
        "warnings": [*warnings, *found.warnings],
    }  # fmt: skip
    return safe(now, head) | {"turns": rows}


def conversations_told(now: Workspace, project: str = "", all_projects: bool = False) -> Scope:
    """Which conversations may be told: those of the project in which the server was started, and all others only where
    the user said so."""
    if not now.config.search_conversations:
        message = "the user has switched the search of conversations off (search_conversations = false)"
        raise KnowledgeError("refused", message)
    return scope_of(now, project, all_projects=all_projects or not scope_of(now).folder)


def get_facts(
    workspace: Workspace,
    domains: Annotated[list[str] | None, _text(20, "Names of repositories; without them, that of the project.")] = None,
    budget: Annotated[
        int, Field(ge=0, le=MAX_BUDGET_TOKENS, description="How many tokens the text may have, four bytes each.")
    ] = 2000,
    project: Project = "",
) -> dict[str, Any]:
    """The facts worth knowing about a repository, one a line: pitfalls first, the surest first. Ask it before a
    larger task there; for one question, search_knowledge is shorter."""
    now = reopened(workspace)
    scope = scope_of(now, project)
    own = [name for name in scope.domains if name != GLOBAL]
    if scope.everything:
        own = sorted({fact.domain for fact in list_facts(now).facts})
    wanted = [name if name in scope.domains else slug(name) for name in domains or own or [GLOBAL]]
    if not (now.config.mcp_all_conversations or set(wanted) <= set(scope.domains)):
        raise KnowledgeError("refused", f"facts of other projects are not told to agents; {ALLOWING}")
    chosen = bootstrap(now, wanted, budget=budget)
    # The budget is that of the text: the same facts with all their fields are four times as long.
    return safe(now, {name: getattr(chosen, name) for name in ("text", "tokens", "left_out", "domains")})


def get_context(workspace: Workspace, project: Project = "") -> dict[str, Any]:
    """What a new conversation starts with: context files and the digest of all knowledge. Ask it once, at the
    start, where your conversation did not begin with such a text."""
    now = reopened(workspace)
    found = _context(now, project)
    text = found.prefix.text  # it has been through the gate, and has marks of ours around it
    return safe(now, {"bytes": len(text.encode()), "warnings": list(found.warnings)}) | {"text": text}


def digest_text(workspace: Workspace) -> str:
    """The digest as a new conversation here gets it, "" when it gets none."""
    now = reopened(workspace)
    return for_prompt(_context(now).prefix.digest.text, secrets=now.config.redact, origins=True)


def _context(now: Workspace, project: str = "") -> ContextPrefix:
    scope = scope_of(now, project)
    return context(now, scope.asked, users_only=not (scope.folder or now.config.mcp_all_conversations))


def get_file_notes(
    workspace: Workspace,
    path: Annotated[str, _text(4096, "The source file, absolute or from the project.", 1)],
    project: Project = "",
    limit: Limit = 20,
    offset: Offset = 0,
) -> dict[str, Any]:
    """What earlier conversations taught about one source file, also when it was called otherwise then. Ask it
    before you change what a file does or say why it is as it is; not for a typo, a name or its format."""
    now = reopened(workspace)
    scope = scope_of(now, project)
    found = notes(now, path, scope.asked)
    if not scope.tells_file(found.path):
        raise KnowledgeError("refused", f"this file is neither of this project nor there and of none; {ALLOWING}")
    valid = [row for row in found.bullets if not row.bullet.struck]
    told = [row for row in valid if row.category == "files" or scope.tells(row.bullet)]
    return paged(
        now, "notes", told, partial(_row, scope), offset, limit, path=found.path, warnings=list(scope.warnings)
    )


def list_tasks(
    workspace: Workspace,
    state: Annotated[Literal["open", "done"], Field(description="Those still open, or those done.")] = "open",
    project: Project = "",
    limit: Limit = 20,
    offset: Offset = 0,
) -> dict[str, Any]:
    """The tasks that came up in earlier conversations about a project and are open, or done; the newest first: for
    who asks what is left to do, or where the work stopped."""
    now = reopened(workspace)
    scope = scope_of(now, project)
    everywhere = tasks_by_date(now, state)

    def told(row: Found) -> bool:
        made = row.bullet.provenance
        by_hand = made is None or made.source == BY_HAND
        return by_hand or (scope.is_own(row.bullet) if scope.folder else scope.tells(row.bullet))

    def named(row: tuple[Found, str]) -> dict[str, Any]:
        return _row(scope, row[0]) | {"project": row[1] if scope.everything or scope.is_own(row[0].bullet) else ""}

    tasks = [row for row in everywhere if scope.everything or told(row[0])]
    where = EVERY if scope.everything else scope.folder
    head = {"state": state, "project": where, "elsewhere": len(everywhere) - len(tasks)}
    return paged(now, "tasks", tasks, named, offset, limit, warnings=list(scope.warnings), **head)


def _row(scope: Scope, row: Found) -> dict[str, Any]:
    return {
        "text": row.bullet.text,
        "provenance": str(scope.as_told(row.bullet).provenance or ""),
        "details": [line.strip() for line in row.bullet.more],
    }


# --- the library ------------------------------------------------------------------------------------------------------

MAX_PATHS, MAX_PATH_CHARACTERS = 100, 1000
LISTED = 50


def retrieve(
    workspace: Workspace,
    query: Annotated[str, _text(4000, "The question or task, in any words.", 1)],
    task_type: Annotated[TaskType, Field(description="What it is for; empty to have it told from the question.")] = "",
    limit: Limit = 8,
    session: Annotated[str, _text(200, "Any name for the work that you are at.")] = "",
    size: Annotated[Size, Field(description="How much of each dossier.")] = "compact",
) -> dict[str, Any]:
    """Find pieces of the user's documents (papers, articles, manuals that they took into their library; not the
    project's own files), each with a dossier: what it was good and bad for, and why. No piece
    is reliable or unreliable: weigh its history for your kind of task. Afterwards say with record_usage how it
    went. That this was asked, and what was found, is written down in the library: questions without an answer are
    its gaps."""
    here = reopened(workspace)
    scope = scope_of(here)
    found = library_retrieve(here, query, task_type, limit, session=session, size=size, scope=scope)
    rows = [{key: row[key] for key in ChunkDossier.model_fields} for row in found.to_json()]
    shown, after = page_of(here, rows, dict, 0, limit * 2)
    warnings = [*scope.warnings, *found.warnings]
    if after is not None:
        warnings.append(f"{len(rows) - after} more did not fit into this answer")
    head = {"retrieval": found.retrieved.id, "task_type": found.retrieved.task_type, "warnings": warnings}
    return safe(here, head) | {"results": shown}


def record_usage(
    workspace: Workspace,
    chunks: Annotated[list[str], _text(100, "The keys of the chunks, from retrieve.", 1)],
    outcome: Annotated[
        Literal["win", "partial", "miss", "misleading"],
        Field(description="win: it helped; partial: not enough; miss: not about it; misleading: it led astray."),
    ],
    notes: Annotated[str, _text(4000, "Why. This is what is learned from most.")] = "",
    task_type: Annotated[TaskType, Field(description="What it was for.")] = "",
    retrieval: Annotated[str, _text(36, "The id that retrieve gave.")] = "",
    session: Annotated[str, _text(200, "The name that retrieve was given.")] = "",
    context: Annotated[str, _text(4000, "What you were doing.")] = "",
    query: Annotated[str, _text(4000, "The question; empty for that of the retrieval.")] = "",
) -> dict[str, Any]:
    """Say how chunks from retrieve served, and why: one call for those that helped, one for those that did not."""
    here = reopened(workspace)
    done = library_record(
        here, session, chunks, task_type, outcome, context, query, notes, retrieval=retrieval, scope=scope_of(here)
    )
    (one,) = done.traces
    told = {"trace": one.id, "task_type": one.task_type, "outcome": one.outcome, "chunks": one.chunk_ids}
    return safe(here, {"warnings": list(done.warnings), **told})


def ingest(workspace: Workspace, paths: Sequence[str], content_type: str = "") -> dict[str, Any]:
    """Take documents into the library, as the user approved."""
    if len(paths) > MAX_PATHS:
        raise KnowledgeError("refused", f"at most {MAX_PATHS} paths at once: name their folder instead")
    here = reopened(workspace)
    private = [path for path in paths if names_private_host(path)]
    if private:
        why = "an agent may not have addresses of this computer or its network fetched"
        raise KnowledgeError("refused-address", why, private[0], "ask the user to do it")
    scope = scope_of(here)
    _refuse_foreign(here, scope, paths)
    done = library_ingest(here, list(paths), content_type)
    told = [row for row in done.documents if is_address(row.source) or scope.tells_file(row.source)]
    rows = [row.to_json() for row in told[:LISTED]]
    may_tell = [one for one in done.errors if not one.path or is_address(one.path) or scope.tells_file(one.path)]
    problems = [str(error) for error in may_tell]
    head = {"count": len(told), "documents": rows, "unchanged": done.unchanged}
    masked = [SECRETS_REPLACED.format(count(done.redacted.total(), "secret"))] if done.redacted else []
    return safe(here, head | {"warnings": [*problems, *done.warnings, *masked]})


def ingest_question(workspace: Workspace, paths: Sequence[str]) -> str:
    """What the user is asked before an agent fills their library: each path in full, and where a link leads."""
    if len(paths) > MAX_PATHS or any(len(path) > MAX_PATH_CHARACTERS for path in paths):
        message = f"at most {MAX_PATHS} paths of {MAX_PATH_CHARACTERS:,} characters at once: name their folder instead"
        raise KnowledgeError("refused", message)
    now = reopened(workspace)
    _refuse_foreign(now, scope_of(now), paths)
    shown = "\n".join(f"│ {redact(_place(workspace, path)).text!r}" for path in paths)
    return f"An agent asks to take these into your library of documents:\n{shown}\n\nThe list ends here. Take them in?"


def _refuse_foreign(now: Workspace, scope: Scope, paths: Sequence[str]) -> None:
    """An agent takes in what is its project's, and what is of none."""
    for path in paths:
        place = _place(now, path)
        if not is_address(place) and os.path.lexists(place) and not scope.tells_folder(place):
            why = "this belongs to another project, to all of them, or is kept by this program"
            raise KnowledgeError("other-project", why, place, ALLOWING)


def _place(workspace: Workspace, path: str) -> str:
    """The file or address that a path names in the end."""
    if is_address(path):
        return path
    try:
        return os.path.realpath(workspace.cwd / os.path.expanduser(path))
    except (OSError, ValueError):
        return path


def reflect(
    workspace: Workspace,
    scope: Annotated[
        Literal["all", "tasks", "sources", "gaps", "retire", "connections"],
        Field(description="Which questions: tasks served well or badly, sources, gaps, chunks to retire, …"),
    ] = "all",
    concept: Annotated[str, _text(200, "Also how this concept evolved.")] = "",
) -> dict[str, Any]:
    """What the library serves well and badly, which sources pull their weight, what is missing: for whoever asks about
    the library itself."""
    here = reopened(workspace)
    return safe(here, {"report": library_reflect(here, scope, concept, within=scope_of(here)).to_json()})
