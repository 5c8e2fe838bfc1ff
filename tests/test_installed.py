"""What a user is told to type where a package is missing, for each way in which the program can be installed.

What they would lose: their computer, to whoever uploads something under our name to a public index; an afternoon, when
the package goes into another environment than the one that lacks it.
"""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest

from core.base import installed
from core.base.paths import shipped_root
from tests.cli_call import call

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="quotes of a POSIX shell")
METADATA = """Metadata-Version: 2.1
Name: knowledge-memory
Version: 0.1.0
Provides-Extra: mcp
Provides-Extra: postgres
Provides-Extra: library
Provides-Extra: here
Requires-Dist: knowledge-memory[library]; extra == 'postgres'
Requires-Dist: psycopg[binary]>=3.1; extra == 'postgres'
Requires-Dist: alembic-that-nobody-has>=1.13; extra == 'library'
Requires-Dist: pytest>=8.0; extra == 'here'
"""
PIP = [sys.executable, "-m", "pip", "install"]
UV_PIP = ["uv", "pip", "install", "--python", sys.executable]


class Place:
    """An environment in which the program lies as an installer has put it there."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.site, self.clone, self.patch = folder / "site", folder / "clone", patch
        self.clone.mkdir()
        (self.clone / "pyproject.toml").touch()
        patch.setattr(sys, "prefix", str(folder))
        self.runs_from(self.clone)

    def runs_from(self, folder: Path) -> None:
        self.patch.setattr(installed, "shipped_root", lambda: folder)

    def install(self, direct: object) -> None:
        noted = self.site / "knowledge_memory-0.1.0.dist-info"
        noted.mkdir(parents=True)
        (noted / "METADATA").write_text(METADATA)
        if direct:
            (noted / "direct_url.json").write_text(json.dumps(direct))
        self.patch.syspath_prepend(str(self.site))
        self.patch.setattr(installed, "find_spec", lambda name: object())


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    return Place(tmp_path, monkeypatch)


def told(monkeypatch: pytest.MonkeyPatch) -> str:
    """What `knowledge library` says where its packages are missing."""
    for name in ("sqlalchemy", "sqlalchemy.exc"):
        monkeypatch.setitem(sys.modules, name, None)
    code, _, err = call("library", "ingest", "x", "--home", str(Path(sys.prefix) / "home"))
    assert code == 1 and "sqlalchemy" in err
    return err


LIBRARY = "alembic-that-nobody-has>=1.13"
CASES = {
    "uv tool, editable": ("uv-receipt.toml", True, [*PIP, "-e", "CLONE[library]"]),
    "uv tool": ("uv-receipt.toml", False, [*PIP, LIBRARY]),
    "pipx": ("pipx_metadata.json", False, [*PIP, LIBRARY]),
    "pip in an environment, editable": ("", True, [*PIP, "-e", "CLONE[library]"]),
    "pip in an environment": ("", False, [*PIP, LIBRARY]),
    "an environment without pip": ("no pip", False, [*UV_PIP, LIBRARY]),
}


@pytest.mark.parametrize("case", sorted(CASES))
def test_the_command_is_the_one_for_how_this_program_was_installed(
    case: str, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The environment of this very program, and the folder that it runs from where that is its source."""
    mark, editable, wanted = CASES[case]
    place.install({"url": place.clone.as_uri(), "dir_info": {"editable": editable}})
    place.runs_from(place.clone if editable else place.site)
    if mark == "no pip":
        monkeypatch.setattr(installed, "find_spec", lambda name: None)
    elif mark:
        (place.site.parent / mark).touch()
    command = shlex.join(word.replace("CLONE", str(place.clone)) for word in wanted)
    assert command in told(monkeypatch)
    away = {"uv-receipt.toml": "uv tool uninstall", "pipx_metadata.json": "pipx uninstall"}.get(mark, "pip uninstall")
    assert away in installed.uninstall_command()


@pytest.mark.parametrize("direct", [None, {"url": "https://a.example/r.git", "vcs_info": {"vcs": "git"}}])
def test_our_name_is_never_asked_for_on_an_index(direct: object, place: Place) -> None:
    """The libraries of the extra alone are named, also those of an extra of ours that it stands for."""
    place.install(direct)
    place.runs_from(place.site)
    assert installed.install_command("postgres") == shlex.join([*PIP, LIBRARY, "psycopg[binary]>=3.1"])
    for extra in ("mcp", "library", "no-such-extra"):
        assert "knowledge-memory" not in installed.how_to_install(extra)


def test_a_checkout_and_the_one_file(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """A clone that runs as it is, beside another that is installed, means itself; one file takes no packages."""
    other = place.clone.parent / "other"
    other.mkdir()
    place.install({"url": other.as_uri(), "dir_info": {"editable": True}})
    assert installed.install_command("library") == shlex.join([*PIP, "-e", f"{place.clone}[library]"])
    assert installed.uninstall_command() == f"delete {place.clone}"
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert installed.install_command("library") == "" and "from its source" in installed.how_to_install("library")
    assert installed.uninstall_command() == f"delete {sys.executable}"


def test_no_text_of_the_program_asks_an_index_for_our_name() -> None:
    """Whatever is named so there is not this program."""
    for folder in ("core", "gui", "assets/docs"):
        for path in (shipped_root() / folder).rglob("*"):
            if path.suffix in (".py", ".md"):
                text = path.read_text(encoding="utf-8")
                assert "install knowledge-memory" not in text and "install 'knowledge-memory" not in text, path
