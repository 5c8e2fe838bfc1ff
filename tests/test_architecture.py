"""The house rules of core/README.md, read from the source. Without them the rooms grow into one."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

from tests.architecture import (
    ROOT,
    Debts,
    Module,
    circles,
    debts,
    forgiven,
    graph_of,
    modules,
    told,
    unforgiven,
    way_round,
)
from tests.waiting import PATIENCE_SECONDS

# room -> the rooms it may import from. Longest prefix wins.
MAY_IMPORT = {
    room: set(others.split())
    for room, others in {
        "core.base": "core.base",
        "core.conversations": "core.base core.conversations",
        "core.llm": "core.base core.llm",
        "core.knowledge": "core.base core.knowledge",
        "core.context_files": "core.base",
        "core.memories": "core.base core.memory_file",
        "core.memory_file": "core.base",
        "core.factindex": "core.base core.factindex",
        "core.search": "core.base core.search",
        "core.agents": "core.base core.sources core.agents",
        "core.experience": "core.base core.conversations core.search core.experience",
        "core.library": "core.base core.conversations core.search core.experience core.library",
        "core.sources": "core.base core.conversations core.sources",
        "core.rules": "core.base core.conversations core.rules",
        "core.harvest": "core.base core.conversations core.knowledge core.sources core.rules core.harvest",
        "core.conversation_index": "core.base core.conversations core.sources core.search core.conversation_reading",
        "core.conversation_reading": "core.base core.conversations core.sources core.search",
        "core.standing_facts": "core.base core.knowledge core.factindex",
        "core.injection": "core.base core.knowledge core.context_files core.factindex core.standing_facts",
        # One program for the hooks of other tools: it loads little, and may never wait for a database layer.
        "core.give": "core.base core.knowledge core.search core.experience core.give",
        "core.commands":
            "core.base core.conversations core.llm core.knowledge core.context_files core.memories "
            "core.memory_file core.factindex core.search core.agents core.library core.sources core.rules "
            "core.harvest core.conversation_index core.standing_facts core.injection core.give core.experience "
            "core.commands",
        # The faces may name records of the rooms that commands return, and nothing that acts.
        "core.cli": "core.base core.commands core.give.hint core.cli",
        "core.mcp_server": "core.base core.commands core.mcp_server",
        "core.__main__": "core.cli core.give.hint",
        "gui.toolkit": "core.base.result gui.toolkit",
        "gui": "core.base core.commands gui gui.toolkit",
    }.items()
}  # fmt: skip
RECORDS = {
    "core.harvest.steps", "core.harvest.report", "core.knowledge.categories", "core.knowledge.run_state",
    "core.knowledge.ledger", "core.knowledge.alike", "core.knowledge.edit", "core.conversations.conversation",
    "core.library.catalogue", "core.library.records", "core.library.use.changes", "core.library.use.consolidate",
    "core.library.use.dossier", "core.library.use.reflect", "core.experience.kinds", "core.conversations.events",
    "core.conversations.readable",
}  # fmt: skip
ONLY_UNDER: dict[str, tuple[str, ...]] = {
    "dearpygui": ("gui",),
    "requests": ("core.base.exchange",),
    # Other tools' stores are read, our own index and library are written.
    "sqlite3": ("core.conversations", "core.search", "core.library", "core.experience", "core.give"),
    "sqlalchemy": ("core.library",),
    "numpy": ("core.search",),
    "xllamacpp": ("core.llm",),
    "huggingface_hub": ("core.search.embedders",),
    "mcp": ("core.mcp_server",),
    "pydantic": ("core.mcp_server",),
}
DISK_COMPOSERS = {"core.base.files"}
DISK_CALLS = {
    "unlink", "rename", "replace", "rmdir", "rmtree", "mkdir", "makedirs", "write_text", "write_bytes", "touch",
    "truncate", "ftruncate", "fsync", "fdatasync", "symlink_to", "hardlink_to", "copytree", "copyfile", "chmod",
    "fchmod", "link", "symlink", "utime", "removedirs", "renames", "pwrite", "writev", "mknod", "mkfifo", "sendfile",
}  # fmt: skip
# Who may change the disk besides base/files.py, and why.
DISK_EXCEPTIONS = {
    "core.base.disk": "the one place",
    "core.commands.demo": "makes a throw-away home of its own",
    "gui.geometry": "the size of the window is no knowledge",
}
STRING_METHODS = {"replace"}
OS_ONLY = {"remove", "write"}  # on anything but os these are methods of lists and streams
VAGUE = {"manager", "util", "utils", "helper", "helpers", "service", "handler", "processor"}


def room_of(module: str) -> str:
    fitting = [room for room in MAY_IMPORT if module == room or module.startswith(f"{room}.")]
    return max(fitting, key=len) if fitting else ""


Rule = Callable[[Module], Iterator[tuple[int, str]]]


def each(rule: Rule, source: Iterable[Module]) -> list[str]:
    """Every line of the source that breaks a rule, as `file:line: sentence`."""
    wrong: dict[str, str] = {}
    for module in source:
        for line, sentence in rule(module):
            wrong.setdefault(f"{module.file}:{line}", sentence)
    return [f"{place}: {sentence}" for place, sentence in wrong.items()]


def upward(module: Module) -> Iterator[tuple[int, str]]:
    room = room_of(module.name)
    if not room and module.name != "core":
        yield 1, f"{module.name} belongs to no room of MAY_IMPORT"
    for target, line in module.imports:
        if target.startswith("."):
            yield line, "imports relatively"
        if not room or target.split(".")[0] not in ("core", "gui") or target in ("core", "core.__version__"):
            continue
        record = room in ("core.cli", "gui") and (target in RECORDS or target.rpartition(".")[0] in RECORDS)
        named = {room_of(target), target, target.rpartition(".")[0]}  # a room may be open to one module of another
        if not record and not named & MAY_IMPORT[room]:
            yield line, f"imports {target}, and {room} may not"


def heavy(module: Module) -> Iterator[tuple[int, str]]:
    for target, line in module.imports:
        rooms = ONLY_UNDER.get(target.split(".")[0], ("",))
        if not module.name.startswith(rooms):
            yield line, f"imports {target}, which belongs to {' and '.join(rooms)}"


def writing(module: Module) -> Iterator[tuple[int, str]]:
    if module.name in DISK_EXCEPTIONS:
        return
    for node in module.nodes:
        if not isinstance(node, ast.Call):
            continue
        if opens_for_writing(node):
            yield node.lineno, "opens a file for writing: go through core.base.files"
        if not isinstance(node.func, ast.Attribute):
            continue
        method, owner = node.func.attr, ast.unparse(node.func.value)
        if owner == "disk" and module.name not in DISK_COMPOSERS:
            yield node.lineno, f"uses disk.{method}: go through core.base.files"
        if method in OS_ONLY and owner == "os":
            yield node.lineno, f"calls os.{method}: go through core.base.files"
        of_string = method in STRING_METHODS and (len(node.args) != 1 or node.keywords)
        if method in DISK_CALLS and owner not in ("files", "disk") and not of_string:
            yield node.lineno, f"calls {owner}.{method}: go through core.base.files"


def undocumented(module: Module) -> Iterator[tuple[int, str]]:
    if not ast.get_docstring(module.tree):
        yield 1, "has no docstring"
    if VAGUE & set(module.name.lower().replace(".", "_").split("_")):
        yield 1, "the name does not say what it is"
    for node in module.tree.body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_") and not ast.get_docstring(node):
            yield node.lineno, f"class {node.name} has no docstring"


@pytest.mark.parametrize("rule", [upward, heavy, writing, undocumented], ids=lambda rule: rule.__name__)
def test_no_file_breaks_a_rule(rule: Rule) -> None:
    """Imports go downward; heavy libraries stay in their room; one module changes the disk, so that fault injection
    sees every operation; everything public says what it is."""
    wrong = each(rule, modules())
    assert not wrong, "\n".join(wrong)


BROKEN = {
    upward: {
        "core/base/a.py": "from core.harvest import plan",
        "core/base/b.py": "from core import memories",
        "core/knowledge/a.py": "from . import lines",
        "core/knowledge/b.py": "if True:\n    import core.harvest.plan",
        "core/new.py": "",
        "gui/views/a.py": "from core.harvest.committer import Committer",
    },
    heavy: {"core/base/a.py": "import sqlite3", "core/cli/a.py": "from dearpygui import dearpygui as dpg"},
    writing: {
        "core/base/a.py": "disk.fsync(1)",
        "core/cli/a.py": "os.remove(path)",
        "core/cli/b.py": "open(path, 'w')",
        "core/cli/c.py": "path.open(mode='ab')",
        "core/cli/d.py": "os.open(path, os.O_CREAT)",
        "core/cli/e.py": "path.replace(other)",
        "core/cli/f.py": "shutil.rmtree(path)",
    },
    undocumented: {
        "core/cli/a_utils.py": "'Says something.'",
        "core/cli/a.py": "import os",
        "core/cli/b.py": "'Says something.'\nclass Silent: ...",
    },
}
ALLOWED = {
    upward: {"gui/views/a.py": "from core import __version__\nfrom core.harvest.steps import Step\nimport gui.a"},
    heavy: {"core/base/exchange.py": "import requests", "gui/a.py": "import dearpygui.dearpygui"},
    writing: {"core/cli/a.py": "'a'.replace('b', 'c')\nfiles.mkdir(a)\nopen(a)\nos.open(os.devnull, os.O_WRONLY)"},
    undocumented: {"core/cli/a.py": "'Says something.'\nclass _Silent: ..."},
}


def test_a_rule_finds_every_way_to_break_it_and_nothing_else(tmp_path: Path) -> None:
    for cases, expected in ((BROKEN, 1), (ALLOWED, 0)):
        for rule, files in cases.items():
            for name, text in files.items():
                path = tmp_path / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
                assert len(each(rule, [Module(path, tmp_path)])) == expected, f"{rule.__name__}: {text!r}"


def opens_for_writing(call: ast.Call) -> bool:
    """open(…, "w"), path.open("a") and os.open(…, os.O_CREAT), but not of the null device."""
    words = ast.unparse(call.func)
    if words == "os.open":
        text = ast.unparse(call)
        return "os.devnull" not in text and any(flag in text for flag in ("O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC"))
    if words != "open" and not words.endswith(".open"):
        return False
    rest = call.args[1:] if words in ("open", "io.open") else call.args[:1]
    modes = [*rest[:1], *(row.value for row in call.keywords if row.arg == "mode")]
    given = [mode.value for mode in modes if isinstance(mode, ast.Constant) and isinstance(mode.value, str)]
    return any(set(mode) <= set("rwxabt+") and set(mode) & set("wxa+") for mode in given)


def test_only_reclaim_takes_conversations_away() -> None:
    """Its functions are called by the stages of a run and by the commands for trash and undo, by nobody else."""
    callers = {module.name for module in modules() for row in module.imports if row.target == "core.harvest.reclaim"}
    assert callers <= {
        "core.harvest.committer",
        "core.harvest.prune",
        "core.harvest.recovery",
        "core.commands.history.trash",
        "core.commands.history.undo",
    }


def test_sizes_and_circles_are_as_forgiven_and_no_worse() -> None:
    """No circle of imports, no folder of more than 30 files, no file above 600 lines, few below 60."""
    wrong = list(unforgiven(debts(modules()), forgiven(), modules()))
    assert not wrong, "\n".join(wrong)


def test_a_new_circle_crowd_giant_or_crumb_is_told_and_a_paid_debt_too(tmp_path: Path) -> None:
    """An import inside a function closes a circle like any other, and the sentence says where to cut."""
    files = {
        "core/a.py": "from core.room import b\n",
        "core/room/b.py": "def late():\n    import gui.c\n",
        "gui/c.py": "from core import a\nfrom core.room import __name__ as package\n" + "\n" * 599,
        "gui/d.py": "import core.a\n" + "\n" * 60,
        **{f"core/room/part{number}.py": "\n" * 60 for number in range(30)},
    }
    for name in [*files, "core/__init__.py", "core/room/__init__.py"]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(files.get(name, ""), encoding="utf-8")
    source = modules(tmp_path)
    graph = graph_of(source)
    assert circles(graph) == [("core.a", "core.room.b", "gui.c")]
    round_ = way_round(graph, circles(graph)[0])
    assert round_ == "core.a:1 imports core.room.b, core.room.b:2 imports gui.c, gui.c:1 imports core.a"
    owed = debts(source)
    paid = Debts({"core.x core.y"}, {"core/room": 30}, {"gui/d.py"}, {"core/a.py", "gone.py"})
    told_off = "\n".join(unforgiven(owed, paid, source))
    assert list(unforgiven(owed, owed, source)) == []
    for part in (
        f"a circle of imports: {round_}.",
        "core/room/ has 31 files, 30 at the most",
        "gui/c.py has 601 lines",
        "core/room/b.py has 2 lines",
        "circles: 'core.x core.y' is paid",
        "long: 'gui/d.py' is paid",
        "short: 'gone.py' is paid",
    ):
        assert part in told_off
    assert told_off.count("\n") == 6
    assert any(round_ in line for line in told(source)) and not circles({"core.a": {"core.room": 1}, "core.room": {}})


def test_looking_costs_no_heavy_import(tmp_path: Path) -> None:
    """A user who asks for help does not wait for the network, the window or a library; nor for a dry run, or any
    other command: tests/test_startup.py."""
    script = (
        "import sys\nfrom core.cli.main import main\nmain(['--help'])\n"
        "print('LOADED', sorted({'requests', 'dearpygui', 'sqlalchemy', 'detect_secrets'} & set(sys.modules)))"
    )
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=PATIENCE_SECONDS)
    assert done.stdout.splitlines()[-1] == "LOADED []", done.stdout + done.stderr
