"""Every test has folders and an environment of its own: nothing here may touch the settings, the cache, the home, the
keys or the conversations of who runs it, or depend on them."""

from __future__ import annotations

import functools
import gc
import itertools
import os
import re
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from core.knowledge.swap import EDITOR_WAIT
from core.library.database import Library
from core.llm.generate import PROVIDERS
from core.sources.tools import SOURCES
from tests.harvest_world import World
from tests.library_place import empty_library, library_address, opened, postgres_server

# No clock decides, and an innocent change meets the same few examples as the last one. A campaign draws new ones, and
# many: HYPOTHESIS_PROFILE=campaign python -m pytest tests/test_x.py
_SLOW = [HealthCheck.too_slow]
settings.register_profile(
    "same", max_examples=25, deadline=None, derandomize=True, database=None, suppress_health_check=_SLOW
)
settings.register_profile("campaign", max_examples=2000, deadline=None, suppress_health_check=_SLOW)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))


# As in the program itself (`core.cli.main.run`): whoever makes many small records looks for cycles seldom. At Python's
# own pace that is a third of the time of collecting the tests, and of many of them.
gc.set_threshold(20_000, 20, 20)

# A program that is installed has been compiled; where Python may not keep what it compiled, each of the hundreds of
# processes that tests start would do it again.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
_OF_OTHERS = {
    *(root.variable for source in SOURCES for root in source.roots),  # where other tools keep their conversations
    *(variable for provider in PROVIDERS.values() for variable in provider.key_variables),
    *("MANUAL_SLOP_HOME", "SLOP_CONFIG", "VISUAL", "EDITOR", "COLUMNS", "NO_COLOR", "NETRC", "REQUESTS_CA_BUNDLE"),
    *(spelling for name in _PROXIES for spelling in (name, name.lower())),
}


_SHARING = ("test_architecture", "test_cases", "test_docs", "test_harvest_committer", "test_library_cluster",
            "test_mcp_scope", "test_quality_who_said", "test_search_retrieval")  # fmt: skip


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Where several processes share the tests (`make test`), each has a screen of its own; without Xvfb all windows
    stay in one of them: two on one screen would take the keyboard from each other. A file whose tests share what is
    dear to make stays in one, too, so that it is made once. The marks that xdist has for this it overlooks under some
    versions of pytest, without a word."""
    from xdist.scheduler import LoadScopeScheduling

    screens = shutil.which("Xvfb")

    class Sharing(LoadScopeScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            file = Path(nodeid.partition("::")[0]).stem
            if file.startswith("test_gui_") and not screens:
                return "windows"
            return file if file in _SHARING else nodeid

        def _reschedule(self, node: Any) -> None:
            """A process begins a test once it knows the next, or that there is none: one by itself, handed to a process
            that stands in for another, would wait for ever."""
            while self.workqueue and not node.shutting_down and self._pending_of(self.assigned_work[node]) < 2:
                self._assign_work_unit(node)
            super()._reschedule(node)

        def mark_test_complete(self, node: Any, item_index: int, duration: float = 0) -> None:
            """What is done is forgotten: with each report xdist counts through all that a process was ever given."""
            super().mark_test_complete(node, item_index, duration)
            work = self.assigned_work[node]
            scope = self._split_scope(self.registered_collections[node][item_index])
            if all(work[scope].values()):
                del work[scope]

        def remove_node(self, node: Any) -> str | None:
            """A process has ended: the test that ended it has failed, and what it had not begun is for the others."""
            work = self.assigned_work.pop(node)
            left = [(scope, name) for scope, unit in work.items() for name, done in unit.items() if not done]
            for scope, name in left[1:]:
                self.workqueue.setdefault(scope, {})[name] = False
            for other in self.assigned_work.keys() & self.registered_collections.keys() if left else ():
                self._reschedule(other)
            return left[0][1] if left else None

    return Sharing(config, log)


def pytest_collection_finish() -> None:
    """What is there now stays until the end: nobody needs to look through it for cycles again and again."""
    gc.collect()
    gc.freeze()


_NUMBERS = itertools.count()
_UNUSED: list[Path] = []
"""Folders of users in which their test left nothing: for the next one."""


@pytest.fixture(scope="session")
def _folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tests")


@pytest.fixture
def tmp_path(_folders: Path, request: pytest.FixtureRequest) -> Path:
    """As pytest's own, which looks through the folders of all tests before for a free name."""
    made = _folders / f"{re.sub(r'[^A-Za-z0-9]+', '_', request.node.name)[:30]}{next(_NUMBERS)}"
    made.mkdir()
    return made


@pytest.fixture(autouse=True)
def _own_folders(
    _folders: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    for name in _OF_OTHERS & os.environ.keys():
        monkeypatch.delenv(name)
    folder = _UNUSED.pop() if _UNUSED else _folders / f"person{next(_NUMBERS)}"
    # The demo lives in the folder for temporary files: not in one that other runs of the tests share.
    (folder / "tmp").mkdir(parents=True, exist_ok=True)
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(folder))
    monkeypatch.setenv("TMPDIR", str(folder / "tmp"))
    monkeypatch.setattr(tempfile, "tempdir", None)
    for name in ("CACHE", "CONFIG", "DATA", "STATE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(folder / name.lower()))
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    # No repository around the folder for temporary files is seen, by git or by us, and nobody's settings of git.
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path_factory.getbasetemp()))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    yield
    if os.listdir(folder) == ["tmp"] and not os.listdir(folder / "tmp"):
        _UNUSED.append(folder)


object.__setattr__(EDITOR_WAIT, "sleep", lambda seconds: None)
"""A harvest waits for a user who may be writing in the file: in the tests' homes nobody is, but where a test says how
long to wait."""
_DURABLE = ("test_base_files", "test_faults", "test_library_database", "test_system")


_CONNECT = sqlite3.connect


class _Hurried(sqlite3.Connection):
    """A database that leaves what it wrote to the system, though it is asked to wait for the drive."""

    def execute(self, sql: str, *given: Any) -> sqlite3.Cursor:
        return super().execute("PRAGMA synchronous = OFF" if sql.startswith("PRAGMA synchronous") else sql, *given)


@pytest.fixture(autouse=True)
def _nobody_waits_for_the_drive(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody cuts the power of a test's folder: whether the program asks for its bytes on the disk, and in which order,
    is what `tests/faults` looks at, so elsewhere nobody waits for the drive. Processes that a test starts do wait."""
    if request.path.stem not in _DURABLE:
        for name in {"fsync", "fdatasync"} & set(dir(os)):
            monkeypatch.setattr(os, name, lambda fd: os.fstat(fd) and None)
        for module in (sqlite3, sqlite3.dbapi2):
            monkeypatch.setattr(module, "connect", functools.partial(_CONNECT, factory=_Hurried))


@pytest.fixture
def world(tmp_path: Path) -> World:
    """A home, empty."""
    return World(tmp_path)


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The address of a real PostgreSQL that runs as long as the tests do."""
    with postgres_server() as address:
        yield address


@pytest.fixture(scope="session")
def empty_libraries(_folders: Path) -> Callable[[str, str], str]:
    """What libraries of tests are copies of, made when first wanted; the migrations have tests of their own."""
    return functools.cache(lambda kind, server: empty_library(kind, _folders, server))


@pytest.fixture(params=["sqlite", "postgres"])
def library_url(
    request: pytest.FixtureRequest, tmp_path: Path, empty_libraries: Callable[[str, str], str]
) -> Iterator[str]:
    """Where a test's own library is, once for each database; skipped where there is no PostgreSQL for tests."""
    kind: str = request.param
    server = request.getfixturevalue("postgres") if kind == "postgres" else ""
    with library_address(kind, tmp_path, server, empty_libraries(kind, server)) as url:
        yield url


@pytest.fixture(params=["sqlite", "postgres"])
def new_library_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The same, where no library was made yet."""
    kind: str = request.param
    with library_address(kind, tmp_path, request.getfixturevalue("postgres") if kind == "postgres" else "") as url:
        yield url


@pytest.fixture
def library(library_url: str) -> Iterator[Library]:
    """An empty library, once for each database."""
    found = opened(library_url)
    yield found
    found.close()
