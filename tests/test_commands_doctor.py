"""The doctor names what is wrong, mends what it can, and touches nothing else."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from core.base import files, locks
from core.commands import bullets
from core.commands.bullets import add
from core.commands.bullets import notes as notes_of
from core.commands.doctor import doctor
from core.commands.history.trash import trash_restore
from core.commands.workspace import Workspace, reopened
from core.knowledge.check import Finding
from core.knowledge.file_notes import read_records, write_records
from core.knowledge.journal import FrozenPlan, Journal, plan_to_json, read_plans
from core.knowledge.ledger import read_ledger, write_ledger
from core.knowledge.lines import PlannedFile
from tests.made_home import HURRIED, Clock, Model, converse, error, harvested, make_home, read, write

# --- The doctor: if these fail, damage goes unnoticed, or a repair makes it worse. Each test makes one damage.


@pytest.fixture(name="workspace")
def sound(tmp_path: Path) -> Workspace:
    """A home with one harvest, one note and nothing wrong."""
    workspace = make_home(tmp_path)
    converse(workspace)
    harvested(workspace, Model(), Clock())
    (tmp_path / "engine.py").write_text("x = 1\n")
    bullets.add(workspace, "files", "starts cold", file="engine.py")
    assert findings(workspace) == []
    return workspace


def findings(workspace: Workspace, repair: bool = False) -> list[Finding]:
    return doctor(workspace, repair, editor_wait=HURRIED).findings


def found(workspace: Workspace, code: str) -> Finding:
    """The one finding that looking shows, the store being as it was afterwards."""
    before = picture(workspace)
    [finding] = findings(workspace)
    assert finding.code == code, finding
    assert picture(workspace) == before
    return finding


def repaired(workspace: Workspace, code: str) -> None:
    """A look shows it, a repair mends it and says so, and then nothing is wrong."""
    assert found(workspace, code).repairable
    [finding] = findings(workspace, repair=True)
    assert finding.repaired and finding.code == code
    assert findings(workspace) == []


def picture(workspace: Workspace) -> dict[str, tuple[int, bytes]]:
    """Every file below the home with its mode; the run lock aside, which says who looked at it last, and the log, which
    is emptied when all that stands in it is told."""
    aside = (workspace.paths.lock, workspace.paths.log)
    paths = [path for path in workspace.paths.home.rglob("*") if path.is_file() and path not in aside]
    return {str(path): (path.stat().st_mode, path.read_bytes()) for path in paths}


def test_an_empty_home_is_healthy_and_stays_empty(tmp_path: Path) -> None:
    workspace = make_home(tmp_path)
    assert findings(workspace, repair=True) == []
    assert not workspace.paths.home.exists()


def test_an_interrupted_run_is_brought_to_its_end(workspace: Workspace) -> None:
    [(sha, entry)] = read_ledger(workspace.paths).items()
    plan = read_plans(workspace.paths.plans, entry["run"])[sha]
    write(workspace, "facts.md", "# Facts\n")
    (workspace.paths.plans / f"{entry['run']}.jsonl").unlink()
    write_ledger(workspace.paths, {})
    write(workspace, "digest.md", "")
    workspace.paths.digest.unlink()
    journal = Journal(workspace.paths.journal)
    journal.append({"t": "run", "run": entry["run"]})
    journal.append({"t": "intent", "sha": sha, "path": entry["path"], "plan": plan_to_json(plan)})
    journal.close()
    assert "journal-left" in [finding.code for finding in findings(workspace)]
    assert all(finding.repaired for finding in findings(workspace, repair=True))
    assert "fact 1" in read(workspace, "facts.md") and not workspace.paths.journal.exists()
    assert [finding.code for finding in findings(workspace) if not finding.note] == []


def test_a_running_harvest_is_told_apart_from_a_crash(workspace: Workspace) -> None:
    workspace.paths.journal.write_bytes(b"")
    workspace.paths.journal.chmod(0o600)
    with locks.locked(workspace.paths.lock):
        assert found(workspace, "running").note
        assert error(doctor, workspace, True, editor_wait=HURRIED).code == "lock-held"
    workspace.paths.lock.write_bytes(b"its last holder")
    assert "journal-left" in [finding.code for finding in findings(workspace)]
    assert workspace.paths.lock.read_bytes() == b"its last holder", "looking leaves it as it is"


def test_a_plan_that_still_cannot_be_written_is_not_called_repaired(workspace: Workspace) -> None:
    (workspace.paths.knowledge / "questions.md").mkdir()
    plan = FrozenPlan((PlannedFile("questions.md", "# Questions", ("- why",)),), {})
    journal = Journal(workspace.paths.journal)
    journal.append({"t": "intent", "sha": "a" * 64, "path": "/x", "plan": plan_to_json(plan)})
    journal.close()
    [left] = [finding for finding in findings(workspace, repair=True) if finding.code == "journal-left"]
    assert not left.repaired and not left.repairable and workspace.paths.journal.exists()


@pytest.mark.parametrize("folder", ["knowledge", "file_notes", "state", "plans"])
def test_a_leftover_temporary_file_is_cleared(workspace: Workspace, folder: str) -> None:
    left = getattr(workspace.paths, folder) / f".facts.md..{os.getpid()}-0{files.TEMPORARY_MARK}"
    left.write_text("half")
    left.chmod(0o600)
    repaired(workspace, "leftover")
    assert not left.exists()


def test_a_torn_line_in_the_changes_is_set_aside_and_no_other_is_lost(workspace: Workspace) -> None:
    with workspace.paths.changes.open("ab") as stream:
        stream.write(b'{"when": "2026\n[]\n')
    finding = found(workspace, "bad-changes")
    number = workspace.paths.changes.read_bytes().count(b"\n")
    assert f"{number - 1}, {number}" in finding.message
    before = workspace.paths.changes.read_bytes()
    repaired(workspace, "bad-changes")
    assert workspace.paths.changes.read_bytes() == before.removesuffix(b'{"when": "2026\n[]\n')
    [aside] = workspace.paths.knowledge.glob("changes.damaged-*.jsonl")
    assert aside.read_bytes() == b'{"when": "2026\n[]\n'


@pytest.mark.parametrize("code", ["ledger-corrupt", "ledger-missing"])
def test_a_ledger_is_rebuilt_and_what_is_left_of_it_set_aside(workspace: Workspace, code: str) -> None:
    before = read_ledger(workspace.paths)
    workspace.paths.ledger.write_text('{"entries": {') if code == "ledger-corrupt" else workspace.paths.ledger.unlink()
    repaired(workspace, code)
    assert read_ledger(workspace.paths) == before
    assert len(list(workspace.paths.knowledge.glob("ledger.corrupt-*.json"))) == (code == "ledger-corrupt")


def test_a_harvest_without_its_plan_is_no_proof(workspace: Workspace) -> None:
    for plans in workspace.paths.plans.glob("*.jsonl"):
        plans.unlink()
    before = read_ledger(workspace.paths)
    repaired(workspace, "no-plan")
    [(sha, entry)] = read_ledger(workspace.paths).items()
    assert entry == before[sha] | {"status": "harvest-failed", "error": "no committed plan proves its harvest"}


def test_a_plan_without_its_entry_gets_it_back(workspace: Workspace) -> None:
    before = read_ledger(workspace.paths)
    write_ledger(workspace.paths, {})
    codes = {finding.code for finding in findings(workspace)}
    assert codes == {"no-entry", "trash-unknown"}
    assert all(finding.repaired for finding in findings(workspace, repair=True))
    assert read_ledger(workspace.paths) == before and findings(workspace) == []


@pytest.mark.parametrize(
    ("data", "code", "line"),
    [
        (b"- fine\n- caf\xe9\n", "not-utf8", "line 2"),
        (b"- fine\n\n- a\0\0\n", "nul-bytes", "line 3"),
        (b"- fine\n- cut [from: chat, 2026-0", "torn-line", "line 2"),
        (b"- one [from: chat, 2026-01-01]- two [from: chat, 2026-01-01]\n", "glued-lines", "line 1"),
    ],
)
@pytest.mark.parametrize("name", ["decisions.md", "quarantine.md"])
def test_damaged_text_is_named_with_its_line(tmp_path: Path, name: str, data: bytes, code: str, line: str) -> None:
    workspace = make_home(tmp_path)
    write(workspace, name, "").write_bytes(data)
    finding = found(workspace, code)
    assert line in finding.message and not finding.repairable
    assert doctor(workspace, True, editor_wait=HURRIED).errors
    assert (workspace.paths.knowledge / name).read_bytes() == data


def test_a_file_of_bullets_that_is_gone_is_told(workspace: Workspace) -> None:
    """With all that was learned gone it said "the store is whole", and no more."""
    workspace.paths.digest.unlink(missing_ok=True)
    (workspace.paths.knowledge / "facts.md").unlink()
    [told] = [row for row in findings(workspace, repair=True) if row.path.endswith("facts.md")]
    assert "vanished" in told.message and "review --kind vanished" in told.message and not told.repaired


def test_a_link_in_place_of_a_category_file_is_named(tmp_path: Path) -> None:
    workspace = make_home(tmp_path)
    path = write(workspace, "facts.md", "")
    path.unlink()
    path.symlink_to(tmp_path / "elsewhere.md")
    assert not found(workspace, "odd-file").repairable


def test_a_note_whose_file_is_gone_is_worth_knowing_but_no_damage(tmp_path: Path, workspace: Workspace) -> None:
    (tmp_path / "engine.py").rename(tmp_path / "motor.py")
    assert findings(workspace) == [], "a renamed file keeps its note without a word"
    (tmp_path / "motor.py").unlink()
    assert found(workspace, "note-orphaned").note
    assert doctor(workspace).errors == []


def test_a_note_follows_its_file_when_a_folder_above_is_renamed(tmp_path: Path, workspace: Workspace) -> None:
    """`notes` showed it at the new place, and the doctor called the file gone."""
    source = tmp_path / "work/shop/src/till/app.py"
    source.parent.mkdir(parents=True)
    source.write_text("x = 3\n")
    add(workspace, "files", "The till rounds its sums", file=str(source))
    (tmp_path / "work/shop").rename(tmp_path / "work/store")
    assert findings(workspace) == []
    (tmp_path / "work/store/src/till/app.py").unlink()
    assert found(workspace, "note-orphaned").note
    assert doctor(workspace).errors == []


def test_a_stranger_on_a_reused_inode_does_not_keep_the_note(tmp_path: Path, workspace: Workspace) -> None:
    engine = tmp_path / "engine.py"
    (tmp_path / "new").write_text("x = 2\n")
    (tmp_path / "new").replace(engine)
    records, name = read_records(workspace.paths), f"{engine.stat().st_dev}:{engine.stat().st_ino}"
    records[f"{name}.md"] = {"path": "/elsewhere/gone.py", "birth": 12345, "head": "", "size": 1}
    write_records(workspace.paths, records)
    (workspace.paths.file_notes / f"{name}.md").write_text("# /elsewhere/gone.py\n\n- about another\n")
    (workspace.paths.file_notes / f"{name}.md").chmod(0o600)
    assert {finding.code for finding in findings(workspace)} == {"note-stranger", "note-orphaned"}
    findings(workspace, repair=True)
    assert findings(workspace) == []
    assert [row.bullet.text for row in notes_of(workspace, "engine.py").bullets] == ["starts cold"]
    assert "about another" in read(workspace, f"files/{name}@12345.md")


def test_a_note_follows_a_file_that_an_editor_replaced(tmp_path: Path, workspace: Workspace) -> None:
    (tmp_path / "new").write_text("x = 2\n")
    (tmp_path / "new").replace(tmp_path / "engine.py")
    repaired(workspace, "note-moved")
    assert [row.bullet.text for row in notes_of(workspace, "engine.py").bullets] == ["starts cold"]


@pytest.mark.parametrize("damage", ["missing", "damaged", "incomplete"])
def test_the_list_of_notes_is_made_anew(workspace: Workspace, damage: str) -> None:
    if damage == "missing":
        workspace.paths.file_ids.unlink()
    else:
        workspace.paths.file_ids.write_text("{" if damage == "damaged" else "{}")
    assert damage in found(workspace, "file-ids").message
    repaired(workspace, "file-ids")
    assert len(json.loads(workspace.paths.file_ids.read_text())) == 1


def test_files_and_folders_that_others_can_read_are_closed(workspace: Workspace) -> None:
    (workspace.paths.knowledge / "facts.md").chmod(0o644)
    workspace.paths.trash.chmod(0o755)
    assert {finding.code for finding in findings(workspace)} == {"open-files", "open-folder"}
    assert all(finding.repaired for finding in findings(workspace, repair=True))
    assert (workspace.paths.knowledge / "facts.md").stat().st_mode & 0o777 == 0o600
    assert workspace.paths.trash.stat().st_mode & 0o777 == 0o700


def test_a_stale_digest_is_regenerated_but_an_absent_one_stays_away(workspace: Workspace) -> None:
    good = read(workspace, "digest.md")
    write(workspace, "digest.md", good + "- planted\n")
    repaired(workspace, "digest-stale")
    assert read(workspace, "digest.md") == good
    workspace.paths.digest.unlink()
    assert findings(workspace, repair=True) == [] and not workspace.paths.digest.exists()


def trashed(workspace: Workspace) -> Path:
    [path] = workspace.paths.trash.iterdir()
    return path


def test_a_conversation_that_is_in_its_place_is_not_called_deleted(workspace: Workspace) -> None:
    ledger = workspace.paths.ledger.read_bytes()
    trash_restore(workspace, trashed(workspace).name, editor_wait=HURRIED)
    workspace.paths.ledger.write_bytes(ledger)
    assert {finding.code for finding in findings(workspace)} == {"not-deleted", "trash-missing"}
    assert all(finding.repaired for finding in findings(workspace, repair=True))
    [entry] = read_ledger(workspace.paths).values()
    assert entry["deleted"] is False and "trash" not in entry


def test_settings_without_credentials_and_unknown_keys_are_told(tmp_path: Path, workspace: Workspace) -> None:
    config = tmp_path / "config.toml"
    config.write_text('[ai_settings.knowledge]\nprovider = "anthropic"\nmodel = "a-model"\ndigest_enabeld = true\n')
    workspace = reopened(workspace)
    rows = {finding.code: finding for finding in findings(workspace)}
    assert set(rows) == {"config-warning", "no-credentials"}
    assert rows["config-warning"].note and "digest_enabled" in rows["config-warning"].message
    assert not rows["no-credentials"].repairable


def test_a_prompt_that_cannot_be_read_is_told(workspace: Workspace) -> None:
    write(workspace, "prompts/harvest-conversation.md", "").write_bytes(b"\xff\xfe")
    assert not found(workspace, "bad-prompt").repairable


def test_a_repair_that_the_disk_refuses_is_not_called_repaired(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace.paths.knowledge.chmod(0o755)

    def refuse(*_: object) -> None:
        raise OSError(1, "Operation not permitted")

    monkeypatch.setattr("core.base.files.set_mode", refuse)
    report = doctor(workspace, True, editor_wait=HURRIED)
    [finding] = report.findings
    assert not finding.repaired and "Operation not permitted" in finding.message
    assert report.errors and report.to_json()["healthy"] is False


# --- What the doctor puts right in the trash and in torn lines: if these fail, a repair loses bytes of a person's.


def test_a_foreign_file_in_the_trash_is_named_and_kept(workspace: Workspace) -> None:
    (workspace.paths.trash / "mine.txt").write_text("mine")
    (workspace.paths.trash / "mine.txt").chmod(0o600)
    before = picture(workspace)
    assert found(workspace, "trash-foreign").note
    findings(workspace, repair=True)
    assert picture(workspace) == before


def test_a_trashed_conversation_with_another_hash_is_set_aside_with_every_byte(workspace: Workspace) -> None:
    """It is no longer what was harvested: no purge may take it, and no restore may pass it for the conversation."""
    trashed(workspace).write_text("changed")
    name = trashed(workspace).name
    assert found(workspace, "trash-damaged").repairable
    rows = {row.code: row for row in findings(workspace, repair=True)}
    assert rows["trash-damaged"].repaired and rows.keys() <= {"trash-damaged", "trash-foreign"}
    assert trashed(workspace).name == f"kept-{name}" and trashed(workspace).read_text() == "changed"
    assert [row.code for row in findings(workspace)] == ["trash-foreign"]
    [entry] = read_ledger(workspace.paths).values()
    assert "trash" not in entry and entry["status"] == "harvested"


def test_of_several_damages_in_one_file_each_is_counted(workspace: Workspace) -> None:
    """Told of one where there are two, a user mends that one and believes the file whole."""
    write(workspace, "digest.md", "").unlink()
    glued = "- one [from: a, 2026-01-01]- two [from: a, 2026-01-01]\n"
    write(workspace, "facts.md", f"# Facts\n\n{glued}{glued}")
    for repair in (False, True):
        left = [row.message for row in findings(workspace, repair) if row.code == "glued-lines" and not row.repaired]
        assert left == [f"line {number} holds two bullets; a line break is missing" for number in (3, 4)]


def test_a_trash_name_without_a_file_is_forgotten(workspace: Workspace) -> None:
    trashed(workspace).unlink()
    repaired(workspace, "trash-missing")
    [entry] = read_ledger(workspace.paths).values()
    assert "trash" not in entry and entry["deleted"] is True
