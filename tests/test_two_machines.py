"""One store on two machines, carried by git: what both have learned apart stands there after the merge, and every mark
that git left is told and never taken for text. If these fail, half of what one machine knows is lost or garbled."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from core.base.conflict import both_sides, roles_of, without_marks
from core.commands.bullets import add, done, remove
from core.commands.context import context
from core.commands.doctor import doctor
from core.commands.fact_feed import sync_facts
from core.commands.history.undo import undo
from core.context_files import read_context
from core.knowledge.categories import read_category
from core.knowledge.ledger import read_ledger, salvaged
from core.knowledge.mend import united
from core.memory_file import read_memory
from tests.facts_home import YAML, cli, facts_of, harvested, learn, workspace_of
from tests.harvest_world import HURRIED, World, says
from tests.made_home import error

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
MARKS = ("<<<<<<<", "|||||||", "=======", ">>>>>>>")
STYLES = ("merge", "diff3")


def git(folder: Path, *words: str, fails: bool = False) -> str:
    names = ["-c", "user.name=one", "-c", "user.email=one@example.org", "-c", "commit.gpgsign=false"]
    found = subprocess.run(["git", *names, *words], cwd=folder, capture_output=True, text=True, check=False)
    assert fails or not found.returncode, found.stderr + found.stdout
    return found.stdout


class Machines:
    """Two homes; their knowledge folders are clones of each other, parted after a first harvest."""

    def __init__(self, folder: Path) -> None:
        self.one, self.two = World(folder / "one"), World(folder / "two")
        learn(self.one, facts=["Shared fact"], tasks_open=["Shared task"], tasks_done=["Old task"])
        self.one.knowledge("context.md", "---\nversion: 1\nupdated: 2026-06-12T10:00:00\n---\n\nShared words\n")
        git(self.one.paths.knowledge, "init", "-q", "-b", "main")
        self.commit(self.one)
        self.two.paths.home.mkdir(parents=True)
        git(self.two.paths.home, "clone", "-q", str(self.one.paths.knowledge), "knowledge")

    def commit(self, world: World) -> None:
        git(world.paths.knowledge, "add", "-A")
        git(world.paths.knowledge, "commit", "-q", "-m", "x", "--allow-empty")

    def merge(self, into: str, style: str = "merge") -> World:
        """Commit both sides and merge the other one into `into`; conflicts stay in the files."""
        self.commit(self.one)
        self.commit(self.two)
        mine, other = (self.one, self.two) if into == "one" else (self.two, self.one)
        folder = mine.paths.knowledge
        git(folder, "fetch", "-q", str(other.paths.knowledge), "main")
        git(folder, "-c", f"merge.conflictStyle={style}", "merge", "-q", "FETCH_HEAD", fails=True)
        return mine

    def learn(self) -> None:
        """Each machine harvests a conversation of its own, which the other one has never seen."""
        for world, name in ((self.one, "one"), (self.two, "two")):
            world.converse(f"User: {name}\n")
            said = says(facts=[f"Fact of {name}", f"More of {name}"], tasks_open=[f"Task of {name}"])
            harvested(world, said)


@pytest.fixture
def machines(tmp_path: Path) -> Machines:
    return Machines(tmp_path)


def conflicts(world: World) -> set[str]:
    return set(git(world.paths.knowledge, "diff", "--name-only", "--diff-filter=U").split())


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("into", ["one", "two"])
def test_both_sides_are_read_and_no_mark_is_text(machines: Machines, into: str, style: str) -> None:
    machines.learn()
    world = machines.merge(into, style)
    assert {"facts.md", "tasks.md", "ledger.json", YAML} <= conflicts(world)
    texts = {row.text for row in read_category(world.paths, "facts")}
    assert texts == {"Shared fact", "Fact of one", "More of one", "Fact of two", "More of two"}
    assert {row.text for row in read_category(world.paths, "tasks_open")} == {
        "Shared task", "Task of one", "Task of two",
    }  # fmt: skip
    assert {row.text for row in read_category(world.paths, "tasks_done")} == {"Old task"}
    prompt = context(workspace_of(world)).prefix.text
    assert not any(mark in prompt for mark in MARKS)
    ledger = read_ledger(world.paths)
    assert len({entry["path"] for entry in ledger.values() if entry["status"] == "harvested"}) == 3


@pytest.mark.parametrize("into", ["one", "two"])
def test_the_doctor_names_each_conflict_and_how_to_end_it(machines: Machines, into: str) -> None:
    machines.learn()
    machines.one.knowledge("context.md", "---\nversion: 1\nupdated: 2026-06-12T10:00:00\n---\n\nWords of one\n")
    machines.two.knowledge("context.md", "---\nversion: 1\nupdated: 2026-06-12T10:00:00\n---\n\nWords of two\n")
    world = machines.merge(into)
    code, out, _ = cli(world, "doctor")
    assert code == 1
    for name in ("facts.md", "tasks.md", "context.md", "ledger.json"):
        assert [line for line in out.split("\n") if "a merge conflict begins" in line and name in line], (name, out)
    assert "git mergetool" in out and "--merge-conflicts" in out and f"{YAML}:" in out
    found = read_context("global", world.paths.context)
    assert "Words of one" in found.body and "Words of two" in found.body and "conflict" in found.problems[0]
    assert not any(mark in found.body for mark in MARKS)


def test_both_machines_arrive_at_the_same_files(machines: Machines) -> None:
    """Each merges the other's work into its own, in the other order."""
    machines.learn()
    folders = []
    machines.commit(machines.one)
    machines.commit(machines.two)
    for world, other in ((machines.one, machines.two), (machines.two, machines.one)):
        folder = world.paths.knowledge
        git(folder, "fetch", "-q", str(other.paths.knowledge), "main:theirs")
    for world in (machines.one, machines.two):
        git(world.paths.knowledge, "merge", "-q", "theirs", fails=True)
        assert cli(world, "doctor", "--merge-conflicts")[0] in (0, 1)
        assert "the id stands twice" in cli(world, "facts", "validate")[2]
        code, out, err = cli(world, "facts", "sync")
        assert code == 0 and "numbers that stood twice" in out, err
        folders.append({name: (world.paths.knowledge / name).read_text() for name in ("facts.md", "tasks.md", YAML)})
        ids = {fact.fact: fact.id for fact in facts_of(world)}
        assert len(ids) == len(set(ids.values())) == 5
    assert folders[0] == folders[1]
    assert folders[0]["facts.md"].count("- Shared fact") == 1
    assert not any(mark in text for text in folders[0].values() for mark in MARKS)


def test_ending_conflicts_is_asked_for_and_can_be_taken_back(machines: Machines) -> None:
    machines.learn()
    world = machines.merge("one")
    before = (world.paths.knowledge / "facts.md").read_bytes()
    doctor(workspace_of(world), repair=True, editor_wait=HURRIED)
    assert (world.paths.knowledge / "facts.md").read_bytes() == before, "not without being asked"
    report = doctor(workspace_of(world), merge_conflicts=True, editor_wait=HURRIED)
    ended = [row for row in report.findings if row.code == "merge-ended"]
    assert {Path(row.path).name for row in ended} == {"facts.md", "tasks.md", "facts.yaml"}
    run = ended[0].message.partition("knowledge undo ")[2].partition("'")[0]
    undo(workspace_of(world), run, editor_wait=HURRIED)
    assert (world.paths.knowledge / "facts.md").read_bytes() == before


@pytest.mark.parametrize("style", STYLES)
def test_a_harvest_while_a_conflict_is_open_makes_no_fact_twice(machines: Machines, style: str) -> None:
    """It took the facts of the other machine, which the broken file has, for new ones and wrote them beside it."""
    for world in (machines.one, machines.two):
        doctor(workspace_of(world), repair=True, editor_wait=HURRIED)
        git(world.paths.knowledge, "rm", "-rq", "--cached", ".")
    machines.learn()
    world = machines.merge("one", style)
    assert YAML in conflicts(world)
    world.converse("User: three\n")
    harvested(world, says(facts=["Fact of the day"]))
    cli(world, "doctor", "--merge-conflicts", "--repair")
    cli(world, "facts", "sync")
    said = sorted(fact.fact for fact in facts_of(world))
    assert said == ["Fact of one", "Fact of the day", "Fact of two", "More of one", "More of two", "Shared fact"]


@pytest.mark.parametrize("taken", ["ours", "theirs", "ours, but both in markdown"])
def test_what_is_said_while_a_conflict_is_open_becomes_a_fact_once(machines: Machines, taken: str) -> None:
    """What only the side said that was then dropped counted as a fact that stands: said again, it never was one."""
    for world in (machines.one, machines.two):
        doctor(workspace_of(world), repair=True, editor_wait=HURRIED)
        git(world.paths.knowledge, "rm", "-rq", "--cached", ".")
    machines.learn()
    world = machines.merge("one")
    world.converse("User: three\n")
    report = harvested(world, says(facts=["More of two", "Fact of the day"]))
    assert any("when the conflict has ended" in note for note in report.notes)
    for name in conflicts(world):
        text = world.text(name)
        sides = both_sides(text)
        both = name.endswith(".md") and "both" in taken
        if sides is not None:
            world.knowledge(name, without_marks(text) if both else sides[taken == "theirs"])
    cli(world, "facts", "sync")
    if "both" not in taken:
        world.converse("User: four\n")
        harvested(world, says(facts=["More of two"]))
    said = [fact.fact for fact in facts_of(world)]
    assert said.count("More of two") == said.count("Fact of the day") == 1
    assert len(said) == len(set(said)) and {row.text for row in read_category(world.paths, "facts")} >= set(said)


@pytest.mark.parametrize("style", STYLES)
def test_no_edit_touches_what_stands_in_a_conflict(machines: Machines, style: str) -> None:
    machines.learn()
    world = machines.merge("one", style)
    workspace, tasks = workspace_of(world), world.paths.knowledge / "tasks.md"
    before = tasks.read_bytes()
    for refused in (
        error(done, workspace, "Task of two"),
        error(done, workspace, "Task of one"),
        error(remove, workspace, "facts", "More of two"),
    ):
        assert refused.code == "conflict" and "doctor" in refused.hint
    assert tasks.read_bytes() == before
    add(workspace, "facts", "Added meanwhile")
    assert not learn(world, "User: later\n", facts=["Later"], tasks_open=["Later task"]).errors
    for name in ("facts.md", "tasks.md"):
        text = (world.paths.knowledge / name).read_text()
        lines = text.split("\n")
        inside = [line for line, role in zip(lines, roles_of(lines), strict=True) if role]
        assert not [line for line in inside if "ater" in line or "meanwhile" in line]
        assert sum(line.startswith(MARKS) for line in lines) == (3 if style == "merge" else 4)
    assert "Later task" in {row.text for row in read_category(world.paths, "tasks_open")}


def test_a_ledger_that_merged_keeps_both_machines_and_a_damaged_one_what_can_be_read(machines: Machines) -> None:
    machines.learn()
    world = machines.merge("one")
    both = read_ledger(world.paths)
    assert not learn(world, "User: later\n", facts=["Later"]).errors
    after = read_ledger(world.paths)
    assert set(both) < set(after) and "<<<<<<<" not in world.paths.ledger.read_text()
    other = {"0" * 64: {"path": "/elsewhere/talk", "status": "harvested", "at": "2026-06-01T00:00:00Z", "items": {}}}
    whole = json.loads(world.paths.ledger.read_text())
    whole["entries"] |= other
    text = json.dumps(whole, indent=2, sort_keys=True)
    world.paths.ledger.write_text(text[:-40])
    report = learn(world, "User: last\n", facts=["Last"])
    assert "more entries that could be read" in " ".join(report.notes)
    assert set(after) | set(other) <= set(read_ledger(world.paths))


def test_one_entry_that_both_machines_wrote_keeps_the_proof() -> None:
    sha = "a" * 64
    rows = {
        status: json.dumps({"entries": {sha: {"status": status, "at": at, "path": "/p"} | more}}, indent=2)
        for status, at, more in (
            ("harvested", "2026-06-01", {"restored": ["/mine"], "trash": {"a": "/p"}}),
            ("harvest-failed", "2026-06-02", {"restored": ["/other"], "trash": {"b": "/p"}}),
        )
    }
    text = "<<<<<<< HEAD\n" + rows["harvested"] + "\n=======\n" + rows["harvest-failed"] + "\n>>>>>>> x\n"
    found = salvaged(text.encode())[sha]
    assert found["status"] == "harvested"
    assert found["restored"] == ["/mine", "/other"], "what the user brought back is taken away on neither"
    assert found["trash"] == {"a": "/p", "b": "/p"}


# --- numbers that stand twice ----------------------------------------------------------------------------------------


def test_references_name_both_facts_of_a_number_that_stood_twice(world: World) -> None:
    item = "- id: {}\n  fact: {}\n  confidence: 0.5\n  first_seen: {}\n"
    head = "---\ndomain: global\ncategory: fact\n---\n\n"
    world.knowledge(
        YAML,
        head
        + item.format("global:fact:001", "points", "2026-01-01")
        + "  related: [global:fact:002]\n"
        + item.format("global:fact:002", "younger", "2026-03-01")
        + item.format("global:fact:002", "older", "2026-02-01")
        + item.format("global:fact:002", "older", "2026-02-02"),
    )
    sync_facts(workspace_of(world))
    found = {fact.fact: fact for fact in facts_of(world)}
    assert {name: fact.id for name, fact in found.items()} == {
        "points": "global:fact:001", "older": "global:fact:002", "younger": "global:fact:003",
    }  # fmt: skip
    assert found["points"].related == ("global:fact:002", "global:fact:003")
    assert found["older"].first_seen == "2026-02-01" and world.text(YAML).count("- id") == 3


def test_a_number_that_cannot_be_changed_is_not_told_as_changed(world: World) -> None:
    """A sync that says each time that it was done, and never does it, sends nobody to the file."""
    item = '- {{id: "global:fact:001", fact: "{}", confidence: 0.5, first_seen: "2026-01-01"}}\n'
    text = (
        "---\ndomain: global\ncategory: fact\n---\n\n" + item.format("The sea is wet") + item.format("The sky is blue")
    )
    world.knowledge(YAML, text)
    out = cli(world, "facts", "sync")[1]
    assert f"note: {YAML}: a number stands twice in an item that only a text editor can change\n" in out
    assert "once each" not in out and world.text(YAML) == text


def test_a_fact_that_got_a_number_anew_is_confirmed_and_what_had_it_stays_deleted(machines: Machines) -> None:
    """What one machine remembers of a number must not be taken for another machine's fact."""
    world = machines.two
    machines.learn()
    deleted = {fact.fact: fact.id for fact in facts_of(world)}["More of two"]
    text = world.text(YAML)
    at = text.index(f"- id: {deleted}")
    world.knowledge(YAML, text[:at])
    sync_facts(workspace_of(world))
    machines.merge("two")
    cli(world, "doctor", "--merge-conflicts")
    assert cli(world, "facts", "sync")[0] == 0
    learn(world, "User: again\n", facts=["More of two", "Fact of two", "Fact of one"])
    counts = {fact.fact: fact.source_count for fact in facts_of(world)}
    assert counts == {"Shared fact": 1, "Fact of one": 2, "More of one": 1, "Fact of two": 2}


def test_nothing_is_renumbered_while_a_file_is_broken(world: World) -> None:
    twice = 2 * "- id: global:fact:001\n  fact: {}\n  confidence: 0.5\n".format("one")
    world.knowledge(YAML, twice)
    world.knowledge("global/pitfalls.yaml", b"\0")
    sync_facts(workspace_of(world))
    assert world.text(YAML) == twice


# --- text in, text out -----------------------------------------------------------------------------------------------


def conflict(ours: str, theirs: str, base: str = "") -> str:
    middle = f"||||||| base\n{base}" if base else ""
    return f"<<<<<<< HEAD\n{ours}{middle}=======\n{theirs}>>>>>>> other\n"


def test_an_underlined_heading_is_no_mark() -> None:
    text = "Title\n=======\n\nwords\n"
    assert without_marks(text) == text and both_sides(text) is None


def test_an_ancestor_that_is_never_closed_hides_nothing() -> None:
    assert without_marks("<<<<<<< a\n- one\n||||||| b\n- two\n") == "- one\n- two\n"


def test_a_task_that_one_machine_has_done_is_done() -> None:
    """What the other one wrote below it stays."""
    text = "# Tasks\n\n## Open\n\n" + conflict("- b\n", "- a\n  soon\n- c\n", "- a\n") + "\n## Done\n\n- a\n"
    assert united(text.encode()) == b"# Tasks\n\n## Open\n\n- c\n- b\n\n## Done\n\n- a\n  soon\n"


def test_what_one_machine_has_struck_through_stays_struck() -> None:
    text = "# Facts\n\n" + conflict("- ~~a~~\n  superseded by: b\n- b\n", "- a\n- c\n")
    joined = united(text.encode())
    assert joined is not None and joined.count(b"superseded") == 1
    assert b"- ~~a~~\n" in joined and b"\n- a\n" not in joined and b"- b\n" in joined and b"- c\n" in joined


@pytest.mark.parametrize("text", ["<<<<<<< HEAD\n- a\n", "- a\n>>>>>>> x\n", "- a\n", "\xff"])
def test_what_is_no_whole_conflict_is_left_to_the_person(text: str) -> None:
    assert united(text.encode("latin-1")) is None


def test_both_sides_give_the_same_file_whoever_merges() -> None:
    a, b = "- one [from: x, 2026-01-01]\n", "- two [from: y, 2026-01-02]\n"
    assert united(conflict(a, b).encode()) == united(conflict(b, a).encode()) == (a + b).encode()


# --- what git does to a store ----------------------------------------------------------------------------------------


def test_the_doctor_keeps_what_another_machine_has_harvested(tmp_path: Path) -> None:
    """With the proofs left at home, `--repair` called the other machine's harvests failed."""
    one, two = World(tmp_path / "one"), World(tmp_path / "two")
    learn(one, facts=["Fact of one"])
    one.knowledge(".gitignore", ".state/\n")
    git(one.paths.knowledge, "init", "-q", "-b", "main")
    git(one.paths.knowledge, "add", "-A")
    git(one.paths.knowledge, "commit", "-q", "-m", "x")
    entries = read_ledger(one.paths)
    for entry in entries.values():  # kept there; a folder that is synchronised has it in the same place here
        Path(entry["path"]).write_bytes(next(iter(one.trash())).read_bytes())
    two.paths.home.mkdir(parents=True)
    git(two.paths.home, "clone", "-q", str(one.paths.knowledge), "knowledge")
    two.converse("User: of two\n")
    harvested(two, says(facts=["Fact of two"]))
    report = doctor(workspace_of(two), repair=True, editor_wait=HURRIED)
    assert not [row for row in report.findings if row.code == "no-plan"] and not report.errors
    [told] = [row for row in report.findings if row.code == "elsewhere"]
    assert told.note and "another machine: 1;" in told.message
    after = read_ledger(two.paths)
    assert len(after) == 2 and all(after[sha]["status"] == "harvested" for sha in entries)


@pytest.mark.parametrize("how", ["doctor", "harvest"])
def test_a_clone_is_no_store_of_an_earlier_version(tmp_path: Path, how: str) -> None:
    """Of a clone that was made a minute before a copy was made, "the store before this version wrote into it"."""
    one, two = World(tmp_path / "one"), World(tmp_path / "two")
    learn(one, facts=["Fact of one"])
    git(one.paths.knowledge, "init", "-q", "-b", "main")
    doctor(workspace_of(one), repair=True, editor_wait=HURRIED)  # says what git carries
    git(one.paths.knowledge, "add", "-A")
    git(one.paths.knowledge, "commit", "-q", "-m", "x")
    two.paths.home.mkdir(parents=True)
    git(two.paths.home, "clone", "-q", str(one.paths.knowledge), "knowledge")
    assert [path.name for path in two.paths.state.iterdir()] == ["plans"]
    if how == "doctor":
        report = doctor(workspace_of(two), repair=True, editor_wait=HURRIED)
        assert not [row for row in report.findings if "before this version" in row.message]
    else:
        two.converse("User: of two\n")
        harvested(two, says(facts=["Fact of two"]))
    assert two.paths.format.read_text() == "3\n" and not two.paths.backups.exists()


def test_the_library_is_not_carried_once_the_doctor_has_told_git(machines: Machines) -> None:
    """A database does not merge: whichever version git takes, what the other machine learned is gone."""
    world = machines.one
    doctor(workspace_of(world), repair=True, editor_wait=HURRIED)
    folder = world.paths.knowledge
    (folder / "backups").mkdir()
    for name in ("library.db", "library.db-wal", "backups/library-1.db"):
        (folder / name).write_bytes(b"x")
    git(folder, "add", "-A")
    assert not [name for name in git(folder, "ls-files").split() if "library" in name]


def test_a_digest_of_each_machine_is_no_conflict_once_the_doctor_has_told_git(machines: Machines) -> None:
    for world in (machines.one, machines.two):
        told = [row for row in doctor(workspace_of(world)).findings if row.code == "git-rows"]
        assert {Path(row.path).name for row in told} == {".gitignore", ".gitattributes"} and all(
            row.note for row in told
        )
        doctor(workspace_of(world), repair=True, editor_wait=HURRIED)
        assert not [row for row in doctor(workspace_of(world)).findings if row.code == "git-rows"]
        git(world.paths.knowledge, "rm", "-rq", "--cached", ".")  # what was carried before is no longer
        git(world.paths.knowledge, "add", "-A")
    machines.learn()
    world = machines.merge("one")
    assert not conflicts(world) & {"digest.md", "index.json", "changes.jsonl"}
    assert not (
        set(git(world.paths.knowledge, "ls-files").split()) & {"digest.md", ".state/lock", ".state/file_ids.json"}
    )


def test_a_clone_is_healthy_but_for_advice_about_permissions(machines: Machines) -> None:
    world = machines.two
    for path in world.paths.home.rglob("*"):
        if ".git" not in path.parts:
            path.chmod(0o755 if path.is_dir() else 0o644)
    world.paths.home.chmod(0o755)
    world.paths.knowledge.chmod(0o755)
    report = doctor(workspace_of(world))
    told = [row for row in report.findings if "others on this computer" in row.message]
    assert told and all(row.note and row.repairable for row in told) and not report.errors, report.findings
    doctor(workspace_of(world), repair=True, editor_wait=HURRIED)
    (world.paths.knowledge / "facts.md").chmod(0o644)  # as the next pull leaves it
    again = doctor(workspace_of(world))
    assert not [row for row in again.findings if "others on this computer" in row.message]


def test_the_doctor_names_memories_that_are_hidden_doubled_or_in_conflict(world: World) -> None:
    memory = "---\nid: {}\ncreated: 2026-02-10T09:00:00+00:00\n{}---\n\n{}\n"
    world.knowledge("memories/001-a.md", memory.format(1, "", "one"))
    world.knowledge("memories/001-b.md", memory.format(1, "", "other"))
    world.knowledge("memories/002-c.md", "no frontmatter")
    world.knowledge("memories/003-d.md", memory.format(3, "", conflict("mine\n", "theirs\n")))
    found = {row.code: row for row in doctor(workspace_of(world)).findings}
    assert {"duplicate-memory", "malformed", "merge-conflict"} <= set(found)
    assert "001-a.md and 001-b.md" in found["duplicate-memory"].message
    assert read_memory(world.paths.knowledge / "memories/003-d.md").content == "mine\ntheirs"


@pytest.mark.parametrize("line", ["tags:\n", "tags: \n", "tags: ~\n", "tags: []\n"])
def test_an_empty_line_of_tags_hides_no_memory(world: World, line: str) -> None:
    path = world.knowledge("memories/001-a.md", f"---\nid: 1\ncreated: 2026-02-10T09:00:00+00:00\n{line}---\n\none\n")
    assert read_memory(path).tags == ()


# --- who said it, counted once ---------------------------------------------------------------------------------------


def counts(world: World) -> dict[str, int | None]:
    return {fact.fact: fact.source_count for fact in facts_of(world)}


def carried(machines: Machines) -> None:
    """As assets/docs/machines.md says: git is told what is of one computer alone, and carries the rest."""
    for world in (machines.one, machines.two):
        doctor(workspace_of(world), repair=True, editor_wait=HURRIED)
    for world in (machines.one, machines.two):
        git(world.paths.knowledge, "rm", "-rq", "--cached", ".")
        machines.commit(world)


def say(world: World, *numbers: int) -> None:
    for number in numbers:
        assert not learn(world, f"User: talk {number}\n", facts=["Shared fact"]).errors


@pytest.mark.parametrize("by_hand", [False, True])
def test_a_new_clone_counts_nobody_twice(machines: Machines, tmp_path: Path, by_hand: bool) -> None:
    """Each new computer raised the numbers, and git carried them to the others."""
    carried(machines)
    say(machines.one, 1, 2)
    if by_hand:
        text = machines.one.text(YAML)
        machines.one.knowledge(YAML, f"{text}- id: global:fact:009\n  fact: Mine\n  confidence: 0.9\n")
        learn(machines.one, "User: talk 3\n", facts=["Mine"])
    before = counts(machines.one)
    assert before == {"Shared fact": 3} | ({"Mine": 2} if by_hand else {})
    machines.commit(machines.one)
    three = World(tmp_path / "three")
    three.paths.home.mkdir(parents=True)
    git(three.paths.home, "clone", "-q", str(machines.one.paths.knowledge), "knowledge")
    for _ in range(2):
        doctor(workspace_of(three), repair=True, editor_wait=HURRIED)
        cli(three, "facts", "sync")
        assert counts(three) == before and not git(three.paths.knowledge, "status", "--porcelain")
    say(three, 4)
    assert counts(three)["Shared fact"] == 4


def pulled(machines: Machines, into: str) -> World:
    world = machines.merge(into)
    if conflicts(world):
        cli(world, "doctor", "--merge-conflicts")
        git(world.paths.knowledge, "add", "-A")
        git(world.paths.knowledge, "commit", "-q", "-m", "merged")
    return world


@pytest.mark.parametrize(("one", "two"), [([1], []), ([1, 2], []), ([1], [2]), ([1, 2], [3])])
@pytest.mark.parametrize("again", [False, True], ids=["synced", "harvested"])
def test_what_the_other_machine_counted_is_counted_once(
    machines: Machines, one: list[int], two: list[int], again: bool
) -> None:
    carried(machines)
    say(machines.one, *one)
    say(machines.two, *two)
    for name in ("two", "one"):
        world = pulled(machines, name)
        if again and name == "two":
            say(world, 9)
        cli(world, "facts", "sync")
        assert counts(world) == {"Shared fact": 1 + len(one) + len(two) + again}
        before = world.text(YAML)
        assert harvested(world, says()).errors == [] and world.text(YAML) == before


def test_what_the_other_machine_has_undone_is_taken_back_once(machines: Machines) -> None:
    carried(machines)
    say(machines.one, 1, 2, 3)
    pulled(machines, "two")
    cli(machines.two, "facts", "sync")
    assert counts(machines.two) == {"Shared fact": 4}
    last = sorted(path.stem for path in machines.one.paths.plans.glob("*.jsonl"))[-1]
    undo(workspace_of(machines.one), last, editor_wait=HURRIED)
    assert counts(machines.one) == {"Shared fact": 3}
    world = pulled(machines, "two")
    cli(world, "facts", "sync")
    assert counts(world) == {"Shared fact": 3}
