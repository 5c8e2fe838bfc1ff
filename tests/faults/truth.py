"""The truth check: strace sees no change of the disk that the counter does not see, in the same order; and a process
that strace kills at a system call leaves nothing that the next run cannot mend.

Without this the other campaigns would only show what the counter happens to look at.
"""

from __future__ import annotations

import os
import pickle
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Sequence

from tests.faults.fault import Counter
from tests.faults.scenarios import SCENARIO
from tests.faults.server import Finding, Tried, judge, run_with, warm
from tests.faults.store import Store, place, quick

TRACED = (
    "openat,open,creat,write,pwrite64,writev,pwritev,truncate,ftruncate,fallocate,chmod,fchmod,fchmodat,fsync,fdatasync,"
    "sync_file_range,mkdir,mkdirat,rename,renameat,renameat2,link,linkat,symlink,symlinkat,unlink,unlinkat,rmdir,mknod,"
    "mknodat,utimensat,copy_file_range,sendfile,setxattr,fsetxattr,removexattr"
)
CALLS = {
    "write": "write", "ftruncate": "truncate", "chmod": "mode", "fchmod": "mode", "fchmodat": "mode", "fsync": "sync",
    "fdatasync": "sync", "mkdir": "mkdir", "mkdirat": "mkdir", "rename": "rename", "renameat": "rename",
    "renameat2": "rename-flag", "link": "link", "linkat": "link", "unlink": "unlink", "rmdir": "rmdir",
}  # fmt: skip
KILLED_AT = ("write", "fsync", "fdatasync", "renameat2", "rename", "unlink", "mkdir", "ftruncate", "openat")
_LINE = re.compile(r"^(?:\[pid +\d+\] |\d+ +)?(?P<call>\w+)\((?P<rest>.*)$")


def operation(line: str, folder: str) -> str:
    """The counter's name for a line of strace's, "" for one that changes nothing below `folder`; a change that the
    counter has no name for keeps its own."""
    found = _LINE.match(line)
    if found is None or folder not in line:
        return ""
    call, rest = found["call"], found["rest"]
    if call in ("open", "openat", "creat"):
        return "create" if "O_CREAT" in rest or call == "creat" else ""
    if call == "unlinkat":
        return "rmdir" if "AT_REMOVEDIR" in rest else "unlink"
    return CALLS.get(call, call)


def traced(store: Store, options: Sequence[str]) -> tuple[list[str], list[str] | None]:
    """Run the act in a process of its own under strace: what strace says line by line, and what its counter saw (None
    when the process was killed)."""
    log = store.folder.parent / "strace"
    go_reading, go_writing = os.pipe()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(go_writing)
        os.read(go_reading, 1)
        counter = Counter()
        run_with(store, counter)
        os.write(writing, pickle.dumps(counter.trail))
        os._exit(0)
    os.close(go_reading)
    os.close(writing)
    words = ["strace", "-f", "-y", "-s", "0", "-o", str(log), "-p", str(child), *options]
    tracer = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
    assert tracer.stderr is not None
    said = tracer.stderr.readline()
    if "attached" not in said:
        os.kill(child, signal.SIGKILL)
    else:
        os.write(go_writing, b"g")
    os.close(go_writing)
    with os.fdopen(reading, "rb") as pipe:
        data = pipe.read()
    os.waitpid(child, 0)
    tracer.wait()
    tracer.stderr.close()
    if "attached" not in said:
        raise OSError(0, said.strip() or "strace cannot attach")
    return log.read_text(errors="replace").splitlines(), pickle.loads(data) if data else None


def same(name: str) -> Tried:
    """Whether strace and the counter tell of the same operations, in the same order, for one scenario."""
    folder = place()
    try:
        with quick():
            store = Store(SCENARIO[name], folder / "person")
            warm(store)
            store.put_back()
            lines, trail = traced(store, ["-e", f"trace={TRACED}"])
        told = [found for line in lines if (found := operation(line, str(store.folder)))]
        tried = Tried(points=len(told))
        if told != trail:
            tried.findings.append(Finding(name, "strace and the counter differ", [f"{told}", f"{trail}"]))
        return tried
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def killed(name: str, times: Sequence[int] = (1, 3, 7)) -> Tried:
    """One scenario, killed by strace at some calls of each kind, and judged."""
    folder = place()
    tried = Tried()
    try:
        with quick():
            store = Store(SCENARIO[name], folder / "person")
            warm(store)
            for call in KILLED_AT:
                for number in times:
                    store.put_back()
                    inject = ["-e", f"trace={call}", "-e", f"inject={call}:signal=KILL:when={number}"]
                    _, trail = traced(store, inject)
                    if trail is None:
                        tried.add(Finding(name, f"killed by strace at {call} {number}", judge(store)))
        return tried
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def why_not() -> str:
    """Why this machine cannot trace, "" if it can."""
    if shutil.which("strace") is None:
        return "there is no strace"
    try:
        same("prune")
    except OSError as error:
        return f"strace cannot attach to a process: {error.strerror}"
    return ""


def table() -> list[str]:
    """Compare and kill, in several scenarios; print it; what is wrong."""
    print("\ntruth: strace and the counter side by side; and killed by strace")
    if reason := why_not():
        print(f"    not run: {reason}")
        return []
    wrong = []
    for name in SCENARIO:
        began = time.monotonic()
        compared = same(name)
        ended = killed(name) if name in ("edited files", "twice", "undo", "prune") else Tried()
        findings = [*compared.findings, *ended.findings]
        seconds = time.monotonic() - began
        print(f"    {name:<22}{compared.points:>6} calls alike,{ended.points:>4} kills in {seconds:.0f} s", flush=True)
        wrong += [str(finding) for finding in findings]
    for words in wrong[:10]:
        print(f"  {words[:2000]}")
    return wrong
