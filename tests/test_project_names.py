"""By which names a project is asked for, and what is told where several have one."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from core.base.result import KnowledgeError
from tests.cli_call import call
from tests.shop import kept, shop_fixture, turn  # noqa: F401 - pytest finds the fixture by itself

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="lines of a POSIX shell")


def test_of_two_projects_of_one_name_it_is_told_which_was_searched(
    shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ "Never said" of the one was taken for an answer about the other."""
    other = tmp_path / "elsewhere" / "shop"
    other.mkdir(parents=True)
    rows = [turn("user", "Why does the zebra importer stall?", 0, "s7", other),
            turn("assistant", "The zebra importer stalls on a quagga header.", 1, "s7", other)]  # fmt: skip
    kept("s7", rows)
    assert call("search", "--build", "--quiet")[0] == 0
    assert f"another project of that name: {other}" in call("find", "zebra", "--project", str(shop))[1]
    assert "another project" not in call("find", "zebra")[1]
    assert "quagga" in call("find", "zebra", "--project", "elsewhere/shop")[1]

    rule = "From now on never feed the zebra importer a quagga header, because it stalls."
    kept("s8", [turn("user", rule, 0, "s8", other), turn("assistant", "Understood.", 1, "s8", other)])
    assert call("harvest", "--apply", "--source", "claude_code", "--now", "--quiet")[0] == 0
    monkeypatch.chdir(tmp_path)
    for asked in (("list", "--project", "shop"), ("context", "--project", "shop")):
        taken, told, warned = call(*asked)
        assert taken == 0 and "alone; others of that name: " in warned, "nothing was told, and nothing said why"
        assert ("quagga" in told) == (f"of {other} alone" in warned)
        other_way = warned.rpartition("others of that name: ")[2].strip()
        assert ("quagga" in call(asked[0], "--project", other_way)[1]) != ("quagga" in told), "the path leads there"
    labels = {row["project"] for row in json.loads(call("list", "--project", "all", "--json")[1])["bullets"]}
    [label] = [one for one in labels if one and one.startswith("shop")]
    assert "quagga" in call("list", "--project", label if label != "shop" else str(other))[1]


def test_a_history_that_names_no_folder_is_found_where_all_may_be_told(shop: Path, tmp_path: Path) -> None:
    """A clone in `owner__name` is asked for by its short name; a project that nobody knows is said to be unknown, and
    costs no second call. Who is not allowed to be told of other projects is not told more by that."""
    from core.commands.workspace import open_workspace
    from core.mcp_server.moment import find

    clone = tmp_path / "acme__parcels"
    clone.mkdir()
    kept("s7", [turn("user", "Why does the zebra importer stall?", 0, "s7", clone),
                turn("assistant", "The zebra importer stalls on a quagga header.", 1, "s7", clone)])  # fmt: skip
    assert call("search", "--build", "--quiet")[0] == 0
    config = tmp_path / "all.toml"
    config.write_text("[ai_settings.knowledge]\nmcp_all_conversations = true\n")
    everything = open_workspace("", config, None, Path(tmp_path.anchor))
    told = find(everything, "why does the zebra importer stall?", "parcels")
    assert "quagga" in told and "acme__parcels" in told and "is known" not in told
    assert "no project mill/parcels is known" in find(everything, "why does the zebra importer stall?", "mill/parcels")
    told = find(everything, "why does the zebra importer stall?", "nowhere")
    assert "quagga" in told and "no project nowhere is known: all conversations were searched" in told
    with pytest.raises(KnowledgeError, match="no project of that name"):
        find(open_workspace(), "why does the zebra importer stall?", "parcels")


@pytest.mark.parametrize("name", ["shop", "acme/shop", "{folder}", "{folder}/", "{folder}/.worktrees/1"])
def test_a_project_is_named_as_hits_print_it(
    shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "towncrier" in call("find", "release notes", "--project", name.format(folder=shop))[1]
