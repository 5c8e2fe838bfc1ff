"""What stands on the disk, and what a user does then: one row a scenario, each one command of the real program."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import tarfile
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from core.base.entry import statement_key
from core.base.homes import FORMAT, format_of
from core.base.markdown import Bullet
from core.base.result import KnowledgeError, attempt
from core.commands import bullets
from core.commands.quarantine import quarantine_accept
from core.conversations.archived import unpacked
from core.knowledge.bullet_text import BulletRef
from core.knowledge.categories import read_category
from core.knowledge.changes import read_changes
from core.knowledge.earlier import copies
from core.knowledge.file_notes import file_id
from core.knowledge.journal import read_plans
from core.knowledge.lines import key_of as key_of_line
from core.sources.archive import file_of, key_of
from tests.faults.invariants import KNOWLEDGE
from tests.faults.store import Rows, Scenario, Store, look, plain, rich
from tests.harvest_world import FakeModel, sha256
from tests.spoken_home import claude_row

MINE = {
    "facts.md": b"# Facts\n\n- mine, without a line break at the end",
    "tasks.md": b"# Tasks\r\n\r\n## Open\r\n\r\n- buy milk\r\n\r\n## Done\r\n\r\n- slept\r\n",
    "decisions.md": b"words of mine\n\n- and a bullet\n  with more below\n",
}
SHORT, LONG = "User: first talk\n", "User: second talk, longer\n"


def _code(store: Store) -> None:
    (store.folder / "code.py").write_text("pass\n")


def _mine(store: Store, names: Mapping[str, bytes] = MINE) -> None:
    for name, data in names.items():
        store.world.knowledge(name, data)


def _harvested(store: Store, answer: Callable[[Store, int], Rows] = plain) -> str:
    """A run of long ago; its id."""
    return store.world.run(FakeModel(lambda asked, prompt: answer(store, asked))).run


# --- harvests --------------------------------------------------------------------------------------------------------


def _first(store: Store) -> None:
    _code(store)
    store.world.converse(SHORT)


def _edited(store: Store) -> None:
    _code(store)
    _mine(store)
    store.world.converse(SHORT)
    store.world.converse(LONG)


def _tasks(store: Store) -> None:
    _mine(store, {"tasks.md": MINE["tasks.md"]})
    store.world.converse(SHORT)


def _only_tasks(store: Store, number: int) -> Rows:
    return {"tasks_open": [f"Write part {number}"], "tasks_done": [f"Read part {number}"]}


def _twice(store: Store) -> None:
    _mine(store)
    store.world.converse(SHORT)
    _harvested(store)
    for text in (SHORT, LONG, LONG):
        store.world.converse(text)


def _grown(store: Store) -> None:
    """Harvested long ago with two open tasks, and it went on since: one task is done, in the same words, one goes."""
    _mine(store)
    path = store.world.converse(_row("user", "about the first talk"))
    store.world.limits(reclaim="never")
    _harvested(store, lambda *_: {"tasks_open": ["Write the first talk", "Read the first talk"]})
    store.world.limits(reclaim="model")
    store.memory["open"] = [line for line in store.world.bullets() if "the first talk" in line]
    store.world.converse(_row("user", "about the first talk") + _row("assistant", "the first talk"), path.name)


def _row(role: str, text: str) -> str:
    """One turn with a time: a day that came from the file would differ after a power cut."""
    row = {"type": role, "uuid": role, "parentUuid": None, "sessionId": "s", "timestamp": "2026-06-12T10:00:00Z"}
    return json.dumps({**row, "message": {"role": role, "content": text}}) + "\n"


def _settling(_store: Store, number: int) -> Rows:
    done = [{"statement": "Write the first talk"}, {"statement": f"It was read {number}", "finishes": "k1"}]
    return {"tasks_done": [*done, {"statement": f"It was read once more {number}", "finishes": "k2"}]}


def _open_before(store: Store) -> set[str]:
    return set(store.memory["open"])


def _still_open(store: Store) -> list[str]:
    """What no proven plan says goes may stay: a run that could not read the file showed its model no open tasks."""
    paths = store.world.paths
    opened = [bullet.raw for bullet in read_category(paths, "tasks_open")]
    plans = [plan for path in paths.plans.iterdir() for plan in read_plans(paths.plans, path.stem).values()]
    goes = {line for plan in plans for lines in plan.goes.values() for line in lines}
    return [f"it is settled and stands under Open: {line}" for line in opened if line in goes]


def _stayed(store: Store) -> None:
    """Harvested long ago, two of them of one content; now they may go, together."""
    _mine(store)
    for text in (SHORT, LONG, SHORT):
        store.world.converse(text)
    store.world.limits(reclaim="never")
    _harvested(store)
    store.world.limits(reclaim="model")


def _by_rules_before(store: Store) -> None:
    """Harvested offline long ago, so it stayed; now a model harvests it again."""
    store.world.converse("User: We decided to use SQLite because there is one writer.\n\nAssistant: Noted.\n")
    store.world.run(None)


def _garbage_ledger(store: Store) -> None:
    store.world.converse(SHORT)
    _harvested(store)
    store.world.converse(LONG)
    store.world.paths.ledger.write_bytes(b'{"entries": {"torn')


def _held(store: Store, number: int) -> Rows:
    """One item whose quote stands nowhere: it must wait in the quarantine."""
    return {"facts": [{"statement": f"Held {number}", "quote": "nobody ever said anything like it at all"}]}


# --- what several conversations say ----------------------------------------------------------------------------------

SAYINGS = ("The cache port is 6379", "the cache PORT is `6379`.", "Cache port is 6379")
MANUALS = ("Write the manual", "write manual!", "WRITE the manual.")


def _same(store: Store, number: int) -> Rows:
    """Two things that everybody says, in other letters, one that the user has written, and one that is new."""
    return {
        "facts": [SAYINGS[number % 3], f"Fact {number} about the cache"],
        "decisions": ["And a bullet!"],
        "tasks_open": [MANUALS[number % 3]],
        "files": [{"path": str(store.folder / "code.py"), "note": f"{'it' if number % 2 else 'It'} is cached."}],
    }


def _three_talks(store: Store) -> None:
    for text in (SHORT, LONG, "User: third talk, in which nothing else is said\n"):
        store.world.converse(text)


def _said_together(store: Store) -> None:
    _code(store)
    _mine(store)
    _three_talks(store)


def _said_before(store: Store) -> None:
    """Said long ago, and the user wrote on: one line has lost its source, another got details."""
    _code(store)
    _mine(store)
    store.world.converse("User: zeroth talk\n")
    _harvested(store, _same)
    tasks, facts = (store.world.paths.knowledge / name for name in ("tasks.md", "facts.md"))
    tasks.write_bytes(re.sub(rb"- write manual! \[from: .*\]", b"- write MANUAL", tasks.read_bytes()))
    facts.write_bytes(facts.read_bytes() + b"  below it by hand\n- last of all")
    _three_talks(store)


def _said_by_two(store: Store) -> None:
    _code(store)
    _mine(store)
    for text in (SHORT, LONG):
        store.world.converse(text)
        run = _harvested(store, _same)
        store.memory.setdefault("run", run)


def _handed_over(store: Store) -> list[str]:
    """What the other conversation says stands once, and nothing of the run that was undone."""
    mine = _of_run(store)
    lines = store.world.bullets()
    wrong = [f"a line of the run is left: {line}" for line in lines if line in mine]
    number = sum(statement_key(SAYINGS[0]) == key_of_line(line) for line in lines)
    return wrong + ([f"the statement stands {number} times"] if number != 1 else [])


def _earlier(store: Store) -> None:
    """A store that an earlier version left: edited, harvested long ago, and one more conversation waits."""
    _bulleted(store)
    store.world.converse(SHORT)
    _harvested(store)
    store.world.converse(LONG)
    store.world.paths.format.write_text(f"{FORMAT - 1}\n")
    shutil.rmtree(
        store.world.paths.backups
    )  # made when what the user had written before the first run was carried over


def _is_copied(store: Store) -> list[str]:
    """Before anything else was written a whole copy of the store was made, and what it holds is what stood there."""
    world, wanted = store.world, {}
    for name, data in store.mine.items():
        if name.startswith(KNOWLEDGE) and not name.endswith("lock"):
            wanted[name.removeprefix(KNOWLEDGE)] = data
    held = []
    for copy in copies(world.paths):
        with tarfile.open(copy) as archive:
            rows = {row.name: archive.extractfile(row) for row in archive if row.isfile()}
            held.append({name: row.read() for name, row in rows.items() if row is not None})
    wrong = [] if held and all(rows == wanted for rows in held) else [f"{len(held)} copies, not one as it was"]
    return wrong + ([] if format_of(world.paths) == FORMAT else ["the store was not carried over"])


# --- notes on files --------------------------------------------------------------------------------------------------


def _notes(store: Store) -> None:
    """Two files with notes; one was saved by rename since, on the inode of the other stands a stranger (`adapt`)."""
    for name in ("code.py", "other.py"):
        (store.folder / name).write_text(f"{name}\n")
    store.world.converse(SHORT)
    _harvested(store, _two_notes)
    store.world.converse(LONG)


def _two_notes(store: Store, number: int) -> Rows:
    names = ("code.py", "other.py")
    return {"files": [{"path": str(store.folder / name), "note": f"note {number} on {name}"} for name in names]}


def _strange_inode(store: Store) -> None:
    """The note of other.py gets the inode of code.py as its name, with another birth: it belongs to a file that is
    gone. All files have new inodes here anyway, as after an editor's save by rename."""
    world = store.world
    records: dict[str, Any] = json.loads(world.paths.file_ids.read_bytes())
    old = next(name for name, row in records.items() if row["path"].endswith("other.py"))
    found = os.stat(store.folder / "code.py")
    new = f"{file_id(found.st_dev, found.st_ino)}.md"
    records[new] = {**records.pop(old), "birth": 1, "path": str(store.folder / "gone.py")}
    (world.paths.file_notes / old).rename(world.paths.file_notes / new)
    world.paths.file_ids.write_text(json.dumps(records, indent=1, sort_keys=True) + "\n")


# --- what goes for good ----------------------------------------------------------------------------------------------


def _in_trash(store: Store) -> None:
    """Two conversations past their grace period, and one more to harvest."""
    _mine(store)
    store.world.converse(SHORT)
    store.world.converse(LONG)
    _harvested(store)


def _splits(store: Store) -> None:
    """A folder of cut-up copies whose source is gone."""
    folder = store.world.paths.splits / "big"
    (folder / "more").mkdir(parents=True)
    store.world.paths.knowledge.mkdir(parents=True)
    (folder / "index.json").write_text(json.dumps({"source_path": str(store.folder / "gone.txt")}))
    for name in ("0001.txt", "0002.txt", "more/0003.txt"):
        (folder / name).write_text("cut\n")


def _split_is_gone(store: Store) -> list[str]:
    left = [str(path) for path in store.world.paths.splits.rglob("*")]
    return [f"the split was not removed: {left}"] if left else []


def _purged(store: Store) -> list[str]:
    left = store.world.trash()
    return [f"the trash was not purged: {left}"] if left else []


# --- back ------------------------------------------------------------------------------------------------------------


def _to_undo(store: Store) -> None:
    """A harvest into files that the user had, and that they wrote to since."""
    _mine(store)
    _code(store)
    store.world.converse(SHORT)
    store.world.converse(LONG)
    store.memory["run"] = _harvested(store, rich)
    facts = store.world.paths.knowledge / "facts.md"
    facts.write_bytes(facts.read_bytes() + b"- written since\n")


def _of_run(store: Store) -> set[str]:
    return {line for row in read_changes(store.world.paths) if row.run == store.memory["run"] for line in row.added}


def _undone(store: Store) -> list[str]:
    """After an undo that was cut and run again nothing of the run is left."""
    run, wrong = store.memory["run"], []
    left = [line for line in store.world.bullets() if "[from: talk-" in line]
    wrong += [f"a line of the run is left: {line}" for line in left]
    entries = store.world.entries().items()
    wrong += [f"the ledger still knows {sha[:8]}" for sha, entry in entries if entry["status"] != "undone"]
    wrong += ["its plans are kept"] if (store.world.paths.plans / f"{run}.jsonl").exists() else []
    wrong += [f"{len(store.standing())} conversations are back"] if len(store.standing()) != 2 else []
    return wrong


def _restore(store: Store) -> int:
    return store.command("trash", "restore", sha256(SHORT))


def _is_back(store: Store) -> list[str]:
    back = [path for path in store.standing() if path.read_bytes() == SHORT.encode()]
    return [] if len(back) == 1 else ["the conversation is not back in its place"]


# --- a user's own edits, as the panel makes them -------------------------------------------------------------------

OLD_WORDS, NEW_WORDS = "the port is 8080", "the port is 8081"


def _bulleted(store: Store) -> None:
    _mine(store, {"tasks.md": MINE["tasks.md"], "facts.md": f"# Facts\n\n- one\n- {OLD_WORDS}\n- two\n".encode()})
    store.world.paths.conversations.mkdir(parents=True)
    store.world.run(FakeModel())
    store.memory["port"] = _ref(store, "facts", OLD_WORDS)
    store.memory["milk"] = _ref(store, "tasks_open", "buy milk")


def _exit(act: Callable[..., Any], *arguments: Any, **named: Any) -> int:
    """As the panel tells it: the sentence, and whether it failed."""
    result = attempt(act, *arguments, **named)
    sentence = str(result.error) if isinstance(result, KnowledgeError) else getattr(result.value, "warning", "")
    if sentence:
        print(f"knowledge: {sentence.rstrip('.')}.")
    return 1 if sentence else 0


def _ref(store: Store, category: str, text: str) -> tuple[BulletRef, str]:
    """A bullet as the panel has seen it, with the sha256 of its file."""
    name = "tasks.md" if category.startswith("tasks") else f"{category}.md"
    found: Bullet = next(row for row in read_category(store.world.paths, category) if text in row.text)
    data = (store.world.paths.knowledge / name).read_bytes()
    return BulletRef(name, found.line, found.raw), hashlib.sha256(data).hexdigest()


def _edit(store: Store) -> int:
    ref, seen = store.memory["port"]
    return _exit(bullets.edit, store.workspace(), "facts", ref, NEW_WORDS, seen=seen)


def _edit_and_harvest(store: Store) -> int:
    return _edit(store) or store.harvest()


def _done(store: Store) -> int:
    ref, seen = store.memory["milk"]
    return _exit(bullets.done, store.workspace(), ref, seen=seen)


def _add(store: Store) -> int:
    return _exit(bullets.add, store.workspace(), "decisions", "by hand")


def _edit_is_whole(store: Store) -> list[str]:
    found = [words for words in (OLD_WORDS, NEW_WORDS) if f"- {words}\n" in store.world.text("facts.md")]
    told = {line for row in read_changes(store.world.paths) for line in row.added}
    if found == [NEW_WORDS] and f"- {NEW_WORDS}" not in told:
        return ["undo does not know of the edit that was made"]
    return [] if len(found) == 1 else [f"the edited bullet stands there as {found}"]


def _one_milk(store: Store) -> list[str]:
    number = store.world.text("tasks.md").count("- buy milk")
    return [] if number == 1 else [f"the task stands there {number} times"]


def _to_accept(store: Store) -> None:
    _mine(store)
    store.world.converse(SHORT)
    _harvested(store, _held)
    text = store.world.text("quarantine.md")
    raw = next(line for line in text.split("\n") if line.startswith("- "))
    ref = BulletRef("quarantine.md", text.split("\n").index(raw) + 1, raw)
    store.memory["held"] = ref, hashlib.sha256(text.encode()).hexdigest()


def _accept(store: Store) -> int:
    ref, seen = store.memory["held"]
    return _exit(quarantine_accept, store.workspace(), ref, seen=seen)


def _held_lines(store: Store) -> set[str]:
    return {line for line in store.world.text("quarantine.md").split("\n") if line.startswith("- ")}


def _item_is_somewhere(store: Store) -> list[str]:
    told = store.world.text("quarantine.md") + store.world.text("facts.md")
    return [] if re.search(r"- (?:.*: )?Held 1 (?:\(quote: .*\) )?\[from: ", told) else ["the held item is gone"]


def _undo(store: Store) -> int:
    return store.command("undo", store.memory["run"])


# --- for good --------------------------------------------------------------------------------------------------------

PURGED = "The zyzzogeton pump listens on port 8080"


def _said_twice(_store: Store, number: int) -> Rows:
    return {
        "facts": [PURGED if number == 1 else f"Fact {number} about the cache"],
        "tasks_open": [f"Write part {number}"],
    }


def _to_purge(store: Store) -> None:
    """Harvested long ago, nothing of it in the trash, and the user wrote below it since."""
    store.world.options = replace(store.world.options, trash_days=0)
    for text in (SHORT, LONG):
        store.world.converse(text)
    _harvested(store, _said_twice)
    facts = store.world.paths.knowledge / "facts.md"
    facts.write_bytes(facts.read_bytes() + b"- written since\n")
    said = next(line for line in store.world.bullets() if PURGED in line)
    store.memory["name"] = said.rpartition("[from: ")[2].partition(",")[0]
    store.memory["lines"] = {line for line in store.world.bullets() if store.memory["name"] in line}


def _rm_forever(store: Store) -> int:
    return store.command("rm", "facts", PURGED, "--forever", "--yes")


def _forget(store: Store) -> int:
    return store.command("forget", store.memory["name"], "--yes")


def _forget_marked(store: Store) -> int:
    return store.command("forget", store.memory["name"], "--strike")


def _nowhere(store: Store) -> list[str]:
    """No byte of it is left below the home or in the cache."""
    found = [path for path, data in look(store.folder).items() if b"zyzzogeton" in data.lower()]
    left = [".state/purging"] if (store.world.paths.state / "purging").exists() else []
    return [f"it is still in {path}" for path in (*found, *left)]


def _line_of_purged(store: Store) -> set[str]:
    return {line for line in store.memory["lines"] if PURGED in line}


def _is_marked(store: Store) -> list[str]:
    wrong = [] if f"- ~~{PURGED}~~" in store.world.text("facts.md") else ["its line is not struck through"]
    status = {entry["status"] for entry in store.world.entries().values()}
    return wrong + ([] if "forgotten" in status else ["the ledger does not know"])


# --- the archive -----------------------------------------------------------------------------------------------------

SESSIONS = ("grown", "new")


def _session(store: Store, name: str, *words: str) -> None:
    """A session of Claude Code that it will delete within days."""
    rows = [claude_row("user", said, f"2026-05-04T10:0{at}:00.000Z", "", name) for at, said in enumerate(words)]
    path = store.folder / f"claude/projects/p/{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(rows))
    then = time.time() - 25 * 86_400 + len(words)
    os.utime(path, (then, then))


def _to_keep(store: Store) -> None:
    """One session that was kept and went on, one that was not kept yet; the rules read both."""
    with (store.folder / "config.toml").open("a") as settings:
        settings.write('archive = "all"\nsources = ["home", "claude_code"]\nfact_index = false\n')
    store.world.converse(SHORT)
    _session(store, "grown", f"the first words; {PURGED}.")
    assert store.harvest() == 0
    _session(store, "grown", f"the first words; {PURGED}.", "the last words")
    _session(store, "new", "all the words")


def _to_keep_whole(store: Store) -> None:
    _to_keep(store)
    assert store.harvest() == store.command("add", "facts", PURGED) == 0
    store.memory["lines"] = set(store.world.bullets())


def _copies(store: Store) -> dict[str, bytes]:
    """What is in the archive, by the names of the sessions; b"" for a file that is damaged."""
    found = {}
    for row in store.world.entries().values():
        if row["status"] == "archived" and row["path"].endswith(".jsonl"):
            file = file_of(store.world.paths.archive, key_of(row["path"], row["source"]))
            with suppress(FileNotFoundError):
                found[row["name"].rpartition("/")[2]] = unpacked(file.read_bytes())
    return found


def _is_kept(store: Store) -> list[str]:
    copies = _copies(store)
    wrong = [f"{name} is not in the archive" for name in SESSIONS if name not in copies]
    wrong += ["the copy is not whole"] if b"the last words" not in copies.get("grown", b"the last words") else []
    names = {
        file_of(store.world.paths.archive, key).name for key in store.world.entries() if key.startswith("archive:")
    }
    wrong += [
        f"left over: {path.name}"
        for path in store.world.paths.archive.glob("*")
        if path.name not in names | {".gitignore"}
    ]
    return wrong


def _tool_deletes(store: Store) -> int:
    """What was kept once is there whatever happened since; the new one may not have been reached."""
    (store.folder / "claude/projects/p/grown.jsonl").unlink()
    return 0


def _was_kept(store: Store) -> list[str]:
    return [] if b"the first words" in _copies(store).get("grown", b"") else ["what was kept before is lost"]


def _archive_purged(store: Store) -> list[str]:
    copies = _copies(store)
    held = [name for name, data in copies.items() if b"zyzzogeton" in data]
    # Its own file is its tool's.
    return [f"it is still in the copy of {name}" for name in held] + ["the rest is lost"] * ("grown" not in copies)


def _let_go(store: Store) -> int:
    return store.command("archive", "remove", "all", "--yes")


def _is_let_go(store: Store) -> list[str]:
    left = [path.name for path in store.world.paths.archive.glob("*.zst")]
    return [f"still there: {name}" for name in left] if not _copies(store) or left else []


SCENARIOS = (
    Scenario("first run", _first, Store.harvest),
    Scenario("edited files", _edited, Store.harvest),
    Scenario("tasks", _tasks, Store.harvest, answer=_only_tasks),
    Scenario("twice", _twice, Store.harvest, answer=plain),
    Scenario("settled", _grown, Store.harvest, answer=_settling, may_go=_open_before, wrong=_still_open),
    Scenario("moved together", _stayed, Store.harvest, answer=plain),
    Scenario("after the rules", _by_rules_before, Store.harvest, answer=plain),
    Scenario("damaged ledger", _garbage_ledger, Store.harvest, answer=plain),
    Scenario("notes", _notes, Store.harvest, answer=_two_notes, adapt=_strange_inode),
    Scenario("quarantine", _first, Store.harvest, answer=_held),
    Scenario("purge in a run", _in_trash, Store.harvest, wrong=_purged),
    Scenario("trash purge", _in_trash, lambda store: store.command("trash", "purge"), wrong=_purged),
    Scenario("prune", _splits, Store.harvest, wrong=_split_is_gone),
    Scenario("undo", _to_undo, _undo, again=_undo, drained=False, may_go=_of_run, wrong_then=_undone),
    Scenario("undo, then harvest", _to_undo, _undo, drained=False, may_go=_of_run),
    Scenario("said together", _said_together, Store.harvest, answer=_same),
    Scenario("said before", _said_before, Store.harvest, answer=_same),
    Scenario(
        "undo of two", _said_by_two, _undo, _same, again=_undo, drained=False, may_go=_of_run, wrong_then=_handed_over
    ),
    Scenario("restore", _in_trash, _restore, again=_restore, drained=False, wrong_then=_is_back),
    Scenario("edit", _bulleted, _edit, may_go=lambda _: {f"- {OLD_WORDS}"}, wrong=_edit_is_whole),
    Scenario(
        "edit, then harvest", _bulleted, _edit_and_harvest, may_go=lambda _: {f"- {OLD_WORDS}"}, wrong=_edit_is_whole
    ),
    Scenario("done", _bulleted, _done, may_go=lambda _: {"- buy milk"}, wrong=_one_milk),
    Scenario("add", _bulleted, _add),
    Scenario("carried over", _earlier, Store.harvest, answer=plain, wrong=_is_copied),
    Scenario("carried over by an edit", _earlier, _add, answer=plain, wrong=_is_copied),
    Scenario("rm for ever", _to_purge, _rm_forever, again=_rm_forever, may_go=_line_of_purged, wrong_then=_nowhere),
    Scenario(
        "forget",
        _to_purge,
        _forget,
        again=_forget,
        drained=False,
        may_go=lambda store: store.memory["lines"],
        wrong_then=_nowhere,
    ),
    Scenario(
        "forget, marked",
        _to_purge,
        _forget_marked,
        again=_forget_marked,
        drained=False,
        may_go=lambda store: store.memory["lines"],
        wrong_then=_is_marked,
    ),
    Scenario("accept", _to_accept, _accept, days=1, may_go=_held_lines, wrong=_item_is_somewhere),
    Scenario("archive", _to_keep, Store.harvest, answer=plain, again=Store.harvest, wrong_then=_is_kept),
    Scenario(
        "archive, then its tool deletes",
        _to_keep,
        Store.harvest,
        answer=plain,
        again=_tool_deletes,
        wrong_then=_was_kept,
    ),
    Scenario(
        "archive purged",
        _to_keep_whole,
        _rm_forever,
        answer=_said_twice,
        again=_rm_forever,
        may_go=_line_of_purged,
        wrong_then=_archive_purged,
    ),
    Scenario("archive removed", _to_keep_whole, _let_go, answer=plain, again=_let_go, wrong=_is_let_go),
)
SCENARIO = {row.name: row for row in SCENARIOS}
