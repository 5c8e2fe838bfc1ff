"""The house rules of core/README.md, read from the source. Without them the rooms grow into one."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

# room -> the rooms it may import from. Longest prefix wins.
MAY_IMPORT = {
    "core.base": {"core.base"},
    "core.conversations": {"core.base", "core.conversations"},
    "core.llm": {"core.base", "core.llm"},
    "core.knowledge": {"core.base", "core.knowledge"},
    "core.context_files": {"core.base"},
    "core.memories": {"core.base", "core.memory_file"},
    "core.memory_file": {"core.base"},
    "core.factindex": {"core.base", "core.factindex"},
    "core.search": {"core.base", "core.search"},
    "core.sources": {"core.base", "core.conversations", "core.sources"},
    "core.offline": {"core.base", "core.conversations", "core.offline"},
    "core.harvest": {
        "core.base",
        "core.conversations",
        "core.knowledge",
        "core.sources",
        "core.offline",
        "core.harvest",
    },
    "core.injection": {"core.base", "core.knowledge", "core.context_files", "core.factindex"},
    "core.commands": {
        "core.base",
        "core.conversations",
        "core.llm",
        "core.knowledge",
        "core.context_files",
        "core.memories",
        "core.memory_file",
        "core.factindex",
        "core.search",
        "core.sources",
        "core.offline",
        "core.harvest",
        "core.injection",
        "core.commands",
    },
    # The faces may name records of the rooms that commands return, and nothing that acts.
    "core.cli": {"core.base", "core.commands", "core.cli"},
    "core.mcp_server": {"core.base", "core.commands", "core.mcp_server"},
    "core.__main__": {"core.cli"},
    "gui": {"core.base", "core.commands", "gui"},
}
RECORDS = {
    "core.harvest.steps",
    "core.harvest.report",
    "core.knowledge.categories",
    "core.knowledge.ledger",
    "core.knowledge.alike",
    "core.knowledge.edit",
    "core.conversations.conversation",
}
ONLY_UNDER: dict[str, tuple[str, ...]] = {
    "dearpygui": ("gui",),
    "requests": ("core.llm",),
    # Other tools' stores are read, our own index and library are written.
    "sqlite3": ("core.conversations", "core.search"),
    "numpy": ("core.search",),
    "mcp": ("core.mcp_server",),
    "pydantic": ("core.mcp_server",),
}
DISK_COMPOSERS = {"core.base.files", "core.base.reading"}
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


def modules() -> Iterator[tuple[str, Path]]:
    for folder in ("core", "gui"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
            yield name.removesuffix(".__init__"), path


def imports(path: Path) -> Iterator[tuple[str, int]]:
    """Every imported module and its line, wherever in the file it is imported."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            for name in node.names:
                yield name.name, node.lineno
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno} imports relatively"
            assert node.module
            yield node.module, node.lineno


def room_of(module: str) -> str:
    fitting = [room for room in MAY_IMPORT if module == room or module.startswith(f"{room}.")]
    return max(fitting, key=len) if fitting else ""


ALL = [pytest.param(name, path, id=name) for name, path in modules()]


@pytest.mark.parametrize(("name", "path"), ALL)
def test_imports_go_downward(name: str, path: Path) -> None:
    room = room_of(name)
    if not room:
        assert name in ("core",), f"{name} belongs to no room of MAY_IMPORT"
        return
    for target, line in imports(path):
        if not target.startswith(("core", "gui")):
            continue
        if target == "core" or (room in ("core.cli", "gui") and target in RECORDS):
            continue
        assert room_of(target) in MAY_IMPORT[room], f"{name}:{line} imports {target}"


@pytest.mark.parametrize(("name", "path"), ALL)
def test_heavy_libraries_stay_in_their_room(name: str, path: Path) -> None:
    for target, line in imports(path):
        for library, rooms in ONLY_UNDER.items():
            if target.split(".")[0] == library:
                assert name.startswith(rooms), f"{name}:{line} imports {library}, which belongs to {rooms}"


@pytest.mark.parametrize(("name", "path"), ALL)
def test_one_module_changes_the_disk(name: str, path: Path) -> None:
    """Fault injection counts the operations of base/disk.py: one that went past it would not be tested."""
    if name in DISK_EXCEPTIONS:
        return
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        if opens_for_writing(node):
            raise AssertionError(f"{name}:{node.lineno} opens a file for writing: go through core.base.files")
        if not isinstance(node.func, ast.Attribute):
            continue
        method, owner = node.func.attr, ast.unparse(node.func.value)
        if owner == "disk":
            assert name in DISK_COMPOSERS, f"{name}:{node.lineno} uses disk.{method}: go through core.base.files"
        if method in OS_ONLY and owner == "os":
            raise AssertionError(f"{name}:{node.lineno} calls os.{method}: go through core.base.files")
        if method not in DISK_CALLS or owner in ("files", "disk"):
            continue
        if method in STRING_METHODS and (len(node.args) != 1 or node.keywords):
            continue
        raise AssertionError(f"{name}:{node.lineno} calls {owner}.{method}: go through core.base.files")


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
    callers = {name for name, path in modules() for target, _ in imports(path) if target == "core.harvest.reclaim"}
    assert callers <= {
        "core.harvest.committer",
        "core.harvest.prune",
        "core.harvest.recovery",
        "core.commands.trash",
        "core.commands.undo",
    }


@pytest.mark.parametrize(("name", "path"), ALL)
def test_files_stay_readable(name: str, path: Path) -> None:
    length = path.read_text(encoding="utf-8").count("\n")
    assert length <= 600, f"{name} has {length} lines: split it by a second noun"


@pytest.mark.parametrize(("name", "path"), ALL)
def test_everything_public_is_documented(name: str, path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert ast.get_docstring(tree), f"{name} has no docstring"
    vague = {"manager", "util", "utils", "helper", "helpers", "service", "handler", "processor"}
    assert not vague & set(name.lower().replace(".", "_").split("_")), f"{name}: say what it is"
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            assert ast.get_docstring(node), f"{name}:{node.lineno} class {node.name} has no docstring"


@pytest.mark.parametrize(
    "arguments", [["--help"], ["harvest", "--home", "{home}"], ["status", "--home", "{home}"]], ids=lambda row: row[0]
)
def test_looking_costs_no_heavy_import(arguments: list[str], tmp_path: Path) -> None:
    """A person who asks for help or a dry run does not wait for the network, the window or the database."""
    words = [word.format(home=tmp_path / "home") for word in arguments]
    script = (
        "import sys\nfrom core.cli.main import main\n"
        f"main({words!r})\n"
        "print('LOADED', sorted({'requests', 'dearpygui', 'sqlite3', 'tomlkit', 'detect_secrets'} & set(sys.modules)))"
    )
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60
    )
    assert done.stdout.splitlines()[-1] == "LOADED []", done.stdout + done.stderr
