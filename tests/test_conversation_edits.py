"""What an edit wrote is found again, and no secret with it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core import conversation_index
from tests.spoken_home import Disk, result


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Disk:
    """An empty home. Files that were just written are believed to be settled."""
    monkeypatch.setattr(conversation_index, "SETTLED_NS", 0)
    return Disk(tmp_path)


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("Edit", {"file_path": "/srv/shop/rules.md", "old_string": "Data may go.",
                  "new_string": "Data stay in memory."}),
        ("Write", {"file_path": "/srv/shop/rules.md", "content": "# Rules\nData stay in memory."}),
        ("apply_patch", {"input": "*** Begin Patch\n*** Update File: rules.md\n-Data may go.\n+Data stay in memory.\n"
                                  "*** End Patch"}),
        ("shell", {"command": ["bash", "-lc", "apply_patch << 'EOF'\n*** Begin Patch\n*** Update File: rules.md\n"
                   f"-Data may go.\n+Data stay in memory.\n{chr(10).join(['+more'] * 600)}\n*** End Patch\nEOF"]}),
        ("MultiEdit", {"file_path": "/srv/shop/rules.md", "edits": [
            {"old_string": "Data may go.", "new_string": "Data stay in memory."},
            {"old_string": "One", "new_string": "Two"}]}),
    ],
)  # fmt: skip
def test_what_an_edit_wrote_is_found(disk: Disk, tool: str, given: dict[str, Any]) -> None:
    """The rules of a project stood in the patch that wrote them, and nobody said them: a search of the raw file told
    them, ours did not."""
    wrote = [{"type": "tool_use", "id": "e1", "name": tool, "input": given}]
    disk.claude("rules", ("user", "Write our rules down."), ("assistant", wrote), ("user", result("e1", "updated")))
    [hit] = disk.find("data stay in memory").hits
    assert (hit.name, hit.turn) == ("claude_code/rules", 2) and "Data stay in memory." in hit.text
    assert "may go" not in hit.text


def test_what_marks_a_secret_around_an_edit_hides_it_in_the_index(disk: Disk) -> None:
    """The new lines alone do not look like a key or a password."""
    body = ["MIIEpAIBAAKCAQEAx7Qd" + "Zq8Tn4" * 7 for _ in range(4)]
    patch = "\n".join(
        ["*** Begin Patch", "*** Update File: id_rsa", " -----BEGIN RSA PRIVATE KEY-----", *(f"+{one}" for one in body),
         " -----END RSA PRIVATE KEY-----", "*** End Patch"]
    )  # fmt: skip
    given = [
        ("apply_patch", {"input": patch}),
        ("Edit", {"file_path": "/srv/k.json", "old_string": '"password": ', "new_string": '"Tr0ub4dorAnd3xyzQ9"'}),
    ]
    for at, (tool, row) in enumerate(given):
        wrote = [{"type": "tool_use", "id": "e1", "name": tool, "input": row}]
        disk.claude(f"s{at}", ("user", "Rotate it."), ("assistant", wrote), ("user", result("e1", "done")))
    disk.build()
    data = b"".join(path.read_bytes() for path in (disk.folder / "cache").rglob("*") if path.is_file())
    assert b"Zq8Tn4" not in data and b"Tr0ub4dor" not in data


def test_no_half_of_a_secret_that_an_edit_wrote_is_indexed(disk: Disk) -> None:
    key = "sk-" + "ant-api03-" + "Zq8" * 31
    for at in range(900, 1_200, 20):
        text = f"{'lantern ' * (at // 8)}{key} {'kiln ' * 600}"
        wrote = [{"type": "tool_use", "id": "e1", "name": "Write", "input": {"file_path": "a.txt", "content": text}}]
        disk.claude(f"edit-{at}", ("user", "Write it."), ("assistant", wrote), ("user", result("e1", "done")))
    disk.build()
    data = b"".join(path.read_bytes() for path in (disk.folder / "cache").rglob("*") if path.is_file())
    assert b"lantern" in data and b"Zq8Zq8" not in data
