"""Whose lines a conversation begins with, asked on the command line in folders as people have them: clones, work trees,
copies of strangers, parent folders, sessions that tell no folder. Somebody else's line there is worse than none."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from core.commands.panel.start import start_of
from core.commands.workspace import open_workspace
from tests.cli_call import call
from tests.test_base_project import COMMIT, git, repository


@dataclass
class Disk:
    """A user's home directory with projects below `src`, and what their tool kept of sessions."""

    top: Path
    patch: pytest.MonkeyPatch
    names: list[str] = field(default_factory=list)

    @property
    def src(self) -> Path:
        return self.top / "src"

    def session(
        self, rule: str, folder: Path | str = "", edits: Sequence[Path | str] = (), reads: Sequence[Path] = ()
    ) -> None:
        """Claude Code's file of a session in which the user gave a rule, and files were read and edited."""
        number = len(self.names)
        told: list[tuple[str, object]] = [("user", rule)]
        for path in reads:
            call = {"type": "tool_use", "id": f"r{path}", "name": "Read", "input": {"file_path": str(path)}}
            told.append(("assistant", [call]))
            told.append(("user", [{"type": "tool_result", "tool_use_id": f"r{path}", "content": "1\ta"}]))
        for path in edits:
            given = {"file_path": str(path), "old_string": "a", "new_string": "b"}
            told.append(("assistant", [{"type": "tool_use", "id": f"t{path}", "name": "Edit", "input": given}]))
            told.append(("user", [{"type": "tool_result", "tool_use_id": f"t{path}", "content": "ok"}]))
        told.append(("assistant", [{"type": "text", "text": "Understood."}]))
        rows = [
            {
                "type": role,
                "sessionId": f"s{number}",
                "uuid": f"{number}-{at}",
                "message": {"role": role, "content": said},
            }
            | {"parentUuid": f"{number}-{at - 1}" if at else None, "timestamp": f"2026-06-1{number % 9}T10:00:0{at}Z"}
            | ({"cwd": str(folder)} if folder else {})
            for at, (role, said) in enumerate(told)
        ]
        self.names.append(f"s{number}")
        kept = self.top / "sessions" / f"s{number}.jsonl"
        kept.parent.mkdir(exist_ok=True)
        kept.write_text("\n".join(map(json.dumps, rows)) + "\n")

    def harvest(self, *words: str) -> None:
        sources = words or ("--source", str(self.top / "sessions"))
        code, out, err = call("harvest", "--apply", "--now", *sources)
        assert code == 0, (out, err)

    def asked(self, folder: Path, *words: str) -> tuple[str, str]:
        """What a command prints and warns of in a folder."""
        folder.mkdir(parents=True, exist_ok=True)
        self.patch.chdir(folder)
        code, out, err = call(*words)
        assert code == 0, (out, err)
        return out, err

    def context(self, folder: Path) -> set[str]:
        """The rules that a conversation in a folder begins with, by their first word after `Always`."""
        out, _ = self.asked(folder, "context")
        return {line.split()[2] for line in out.splitlines() if line.startswith("- Always ")}


def rule(word: str) -> str:
    return f"Always {word} the gadgets before the widgets, never after them."


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Disk:
    me = tmp_path / "me"
    (me / "src").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(me))
    for name in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "MANUAL_SLOP_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(me)
    return Disk(me, monkeypatch)


def test_an_answer_for_one_project_answers_nothing_of_another(disk: Disk) -> None:
    """What waits there was not looked at."""
    shop, bank = repository(disk.src / "shop"), repository(disk.src / "bank")
    disk.session(rule("paint"), shop)
    disk.session(rule("boil"), bank)
    disk.harvest()
    held = disk.top / ".manual_slop/knowledge/quarantine.md"
    names = {row["path"].rpartition("/")[2]: row["name"] for row in json.loads(disk.asked(shop, "ledger", "--json")[0])}
    lines = [f"- [no-quote] facts: The {word} bell rings [from: {names[f'{file}.jsonl']}, 2026-06-10]"
             for word, file in (("paint", "s0"), ("boil", "s1"))]  # fmt: skip
    held.write_text("\n".join(["# Quarantine", "", *lines, ""]))
    disk.asked(shop, "review", "all", "held", "--yes", "--project", str(shop))
    assert lines[0] not in held.read_text() and lines[1] in held.read_text()


def test_what_an_undo_brings_back_of_a_forgotten_session_is_its_projects_again(disk: Disk) -> None:
    """Else it comes back and is told in all others."""
    shop = repository(disk.src / "shop")
    disk.session(rule("paint"), shop)
    disk.session(rule("boil"), shop)
    disk.harvest()
    run = json.loads(disk.asked(shop, "forget", "s0", "--strike", "--json")[0])["run"]
    assert disk.context(shop) == {"boil"}
    disk.asked(shop, "undo", run)
    assert disk.context(shop) == {"paint", "boil"}
    assert disk.context(repository(disk.src / "bank")) == set(), "and of no other"


# --- sessions without a folder ---------------------------------------------------------------------------------------


def test_a_project_with_good_sessions_shows_no_line_of_a_chat_without_a_folder(disk: Disk) -> None:
    """18 of 19 lines were foreign, among them small talk."""
    shop = repository(disk.src / "shop")
    for word in ("paint", "wash", "sort", "count", "label"):
        disk.session(rule(word), shop)
    for word in ("boil", "bake", "fry"):
        disk.session(rule(word))
    disk.harvest()
    assert disk.context(shop) == {"paint", "wash", "sort", "count", "label"}
    assert disk.context(repository(disk.src / "new")) == set(), "an empty context is better than a foreign one"
    assert {"boil", "bake", "fry"} <= disk.context(disk.top), "where no project is asked for they are shown"


def test_a_session_with_a_key_in_its_name_stays_in_its_project(disk: Disk) -> None:
    """Its lines cite it without the key, and the ledger knows it with the key: they were shown in all projects."""
    shop, new = repository(disk.src / "shop"), repository(disk.src / "new", commit="another")
    disk.session(rule("paint"), shop)
    kept = disk.top / "sessions" / "s0.jsonl"
    kept.rename(kept.with_name("ghp_" + "abcdefghijklmnopqrstuvwxyz0123456789.jsonl"))
    disk.harvest()
    assert (disk.context(shop), disk.context(new)) == ({"paint"}, set())


def test_what_a_user_told_in_two_projects_is_said_in_both(disk: Disk) -> None:
    """The second session was taken for a copy of the first, and the second project had nothing of it."""
    shop, new = repository(disk.src / "shop"), repository(disk.src / "new", commit="another")
    disk.session(rule("paint"), shop)
    disk.session(rule("paint"), new)
    disk.harvest()
    for folder in (shop, new):
        assert disk.context(folder) == {"paint"}
        listed = disk.asked(folder, "list")[0]
        assert "Always paint" in listed and "of other projects" not in listed


def test_the_list_has_what_is_the_users_as_the_context_has(disk: Disk) -> None:
    """It was counted with the statements of other projects."""
    shop, new = repository(disk.src / "shop"), repository(disk.src / "new", commit="another")
    disk.session("Hello.", shop)
    answered(disk, facts=[{"statement": "The user prefers tabs", "kind": "fact"}])
    for folder in (shop, new):
        assert "prefers tabs" in disk.asked(folder, "context")[0] and "prefers tabs" in disk.asked(folder, "list")[0]


def test_the_hosts_own_conversations_are_shown_as_before(disk: Disk) -> None:
    shop = repository(disk.src / "shop")
    kept = disk.top / ".manual_slop" / "conversations"
    kept.mkdir(parents=True)
    (kept / f"talk-{uuid.uuid4()}").write_text(
        f"<user-prompt>\n{rule('paint')}\n</user-prompt>\n<agent-response>\nDone.\n</agent-response>\n"
    )
    (kept / f"export-{uuid.uuid4()}").write_text(
        json.dumps([
            {"title": "t", "create_time": 1.7e9, "current_node": "b", "conversation_id": "c", "mapping": {
                "a": {"id": "a", "parent": None, "children": ["b"], "message": {
                    "author": {"role": "user"}, "create_time": 1.7e9,
                    "content": {"content_type": "text", "parts": [rule("boil")]}}},
                "b": {"id": "b", "parent": "a", "children": [], "message": {
                    "author": {"role": "assistant"}, "create_time": 1.7e9,
                    "content": {"content_type": "text", "parts": ["Understood."]}}}}}
        ])
    )  # fmt: skip
    disk.harvest("--source", "home")
    assert disk.context(shop) == {"paint"}, "a copy of another tool's export is not the host's"
    other = repository(disk.src / "other", commit="another")
    entries = json.loads(call("ledger", "--json")[1])
    talk = next(row["sha256"] for row in entries if "/talk-" in row["path"])
    assert call("ledger", talk[:12], "--project", str(disk.top))[0] == 1, "the home directory is no project"
    assert call("ledger", talk[:12], "--project", str(other))[0] == 0
    assert (disk.context(shop), disk.context(other)) == (set(), {"paint"}), "the user named its project"
    assert call("ledger", talk[:12], "--project", "none")[0] == 0 and disk.context(shop) == {"paint"}


def test_a_session_without_a_folder_belongs_where_its_files_lie(disk: Disk) -> None:
    shop, other = repository(disk.src / "shop"), repository(disk.src / "other", commit="another")
    disk.session(rule("paint"), "", [shop / "a" / "x.py", shop / "b" / "y.py", disk.top / ".claude" / "plans" / "p.md"])
    disk.session(rule("boil"), "", [shop / "x.py", other / "y.py"])
    disk.session(rule("bake"), disk.top, [other / "x.py"])
    disk.harvest()
    assert disk.context(shop) == {"paint"}
    assert disk.context(other) == {"bake"}, "one that began in the home directory, too"


def test_a_session_without_a_folder_belongs_where_it_changed_something(disk: Disk) -> None:
    """What it only looked at may lie anywhere."""
    shop, other = repository(disk.src / "shop"), repository(disk.src / "other", commit="another")
    disk.session(rule("paint"), "", [shop / "x.py"], reads=[other / "y.py"])
    disk.session(rule("boil"), "", reads=[other / "y.py"])
    disk.harvest()
    assert (disk.context(shop), disk.context(other)) == ({"paint"}, {"boil"})


# --- parent folders, repositories in repositories, names that begin alike --------------------------------------------


def test_a_session_in_a_parent_folder_does_not_make_all_below_it_one_project(disk: Disk) -> None:
    shop, web = repository(disk.src / "shop"), repository(disk.src / "shop-web", commit="another")
    disk.session(rule("paint"), shop)
    disk.session(rule("wash"), web)
    disk.session(rule("boil"), disk.top)
    disk.session(rule("bake"), disk.src)
    disk.session(rule("fry"), disk.src / "plain")
    disk.harvest()
    assert disk.context(shop) == {"paint"}
    assert disk.context(web) == {"wash"}
    assert disk.context(disk.src / "plain") == disk.context(disk.src / "plain" / "deep") == {"fry"}
    assert disk.context(disk.src / "unknown") == set()
    assert disk.context(shop / "deep" / "er") == {"paint"}


def test_a_repository_in_a_repository_is_a_project_of_its_own(disk: Disk) -> None:
    shop = repository(disk.src / "shop")
    inner = repository(shop / "vendor" / "engine", commit="another")
    new = shop / "vendor" / "new"
    new.mkdir()
    git(new, "init", "-q")  # without a commit nothing names it but its place
    disk.session(rule("paint"), shop / "web")
    disk.session(rule("boil"), inner)
    disk.session(rule("bake"), new)
    disk.harvest()
    assert disk.context(shop) == {"paint"}
    assert disk.context(inner) == {"boil"}
    assert disk.context(new) == {"bake"}


# --- clones, work trees, strangers -----------------------------------------------------------------------------------


def test_a_work_tree_sees_its_repositorys_lines_at_once(disk: Disk) -> None:
    shop = repository(disk.src / "shop")
    disk.session(rule("paint"), shop)
    git(shop, "worktree", "add", "-q", str(disk.top / "trees" / "fix"))
    disk.session(rule("wash"), disk.top / "trees" / "fix")
    disk.harvest()
    assert disk.context(disk.top / "trees" / "fix") == disk.context(shop) == {"paint", "wash"}
    git(shop, "worktree", "remove", "--force", str(disk.top / "trees" / "fix"))
    assert disk.context(shop) == {"paint", "wash"}, "the ledger knows where it was, also when it is gone"


@pytest.mark.parametrize("same", ["root commit", "remote"])
def test_a_clone_sees_its_lines_after_a_word_of_the_user(disk: Disk, same: str) -> None:
    shop = repository(disk.src / "shop", "https://me:hunter2@git.example.org/a/shop.git")
    disk.session(rule("paint"), shop)
    disk.harvest()
    assert "hunter2" not in (disk.top / ".manual_slop" / "knowledge" / "ledger.json").read_text()
    if same == "remote":
        clone = repository(disk.src / "copy", "git@git.example.org:a/shop.git", commit="")
    else:
        git(disk.src, "clone", "-q", str(shop), "copy")
        clone = disk.src / "copy"
    out, told = disk.asked(clone, "context")
    assert "paint" not in out
    assert told.count("WARNING") == 1 and str(shop) in told and "'knowledge trust allow'" in told
    assert (
        "knowledge trust allow" in json.loads(disk.asked(clone, "context", "--hook", "claude_code")[0])["systemMessage"]
    )
    for agent in ("cursor", "antigravity"):
        said = disk.asked(clone, "context", "--hook", agent)[0]
        assert "knowledge trust" in said and "could not harvest" not in said and str(shop) not in said
    listed, told = disk.asked(clone, "list")
    assert "paint" not in listed and told.count("'knowledge trust allow'") == 1, "it told of other projects alone"
    assert "waiting" in disk.asked(clone, "trust")[0]
    disk.asked(clone, "trust", "allow")
    assert disk.context(clone) == {"paint"}
    assert "WARNING" not in disk.asked(clone, "context")[1]
    disk.asked(clone, "trust", "forget")
    assert disk.context(clone) == set()


def test_a_strangers_copy_neither_gets_nor_gives_lines_also_once_it_was_worked_in(disk: Disk) -> None:
    """A harvest of one session there would open the fence to both sides."""
    shop = repository(disk.src / "shop")
    disk.session(rule("paint"), shop)
    disk.harvest()
    git(disk.src, "clone", "-q", str(shop), "fork")
    disk.session(rule("boil"), disk.src / "fork")
    disk.harvest()
    assert disk.context(disk.src / "fork") == {"boil"}
    assert disk.context(shop) == {"paint"}
    disk.asked(disk.src / "fork", "trust", "allow")
    assert disk.context(disk.src / "fork") == disk.context(shop) == {"boil", "paint"}


def test_a_folder_that_moved_is_the_project_by_a_word(disk: Disk) -> None:
    shop = repository(disk.src / "shop")
    disk.session(rule("paint"), shop)
    disk.harvest()
    shop.rename(disk.src / "store")
    assert disk.context(disk.src / "store") == set()
    disk.asked(disk.top, "trust", "allow", str(disk.src / "store" / ".git"))
    git(disk.src / "store", *COMMIT, "second")
    assert disk.context(disk.src / "store") == {"paint"}


def test_another_folder_in_the_place_of_an_allowed_one_waits_again(disk: Disk) -> None:
    shop = repository(disk.src / "shop")
    disk.session(rule("paint"), shop)
    disk.harvest()
    git(disk.src, "clone", "-q", str(shop), "copy")
    disk.asked(disk.src / "copy", "trust", "allow")
    (disk.src / "copy").rename(disk.src / "old")
    time.sleep(0.02)
    git(disk.src, "clone", "-q", str(shop), "copy")
    assert disk.context(disk.src / "copy") == set()


def test_another_repository_in_the_place_of_a_known_one_has_none_of_its_lines(disk: Disk) -> None:
    shop = repository(disk.src / "shop")
    disk.session(rule("paint"), shop)
    disk.harvest()
    shop.rename(disk.src / "store")
    repository(shop, commit="another beginning")
    assert disk.context(shop) == set()
    disk.session(rule("boil"), shop)
    disk.harvest()
    assert disk.context(shop) == {"boil"}
    disk.asked(disk.src / "store", "trust", "allow")
    assert disk.context(disk.src / "store") == {"paint"}


# --- what bears it out -----------------------------------------------------------------------------------------------


def answered(disk: Disk, **rows: object) -> None:
    """A harvest whose model gives these rows."""
    answer = disk.top / "answer.json"
    answer.write_text(json.dumps(rows))
    config = disk.top / ".config" / "manual_slop" / "config.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    command = json.dumps(["cat", str(answer)])
    config.write_text(f'[ai_settings.knowledge]\nprovider = "command"\ncommand = {command}\nquotes = "off"\n')
    disk.harvest()


def test_the_quirk_of_a_tool_stays_in_its_project(disk: Disk) -> None:
    shop, new = repository(disk.src / "shop"), repository(disk.src / "new", commit="another")
    disk.session("Please look why the build fails.", shop)
    answered(disk, facts=[
        {"statement": "Always answers with exit status 2 when nothing changed", "kind": "tool-quirk"},
        {"statement": "Always on Linux make needs `shop/`, else it stops", "kind": "tool-quirk"},
    ])  # fmt: skip
    assert len(disk.context(shop)) == 2
    assert disk.context(new) == set()


# --- facts -----------------------------------------------------------------------------------------------------------


def test_two_repositories_of_one_name_have_facts_of_their_own_and_a_clone_those_of_its_project(disk: Disk) -> None:
    """The fact index knew a repository by its name, the digest by its path."""
    one, two = repository(disk.src / "a" / "api"), repository(disk.src / "b" / "api", commit="another")
    disk.session("Which port is taken?", one)
    answered(disk, facts=[{"statement": "The proxy takes port 8080", "kind": "fact"}])
    disk.session("Which port is it here?", two)
    answered(disk, facts=[{"statement": "The queue takes port 9090", "kind": "fact"}])
    told = {folder: disk.asked(folder, "facts", "bootstrap")[0] for folder in (one, two)}
    assert "8080" in told[one] and "9090" not in told[one]
    assert "9090" in told[two] and "8080" not in told[two]
    git(disk.src, "clone", "-q", str(two), "copy")
    copy = disk.src / "copy"
    assert "9090" not in disk.asked(copy, "facts", "bootstrap")[0]
    disk.asked(copy, "trust", "allow")
    assert "9090" in disk.asked(copy, "facts", "bootstrap")[0]


def test_facts_of_a_chat_without_a_folder_are_no_projects(disk: Disk) -> None:
    shop = repository(disk.src / "shop")
    disk.session("Which port is taken?")
    answered(disk, facts=[{"statement": "The proxy takes port 8080", "kind": "fact"}])
    assert "8080" not in disk.asked(shop, "facts", "bootstrap")[0]
    assert "8080" in disk.asked(disk.top, "facts", "bootstrap")[0]


def test_a_search_in_a_project_finds_the_lines_that_were_learned_in_it(disk: Disk) -> None:
    """`--project` left out every line of the home, and then said that nothing was harvested there. A word that was no
    project's name found what the project around the current folder had."""
    shop, web = repository(disk.src / "shop"), repository(disk.src / "shop-web", commit="another")
    disk.session(rule("paint"), shop)
    disk.session(rule("wash"), web)
    disk.harvest("--now", "--source", str(disk.top / "sessions"))

    def lines(*words: str) -> set[str]:
        found = json.loads(disk.asked(shop, "search", *words, "--kind", "bullet", "--json")[0])
        return {one["text"].split()[1] for one in found}

    assert lines("gadgets") == {"paint", "wash"}
    assert lines("gadgets", "--project", ".") == lines("gadgets", "--project", "../shop") == {"paint"}
    assert lines("gadgets", "--project", "../shop-web") == {"wash"}
    _, err = disk.asked(shop, "search", "zebra", "--project", ".", "--kind", "bullet")
    assert "what is known here was searched, and nothing says this" in err
    code, _, err = call("search", "gadgets", "--project", "nosuch")
    assert code == 1 and "no project of that name is known" in err


def test_the_panel_shows_what_a_conversation_here_begins_with(disk: Disk) -> None:
    """It showed the lines of all projects under "Your next conversation in shop starts with"."""
    shop, web = repository(disk.src / "shop"), repository(disk.src / "shop-web", commit="another")
    disk.session(rule("paint"), shop)
    disk.session(rule("wash"), web)
    disk.harvest()
    disk.patch.chdir(shop)
    lines = [line.words for line in start_of(open_workspace(), "").lines]
    assert [word for word in ("paint", "wash") if word in " ".join(lines)] == ["paint"]


def test_a_project_is_named_as_hits_print_it(disk: Disk) -> None:
    """`find --project shop` answered, and `list`, `context` and `recall` wanted a folder; now also of one that is gone:
    only a memory cannot be saved there."""
    shop, web = repository(disk.src / "shop"), repository(disk.src / "shop-web", commit="another")
    disk.session(rule("paint"), shop)
    disk.session(rule("wash"), web)
    disk.harvest()
    shop.rename(disk.src / "gone")
    for words in (("list",), ("context",), ("digest", "show")):
        out, _ = disk.asked(web, *words, "--project", "shop")
        assert "paint" in out and "wash" not in out, words
    disk.asked(web, "recall", "paint", "--project", "shop")
    code, _, err = call("save", "Tabs, please", "--project", "shop")
    assert code == 1 and "there is no folder of that name" in err and not shop.exists()
    code, _, err = call("list", "--project", "nosuch")
    assert code == 1 and "no project of that name is known" in err
    other = repository(disk.src / "elsewhere" / "shop-web", commit="a third")
    disk.session(rule("dry"), other)
    disk.harvest()
    assert "wash" in disk.asked(web, "list", "--project", "shop-web")[0], "who works in one of that name means it"
    assert "wash" not in disk.asked(other, "list", "--project", "shop-web")[0]


def test_a_search_in_a_folder_of_a_project_reads_the_knowledge_of_that_folder(disk: Disk) -> None:
    """Once conversations knew the project around it, the folder's own knowledge was searched no more."""
    shop = repository(disk.src / "shop")
    disk.session(rule("paint"), shop)
    disk.harvest("--now", "--source", str(disk.top / "sessions"))
    own = shop / "sub" / ".manual_slop" / "knowledge"
    own.mkdir(parents=True)
    (own / "facts.md").write_text("- The gadgets of the sub package are blue\n")
    disk.asked(shop / "sub", "trust", "allow")
    found = json.loads(disk.asked(shop, "search", "gadgets", "--project", "sub", "--json")[0])
    assert "The gadgets of the sub package are blue" in {one["text"] for one in found}


def test_the_place_that_was_worked_in_first_stays_the_project_when_one_goes_on_there(disk: Disk) -> None:
    """Else its lines would wait for a word in the project itself, and the word for the copy would count for nothing."""
    shop = repository(disk.src / "shop")
    disk.session(rule("paint"), shop)
    disk.harvest()
    git(disk.src, "clone", "-q", str(shop), "fork")
    disk.session(rule("boil"), disk.src / "fork")
    disk.harvest()
    disk.session(rule("wash"), shop)
    disk.harvest()
    assert disk.context(disk.src / "fork") == {"boil"}
    assert disk.context(shop) == {"paint", "wash"} and "WARNING" not in disk.asked(shop, "context")[1]
    disk.asked(disk.src / "fork", "trust", "allow")
    assert disk.context(disk.src / "fork") == disk.context(shop) == {"boil", "paint", "wash"}


def test_a_project_is_known_by_its_origin_whatever_other_remotes_stand_before_it(disk: Disk) -> None:
    """A repository that also fetches from another project is not that project, and makes no claim to its lines."""
    engine = repository(disk.src / "engine", "https://git.example.org/up/engine.git", commit="")
    disk.session(rule("paint"), engine)
    disk.harvest()
    mine = repository(disk.src / "mine", commit="another")
    git(mine, "remote", "add", "upstream", "https://git.example.org/up/engine.git")
    git(mine, "remote", "add", "origin", "https://git.example.org/me/engine.git")
    assert "WARNING" not in disk.asked(mine, "context")[1]
    disk.asked(mine, "trust", "allow")
    assert disk.context(mine) == set() and disk.context(engine) == {"paint"}
