"""The panel's rows as plain data: what each view says, tested without a window."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.base import locks
from core.base.paths import Paths
from core.base.result import ErrorInfo, KnowledgeError, Ok, attempt
from core.commands.bullets import add
from core.commands.context import DigestState
from core.commands.harvest import harvest
from core.commands.harvest_options import HarvestRequest
from core.commands.history.ledger import LedgerRow
from core.commands.history.runs import UndoReport
from core.commands.panel.ledger_rows import rows_of
from core.commands.panel.overview import overview
from core.commands.panel.start import start_of
from core.commands.settings import config_show
from core.commands.workspace import Workspace
from core.harvest.classify import fate_of
from core.harvest.report import HarvestReport, NewLine, Progress
from core.harvest.steps import HarvestPlan, Limits, Step
from core.knowledge.ledger import read_ledger
from core.knowledge.run_state import (
    DELETED,
    ELSEWHERE,
    EMPTY,
    INTERRUPTED,
    OFF,
    UNREADABLE,
    UNWRITTEN,
    WRITTEN,
    DigestStands,
    RunState,
)
from core.sources.artifact import Artifact
from gui.gather import gather
from gui.harvest_run import BROKEN, READ, Came, Talk, Watch, ended_words
from gui.harvest_run import Run as HarvestWatched
from gui.shell import Action
from gui.state import Activity, Snapshot, State
from gui.toolkit.outside import open_outside
from gui.views import knowledge_rows
from gui.views.conversations import COLUMNS, Wish, cell, row_of, wanted_rows
from gui.views.digest_switch import delete_words, switch_words
from gui.views.first_start import NOTHING_SENT, begin_words, is_first_start
from gui.views.harvest_dialog import (
    DIGEST_BEGINS,
    STAY,
    ended_lines,
    estimate_words,
    fate_lines,
    has_work,
    plan_lines,
    plan_rows,
    provider_line,
)
from gui.views.harvest_watch import best_rows, gained_rows
from gui.views.knowledge_rows import Knowledge
from gui.views.search import action_entries, file_entries, run_entries, search
from gui.views.settings import set_words, setting_rows
from gui.views.start import digest_words, file_lines, known_counts, ledger_lines, named_projects
from gui.views.state_line import activity_words, harvest_button, links, resting_words
from gui.watch import folders_of, matters, run_mark
from tests.cli_call import call
from tests.harvest_world import says
from tests.panel_desk import at_home_fixture, workspace_at  # noqa: F401 - pytest finds the fixture by itself


@pytest.fixture(name="home")
def home_fixture(at_home: Path) -> Workspace:
    """A demo home with nothing harvested."""
    return workspace_at(at_home)


def harvested(home: Workspace) -> HarvestReport:
    return harvest(home, HarvestRequest(apply=True))


def gathered(home: Workspace, before: Snapshot | None = None, seen: tuple[Any, ...] = ()) -> Any:
    return gather(home, {}, before, {}, seen)


# --- the store at a glance ---


def test_an_empty_home_is_a_first_start_and_one_with_conversations_is_none(at_home: Path, home: Workspace) -> None:
    empty = replace(home, paths=Paths(at_home / "nowhere"))
    assert is_first_start(gathered(empty).snapshot)
    assert not is_first_start(gathered(home).snapshot)


def test_what_did_not_change_is_the_same_object(home: Workspace) -> None:
    """Otherwise every look at the disk would draw everything again."""
    harvested(home)
    first = gathered(home)
    again = gathered(home, first.snapshot, first.ledger_seen)
    assert again.snapshot is first.snapshot
    (home.paths.knowledge / "facts.md").write_text("- other\n", encoding="utf-8")
    third = gathered(home, first.snapshot, first.ledger_seen)
    assert third.snapshot is not first.snapshot and third.snapshot.ledger is first.snapshot.ledger


def test_a_view_that_fails_to_read_hides_no_other_view(home: Workspace) -> None:
    def fails(_workspace: Workspace, _before: Any) -> Any:
        raise OSError("gone")

    def works(_workspace: Workspace, _before: Any) -> Any:
        return "here"

    found = gather(home, {"bad": fails, "good": works}, None, {"bad": "what was there"})
    assert found.data == {"bad": "what was there", "good": "here"}
    assert [problem.code for problem in found.snapshot.problems] == ["view-unreadable"]


def test_the_digest_is_told_by_section_and_whether_it_is_injected(home: Workspace) -> None:
    harvested(home)
    found = overview(home)
    start = start_of(home, "")
    assert start.bytes == found.status.digest.bytes == home.paths.digest.stat().st_size and start.most == 4096
    assert 0 < sum(amount for _, amount in start.sections) <= start.bytes and len(start.lines) > 5 and start.injected
    assert digest_words(found)[2] == "In every new conversation"
    home.paths.digest.unlink()
    gone = overview(home)
    assert "you deleted digest.md" in digest_words(gone)[2].lower()
    broken = gather(replace(home, named=home.paths.home / "no such settings"), {})
    assert digest_words(broken.snapshot.overview)[:2] == ("circle-alert", "failed")
    status = broken.snapshot.overview.status
    assert not switch_words(status.digest, status.stands.digest)[0], "green while nothing is put into prompts"


def test_what_a_project_does_not_get_is_told_of_it_and_not_of_the_folder_of_the_panel(home: Workspace) -> None:
    harvested(home)
    none = replace(start_of(home, ""), injected=False, why="not injected in this folder: nothing is of it")
    words = digest_words(overview(home), none)
    assert words[1:] == ("edited", "Nothing is put into prompts in this folder: nothing is of it")
    damaged = digest_words(overview(home), replace(none, why="WARNING: the ledger is damaged"))
    assert damaged[2] == "Nothing is put into prompts: the ledger is damaged"


def test_the_project_around_the_panel_has_its_name(home: Workspace) -> None:
    """ "No project" over what one project gets would be wrong."""
    assert named_projects(["/srv/shop", "/src/shop", "/srv/api"], "/srv/api/lib") == {
        "api": "", "shop": "/srv/shop", "/src/shop": "/src/shop",
    }  # fmt: skip
    assert named_projects(["/srv/shop"], str(home.cwd)) == {"No project": "", "shop": "/srv/shop"}


def test_a_line_that_comes_moves_no_other(home: Workspace) -> None:
    """Nobody finds again what he has just read where an edit elsewhere shuffles the lines of a day."""
    harvested(home)
    before = [row.key for row in knowledge_rows.gather(home, None).rows["all"]]
    add(home, "facts", "One more, by hand")
    after = [row.key for row in knowledge_rows.gather(home, None).rows["all"]]
    assert [key for key in after if key in before] == before != after


def test_files_show_what_they_hold_and_how_they_are(home: Workspace) -> None:
    harvested(home)
    (home.paths.knowledge / "facts.md").write_text("# Facts\n\n- my own\n", encoding="utf-8")
    lines = {line.words: (line.aside, line.aside_tone) for line in file_lines(overview(home), frozenset(), 0)}
    assert lines["facts.md"] == ("edited", "accent") and lines["memories/"] == ("none", "hint")
    assert lines["decisions.md"] == ("3", "hint")
    damaged = frozenset({str(home.paths.knowledge / "tasks.md")})
    assert ("damaged", "failed") in {(line.aside, line.aside_tone) for line in file_lines(overview(home), damaged, 2)}


# --- the ledger ---


def test_a_hundred_foreign_values_in_a_ledger_break_no_row() -> None:
    entries = [
        LedgerRow("a" * 64, {"path": None, "status": None, "at": 7, "items": ["x"]}),
        LedgerRow("path:/x", {"path": "/x/y", "status": "pruned", "at": "soon"}),
        LedgerRow("b" * 64, {"path": "/c/会議", "status": "harvested", "items": {"facts": "two", "tasks": 3}}),
    ]
    rows = [row_of(entry.key, entry.entry) for entry in entries]
    assert rows_of(entries).written == [sum(row.gave.values()) for row in rows]
    assert [(row.items, row.place, row.when) for row in rows] == [
        (-1, "in place", 0),
        (-1, "removed", 0),
        (3, "in place", 0),
    ]


def test_the_ledger_filters_by_status_and_keeps_its_order() -> None:
    entries = [
        LedgerRow(
            f"{number:064x}",
            {"path": f"/c/{'Ü' if number % 2 else 'b'}-{number}", "status": "harvested" if number % 3 else "too-large",
             "at": f"2026-05-{number:02d}T00:00:00+00:00", "items": {"facts": number % 4}},
        )
        for number in range(12, 0, -1)
    ]  # fmt: skip

    def names(wish: Wish) -> list[str]:
        return [str(entries[at].entry["path"])[3:] for at in wanted_rows(rows_of(entries), wish)]

    assert names(Wish(frozenset({"too-large"}))) == ["b-12", "Ü-9", "b-6", "Ü-3"]
    assert list(wanted_rows(rows_of(entries), Wish())) == list(range(12))


# --- the dry run ---


def test_the_dry_run_says_what_happens_to_every_conversation(home: Workspace) -> None:
    planned = harvest(home, HarvestRequest())
    rows = plan_rows(planned)
    assert Counter(row.key[0] in STAY for row in rows) == {False: 6, True: 3}
    assert [line.text for line in plan_lines(planned, home.config)] == [
        "harvest 6 conversations", "write digest.md, the summary that new conversations begin with",
    ]  # fmt: skip
    assert has_work(planned)
    assert "nothing is sent anywhere" in provider_line(home.config).text
    assert any("every conversation stays where it is" in note for note in planned.notes)
    sent = provider_line(replace(home.config, provider="openai", model="m", redact=False)).text
    assert sent.startswith("Sent to openai m.") and "NOT replaced" in sent
    near = provider_line(replace(home.config, provider="ollama", model="m")).text
    assert near.startswith("Sent to ollama m on this computer.")
    far = provider_line(replace(home.config, provider="ollama", model="m", base_url="http://10.0.0.8:1"))
    assert far.text.startswith("Sent to ollama m. ")
    assert estimate_words(planned).endswith("nothing")
    assert estimate_words(HarvestReport(False, tokens=9, price=None)).endswith("price unknown")
    harvested(home)
    again = attempt(harvest, home, HarvestRequest())
    assert isinstance(again, Ok) and not has_work(again.value)
    home.paths.journal.write_bytes(b"")
    left = attempt(harvest, home, HarvestRequest())
    assert isinstance(left, Ok) and left.value.interrupted and has_work(left.value), "Apply would finish that run"


def test_the_sentence_about_a_run_counts_what_its_window_shows() -> None:
    """A line that two conversations say is one bullet, below as above."""
    report = HarvestReport(True, harvested=1, items={"facts": 2}, lines=[("facts", "Ports start at 8080", 2)])
    assert ended_words(report) == "Harvested: 1 conversation, 1 new bullet"


def test_the_dry_run_threatens_no_conversation_that_stays(home: Workspace) -> None:
    """A user's first harvest is of other tools' conversations: these are not taken, whoever reads them."""
    planned = attempt(harvest, home, HarvestRequest())
    assert isinstance(planned, Ok) and planned.value.plan is not None
    own = planned.value.plan.steps
    other = tuple(row._replace(artifact=row.artifact._replace(source="codex")) for row in own)
    limits = Limits("openai", 10**9)

    def said(steps: tuple[Step, ...], interrupted: bool = False, **settings: Any) -> str:
        return fate_of(replace(planned.value.plan, steps=steps), replace(limits, **settings), 14, interrupted).words

    assert said(other) == "every conversation stays where it is"
    assert said(own) == "6 conversations go to the trash for 14 days (once harvested)"
    assert said((*own, *other)) == f"{said(own)}; 6 are harvested and left in place"
    assert said(other, reclaim_foreign=True) == said(own)
    assert said(own, reclaim="never") == "every conversation stays where it is"
    assert said(own, provider="offline").endswith("what a language model has read would go to the trash")
    stored = tuple(row._replace(artifact=row.artifact._replace(kind="session")) for row in other)
    assert said(stored, reclaim_foreign=True) == "every conversation stays where it is", "no store is cut up"
    assert said((*other, *stored), reclaim_foreign=True).endswith("; 6 are harvested and left in place")
    assert said(()) == "" == said(own, interrupted=True, reclaim="never"), "a run that was cut off may take its own"


def test_window_and_command_line_say_of_a_plan_what_it_holds(home: Workspace) -> None:
    """A model had read three; of the next dry run one line moved these to the trash, and the other let all stay."""
    model = says(facts=[])
    read = HarvestRequest(apply=True, keep=True, limit=3, provider="openai", model="m")
    assert isinstance(attempt(harvest, home, read, generate=model), Ok)
    report = harvest(home, HarvestRequest())
    words = "3 conversations go to the trash for 14 days (harvested before); 3 are harvested and left in place"
    assert [line.text for line in fate_lines(report.fate)] == [words]
    place = ["--home", str(home.paths.home), "--config", str(home.loaded.file)]
    for shown in (call("harvest", *place)[1], call("harvest", *place, "--json")[1]):
        assert shown.count(words) == 1 and "stays where it is" not in shown


def test_the_best_bullets_say_how_long_ago_they_came() -> None:
    came = Came(NewLine("facts", "The cache is cold.", "", 1), Talk("/t", "talk"), 30.0)
    assert [best_rows([came], now)[0].meta for now in (31.0, 40.0, 150.0)] == [
        "talk  ·  just now", "talk  ·  10 s ago", "talk  ·  2 min ago",
    ]  # fmt: skip


def test_code_in_the_best_bullets_has_no_backticks() -> None:
    """These are the first lines that a user sees of the whole: signs around a name look like a mistake."""
    words = "Name a module with `snake_case`, never `__cache__`."
    came = Came(NewLine("facts", words, "", 1), Talk("/t", "talk"), 30.0)
    report = HarvestReport(True, lines=[("facts", words, 1)])
    shown = [best_rows([came], 31.0)[0].text, gained_rows(HarvestWatched(report=report))[0].text]
    assert shown == ["Name a module with snake_case, never __cache__."] * 2


def test_the_first_digest_says_what_it_does_and_how_it_is_turned_off() -> None:
    """Nobody asked for it: who is not told does not know what their next conversation begins with."""
    report = HarvestReport(True, harvested=1)
    first, later = HarvestWatched(report=report, digest=0), HarvestWatched(report=report, digest=900)
    told = [line.text for line in ended_lines(first, report, 1_000, True)]
    assert DIGEST_BEGINS in told and "switch" in DIGEST_BEGINS
    for lines in (
        ended_lines(later, report, 1_000, True),
        ended_lines(first, report, 1_000, False),
        ended_lines(first, report, 0, True),
        ended_lines(replace(first, undone=UndoReport("")), report, 1_000, True),
    ):
        assert DIGEST_BEGINS not in [line.text for line in lines]


def test_what_two_conversations_say_is_one_best_bullet() -> None:
    """The same words three times look like a bad harvest."""
    rows = [Artifact(f"/{name}", name, "conversation", 10) for name in ("a", "b")]
    plan = HarvestReport(False, plan=HarvestPlan((), tuple(Step(row, "harvest", row.name, "") for row in rows)))
    watch = Watch(plan, {}, 0.0)
    for at, name in enumerate(("a", "b"), 1):
        line = NewLine("facts", "Port 8080 is taken.", "", 1)
        watch.hear(Progress(at, 2, name, "1 item", path=f"/{name}", lines=(line,)), float(at))
    assert [row.text for row in best_rows(watch.best, 3.0)] == ["Port 8080 is taken."]


# --- settings, header, status line ---


def test_the_settings_that_are_shown_have_words_a_value_and_their_choices(home: Workspace) -> None:
    rows = {row.key: row for row in setting_rows(config_show(home))}
    assert len(rows) == 7 and all(row.words and row.about for row in rows.values())
    assert rows["provider"].choices[0] == "offline" and rows["digest_max_bytes"].value == "4096"
    assert set_words("text", "true") == '"true"' and set_words("int", "4") == "4"


def test_a_digest_is_not_deleted_without_being_told_how_it_comes_back(home: Workspace) -> None:
    title, words = delete_words(replace(overview(home).status.digest, exists=True, bytes=1234))
    assert title.startswith("Delete") and "1,234 bytes" in words and "get it back" in words


def test_the_switch_is_green_only_where_conversations_get_the_digest(home: Workspace) -> None:
    """A green switch over a digest that is not there tells somebody that their assistant knows what it does not."""
    found = overview(home)
    absent = replace(found.status.digest, exists=False, enabled=True, injected=False)

    def words(digest: DigestState, state: str) -> tuple[bool, str]:
        return switch_words(digest, DigestStands(state, "so it is"))

    assert words(absent, UNWRITTEN) == (False, "No digest yet")
    assert words(absent, DELETED) == (False, "Digest")
    there = replace(absent, exists=True)
    assert words(there, EMPTY) == (False, "Digest, empty")
    assert words(replace(there, enabled=False), OFF) == (False, "Digest")
    assert words(replace(there, injected=True), WRITTEN) == (True, "Digest")
    assert words(replace(there, injected=True), UNREADABLE) == (False, "Digest")


def test_the_status_line_tells_time_left_spend_and_what_waits(home: Workspace) -> None:
    running = Activity(49, 118, tokens=182_000, price=0.0213, left=84)
    assert activity_words(running) == "Harvesting 49 of 118 · about 1 min left · 182K tokens · $0.0213"
    assert "Harvesting 49 of 118 · 2 failed · about" in activity_words(replace(running, failed=2))
    assert activity_words(replace(running, stopping=True)).endswith("stopping after this step")
    state = State(snapshot=gathered(home).snapshot)
    assert resting_words(state, 0.0)[2] == "No harvest yet"
    assert [link.words for link in links(state)] == ["6 not harvested yet"] and links(State()) == []
    state = replace(state, data={"knowledge": Knowledge()})
    assert [link.words for link in links(state)] == ["0 bullets", "6 not harvested yet"]
    assert harvest_button(state).label == "Harvest 6…" and harvest_button(State()).label == "Harvest…"
    assert resting_words(State(), 0.0)[2] == "Reading the store…"
    assert resting_words(State(problem=ErrorInfo("a", "the disk is gone")), 0.0)[2] == "The disk is gone"
    there = state.snapshot
    assert there is not None
    failed = replace(there.overview.status, ledger={"harvest-failed": 2}, pending={})
    row = {"status": "harvest-failed", "run": "one", "at": "1970-01-02T00:00:00+00:00"}
    gone = LedgerRow("gone", {"status": "forgotten", "at": "1970-01-02T00:01:00+00:00"})
    rows = (gone, *(LedgerRow(str(number), row) for number in range(2)))
    there = replace(there, overview=replace(there.overview, status=failed), ledger=rows_of(rows))
    sign, _, line = resting_words(State(snapshot=there), 86460.0)
    assert (sign, line) == ("triangle-alert", "Last harvest: 1 min ago · 2 failed"), "never green beside a failure"
    assert begin_words(state) == begin_words(State()) == NOTHING_SENT
    odd = ErrorInfo("odd", f"{os.path.expanduser('~')}/config.toml, line 4: odd", "~/config.toml", "mend it")
    words = resting_words(State(snapshot=replace(there, problems=(odd, odd))), 0.0)[2]
    assert words == "~/config.toml, line 4: odd (and 1 more warning)"
    told = resting_words(State(snapshot=replace(there, problems=(odd,))), 86460.0, odd)[2]
    assert told.startswith("Last harvest: 1 min ago"), "what stands at the foot is said once"
    for run, words in (
        (RunState(ELSEWHERE, "harvest", 4711, 12, 41), "'knowledge harvest' is at work (process 4711): 12 of 41"),
        (RunState(INTERRUPTED, owed=3), "The last harvest was cut off: 3 conversations that it read are not in"),
    ):
        stands = replace(there.overview.status.stands, run=run)
        now = replace(there, overview=replace(there.overview, status=replace(there.overview.status, stands=stands)))
        assert resting_words(State(snapshot=now), 0.0)[2].startswith(words)
        assert words in begin_words(State(snapshot=now)) and "Nothing has been read" not in begin_words(
            State(snapshot=now)
        )


# --- the commands, the watcher, the keys ---


def test_commands_are_found_by_their_other_names(home: Workspace) -> None:
    harvested(home)
    found = gathered(home).snapshot
    actions = [Action("view.settings", "Go to Settings", "settings", lambda: None, "4"),
               Action("doctor", "Check the store, and repair it", "shield-check", lambda: None)]  # fmt: skip
    rows = action_entries(actions) + file_entries(found.overview.files) + run_entries(found.overview.runs)
    assert search(rows, "file system check")[0].key == ("action", "doctor")
    assert search(rows, "config")[0].key == ("action", "view.settings")
    assert search(rows, "setitngs")[0].key == ("action", "view.settings")  # letters that changed places
    [run] = search(rows, "undo harvest")
    assert run.key[0] == "run" and "(6 conversations, " in run.text and run.meta  # type: ignore[index]
    assert search(rows, "qqqqq") == []
    assert [row.key[0] for row in search(rows, "", 3)] == ["action", "action", "file"]  # type: ignore[index]


def test_only_what_can_change_the_view_wakes_it(tmp_path: Path) -> None:
    paths = Paths(tmp_path / "home")
    (paths.knowledge / "files").mkdir(parents=True)
    other = str(tmp_path / "config" / "config.toml")
    (tmp_path / "config").mkdir()
    assert matters(str(paths.knowledge / "facts.md"), paths)
    assert matters(str(paths.conversations / "x"), paths) and matters(other, paths, [other])
    for noise in (paths.journal, paths.knowledge / ".facts.md.swp", paths.knowledge / "facts.md.knowledge-tmp.1.2",
                  paths.knowledge / "facts.md~", Path(other), Path("/elsewhere")):  # fmt: skip
        assert not matters(str(noise), paths), noise
    assert folders_of(paths, [other]) == [paths.home, paths.knowledge, paths.file_notes, tmp_path / "config"]
    assert folders_of(Paths(tmp_path / "not" / "yet")) == [tmp_path]


def test_a_run_that_was_killed_is_no_longer_at_work(tmp_path: Path) -> None:
    """It changes no file any more, and the window would wait for it for ever."""
    paths = Paths(tmp_path / "home")
    paths.journal.parent.mkdir(parents=True)
    paths.journal.write_bytes(b"half a run")
    with locks.locked(paths.lock, work="harvest"):
        running = run_mark(paths)
    assert running != run_mark(paths)


def test_a_ledger_that_is_another_of_the_same_size_is_read_again(home: Workspace) -> None:
    """Another program forgets one conversation, and the list goes on showing it."""
    harvested(home)
    first = gathered(home)
    key = next(iter(read_ledger(home.paths)))
    text = home.paths.ledger.read_text(encoding="utf-8")
    home.paths.ledger.write_text(text.replace(key, "f" * 64), encoding="utf-8")
    rows = gathered(home, first.snapshot, first.ledger_seen).snapshot.ledger
    assert "f" * 64 in [row.key for row in rows] and key not in [row.key for row in rows]


def test_a_program_is_never_started_by_opening_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A note can name any path; a double click must not run what a conversation planted there."""
    started: list[list[str]] = []
    monkeypatch.setattr("gui.toolkit.outside.subprocess.Popen", lambda words, **_: started.append(words))
    note, script, link = tmp_path / "note.md", tmp_path / "evil.sh", tmp_path / "evil.desktop"
    for file in (note, script, link):
        file.write_text("x", encoding="utf-8")
    script.chmod(0o755)
    for file in (note, script, link):
        assert isinstance(attempt(open_outside, str(file)), Ok)
    assert [words[-1] for words in started] == [str(note), str(tmp_path), str(tmp_path)]
    gone = attempt(open_outside, str(tmp_path / "gone"))
    assert isinstance(gone, KnowledgeError) and gone.error.code == "not-there"


# --- a run that is watched -------------------------------------------------------------------------------------------


def test_lines_that_could_not_be_written_are_not_counted_any_more() -> None:
    """They are shown when the journal has them; a full disk comes later."""
    rows = [Artifact(f"/srv/{name}", name, "conversation", 9) for name in ("one", "two")]
    plan = HarvestReport(False, plan=HarvestPlan((), tuple(Step(row, "harvest", row.name, "") for row in rows)))
    watch = Watch(plan, {}, 0.0)
    for row in rows:
        lines = (NewLine("facts", f"{row.name} is kept", "", 1),)
        watch.hear(Progress(1, 2, row.name, "1 item", path=row.path, lines=lines), 1.0)
    watch.hear(Progress(2, 2, "one", "failed", path="/srv/one"), 2.0)
    assert watch.counts == {"facts": 1} and [came.line.text for came in watch.best] == ["two is kept"]
    assert (watch.count(BROKEN), watch.count(READ)) == (1, 1)


def test_a_large_store_tells_what_its_ledger_says_before_all_is_read() -> None:
    """For seconds it said "0 conversations", or nothing at all."""
    told = [link.words for link in links(State(first_counts={"harvested": 88_889, "harvest-failed": 11_111}))]
    assert told == ["from 88,889 conversations", "11,111 failed"], "and no bullets: nobody has counted them"
    assert links(State()) == []


def test_a_damaged_ledger_leads_to_the_repair(home: Workspace) -> None:
    """The button offered a harvest, and the line of state said "1 warning"."""
    harvested(home)
    assert harvest_button(State(snapshot=gathered(home).snapshot)).action == "harvest"
    home.paths.ledger.write_bytes(home.paths.ledger.read_bytes()[:-40])
    state = State(snapshot=gathered(home).snapshot)
    assert harvest_button(state)[0] == "Repair…" and harvest_button(state).action == "doctor"
    assert resting_words(state, 0.0) == ("circle-alert", "failed", "The ledger is not readable JSON")
    assert state.snapshot is not None and known_counts(state.snapshot) is None
    assert {line.aside for line in ledger_lines(known_counts(state.snapshot))} == {"?"}, "not 0: nobody knows"


def test_a_name_that_the_fonts_cannot_show_is_a_word_in_its_cell() -> None:
    """Rows of replacement marks are told apart by nobody."""
    row = row_of("f" * 64, {"path": "/srv/chats/שיחה", "status": "harvested", "title": "שיחה על retry"})
    name = [column.key for column in COLUMNS].index("name")
    assert cell(row, name, 0.0) == "[Hebrew: open it in your editor] retry"
