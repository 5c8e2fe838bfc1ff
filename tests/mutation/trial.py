"""One mutant in a process of its own: put in place of the module, tried by the tests that reach it."""

from __future__ import annotations

import contextlib
import importlib
import importlib.abc
import importlib.util
import os
import shutil
import signal
import sys
import tempfile
import types
from collections.abc import Sequence
from pathlib import Path

from tests.mutation.mutants import Mutant

ROOT = Path(__file__).resolve().parents[2]
SURVIVED, NOTICED, TIMED_OUT = 0, 1, -signal.SIGALRM
PATIENCE = 4.0
LEAST_SECONDS = 20
WARM = ("pytest_httpserver", "hypothesis", "rapidfuzz.fuzz", "rapidfuzz.process", "requests", "tomlkit", "yaml",
        "detect_secrets.plugins.aws", "tqdm", "platformdirs", "zstandard")  # fmt: skip


def warm(tests: Sequence[str]) -> None:
    """Import once what every trial would import: libraries, the project, the test files."""
    import gc

    import pytest

    for name in WARM:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    with open(os.devnull, "w") as nothing, contextlib.redirect_stdout(nothing):
        pytest.main(["--collect-only", "-q", "-p", "no:cacheprovider", f"--rootdir={ROOT}", *tests])
    gc.freeze()


def start(module: str, mutant: Mutant, tests: Sequence[str], seconds: float) -> int:
    """Fork a process that tries the mutant; its exit status is the outcome. Returns its id."""
    child = os.fork()
    if child:
        return child
    signal.alarm(int(LEAST_SECONDS + PATIENCE * seconds))
    status = NOTICED
    where = os.path.join(tempfile.gettempdir(), f"mutant-{os.getpid()}")
    try:
        os.setpgid(0, 0)
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nothing, stream)
        _put_in_place(module, mutant)
        status = NOTICED if _fails(tests, where) else SURVIVED
    finally:
        shutil.rmtree(where, ignore_errors=True)
        os._exit(status)


def _put_in_place(module: str, mutant: Mutant) -> None:
    """Give the function the mutant's code where it stands; what cannot be changed there is imported again."""
    if mutant.inside and _swap_code(module, mutant):
        return
    for name in [name for name in sys.modules if name.split(".")[0] in ("core", "gui", "tests")]:
        if not name.startswith("tests.mutation"):
            del sys.modules[name]
    sys.meta_path.insert(0, _Finder(module, mutant.source))


def _swap_code(module: str, mutant: Mutant) -> bool:
    """Whether the function or method that the mutant is in could be given its new code and defaults."""
    space = {"__name__": module, "__file__": "mutant"}
    twin = types.ModuleType(module)
    twin.__dict__.update(space)
    original = sys.modules.get(module)
    if original is None:
        return False
    sys.modules[module] = twin  # dataclasses look their module up
    try:
        exec(compile(mutant.source, "mutant", "exec"), twin.__dict__)
    finally:
        sys.modules[module] = original
    old, new = _function(original, mutant.inside), _function(twin, mutant.inside)
    if old is None or new is None or old.__code__.co_freevars != new.__code__.co_freevars:
        return False
    old.__code__, old.__defaults__, old.__kwdefaults__ = new.__code__, new.__defaults__, new.__kwdefaults__
    return True


def _function(module: types.ModuleType, inside: str) -> types.FunctionType | None:
    """The outermost plain function of a name such as `Class.method.inner`, without its decorators."""
    found: object = module
    for part in inside.split("."):
        found = vars(found).get(part) if isinstance(found, (types.ModuleType, type)) else None
        while hasattr(found, "__wrapped__"):
            found = found.__wrapped__
        if isinstance(found, types.FunctionType):
            return found
    return None


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self, module: str, source: str) -> None:
        self._module, self._source = module, source

    def find_spec(self, fullname: str, path: object, target: object = None) -> object:
        if fullname != self._module:
            return None
        file = ROOT / f"{fullname.replace('.', '/')}.py"
        return importlib.util.spec_from_file_location(fullname, file, loader=self)  # type: ignore[arg-type]

    def create_module(self, spec: object) -> None:
        return None

    def exec_module(self, module: types.ModuleType) -> None:
        exec(compile(self._source, module.__file__ or "", "exec"), module.__dict__)


def _fails(tests: Sequence[str], where: str) -> bool:
    import hypothesis
    import pytest

    hypothesis.settings.register_profile("mutation", max_examples=20, derandomize=True, deadline=None, database=None)
    os.environ["HYPOTHESIS_PROFILE"] = "mutation"  # tests/conftest.py loads it
    options = ["-x", "-q", "-p", "no:cacheprovider", f"--basetemp={where}", f"--rootdir={ROOT}"]
    return pytest.main([*options, *tests]) != 0
