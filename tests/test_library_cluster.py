"""Work on a real scheduler with two workers: whoever is killed, the library and the knowledge end up the same."""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from core.base.result import KnowledgeError, attempt
from core.cli.main import main
from core.commands.library.ingest import library_ingest, on_cluster
from core.commands.workspace import open_workspace
from core.library import workers
from core.library.database import problems_of
from core.library.ingest import Engine
from core.library.prepare import Item, Prepared, Way, prepare
from core.library.workers import LostError, Workers, cluster
from tests.library_place import opened
from tests.test_library_ingest import documents, dump, take_in, texts

ROOT = Path(__file__).resolve().parents[1]
pytestmark = pytest.mark.skipif(find_spec("distributed") is None, reason="no cluster: pip install distributed")


class Cluster:
    """One scheduler at a fixed address on loopback, and workers, each a process of its own that a test may kill."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{self.port}"
        self.workers: list[subprocess.Popen[bytes]] = []
        self._folder = folder
        self.start()

    def _run(self, module: str, *words: str) -> subprocess.Popen[bytes]:
        own = {"HOME": str(self._folder), "PYTHONPATH": str(ROOT), "DASK_DISTRIBUTED__WORKER__DAEMON": "False"}
        command = [sys.executable, "-m", f"distributed.cli.{module}", *words]
        silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        return subprocess.Popen(command, cwd=self._folder, env={**os.environ, **own}, **silent)

    def start(self) -> None:
        """The scheduler, also again after it was killed."""
        here = ("--host", "127.0.0.1", "--port", str(self.port), "--no-dashboard")
        self.scheduler = self._run("dask_scheduler", *here)

    def work(self) -> None:
        """One more worker, with one thread."""
        words = (self.address, "--nthreads", "1", "--no-nanny", "--no-dashboard", "--host", "127.0.0.1")
        self.workers.append(self._run("dask_worker", *words))

    def man(self, number: int) -> None:
        """Have so many workers, with new ones in place of those that were killed."""
        from distributed import Client

        self.workers = [worker for worker in self.workers if worker.poll() is None]
        while len(self.workers) < number:
            self.work()
        while True:  # however slow the machine: only an end of theirs ends the waiting
            assert self.scheduler.poll() is None, "the scheduler ended"
            assert sum(worker.poll() is None for worker in self.workers) >= number, "a worker ended"
            with contextlib.suppress(Exception), Client(self.address, timeout=5, set_as_default=False) as client:
                client.wait_for_workers(number, timeout=5)
                return
            time.sleep(0.2)

    @staticmethod
    def kill(process: subprocess.Popen[bytes]) -> None:
        """kill -9."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)
        process.wait()

    def close(self) -> None:
        """End all of it."""
        for process in (*self.workers, self.scheduler):
            self.kill(process)


@pytest.fixture(scope="module")
def place() -> Iterator[Cluster]:
    """One for all tests: each mans it as it needs."""
    with tempfile.TemporaryDirectory(prefix="dask", ignore_cleanup_errors=True) as folder:
        found = Cluster(Path(folder))
        try:
            yield found
        finally:
            found.close()


def test_a_scheduler_that_is_not_there_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.library.workers.ANSWER_SECONDS", 0.2)
    result = attempt(cluster, "tcp://127.0.0.1:1")
    assert (
        isinstance(result, KnowledgeError) and "does not answer" in str(result.error) and "\n" not in str(result.error)
    )


def test_workers_that_never_come_back_end_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was done stays done, and the user is told; nobody waits for ever."""
    monkeypatch.setattr("core.library.workers.WAITS", (0.01, 0.01))

    def gone() -> None:
        raise OSError("connection refused")

    workers: Workers[int, int] = Workers(abs, gone, 2)  # type: ignore[arg-type]
    with pytest.raises(LostError, match="connection refused"):
        list(workers.results([1, 2], lambda task, why: 0))


def test_no_key_of_this_computer_travels(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, place: Cluster) -> None:
    place.man(1)
    monkeypatch.setenv("OPENAI_API_KEY", "made-up-key-of-nobody")
    (tmp_path / "config.toml").write_text(f'[ai_settings.knowledge]\nworkers = "{place.address}"\n')
    workspace = open_workspace(str(tmp_path / "home"), tmp_path / "config.toml")
    far = on_cluster(workspace, "openai", "m")
    assert b"made-up-key" not in pickle.dumps(far.workspace)


def test_documents_are_taken_in_on_the_cluster(place: Cluster, tmp_path: Path) -> None:
    place.man(1)
    workspace = open_workspace(str(tmp_path / "home"), None)
    folder = texts(tmp_path / "many", 2)
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7 and no more")
    (folder / "page.html").write_text("<html><body><p>A lock is held by one task at a time.</p></body></html>")
    made = library_ingest(workspace, [str(folder)], provider="offline", scheduler=place.address)
    assert [Path(row.path).name for row in made.errors] == ["broken.pdf"]
    assert [row.status for row in made.documents] == ["new"] * 3


def test_a_cluster_whose_last_worker_is_gone_says_so_and_is_not_waited_for_for_ever(
    place: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Who starts it in the evening finds a sentence in the morning, and goes on with the same command; so does a
    harvest, whose conversations stay."""
    place.man(1)
    found = workers.cluster(place.address)

    def gone(_address: str) -> object:
        for worker in place.workers:
            place.kill(worker)
        return found

    settings = tmp_path / "config.toml"
    settings.write_text(f'[ai_settings.knowledge]\nworkers = "{place.address}"\n')
    words = ["library", "ingest", str(texts(tmp_path / "many", 3)), "--home", str(tmp_path / "home")]
    words += ["--provider", "offline", "--config", str(settings)]
    begun = time.monotonic()
    with monkeypatch.context() as patched:
        patched.setattr(workers, "cluster", gone)
        patched.setattr(workers, "MANNED_SECONDS", 1.5)
        assert main(words) == 1
        assert time.monotonic() - begun < 20
        out, err = capsys.readouterr()
        told, ended = "the cluster has no workers, waiting 1.5 s", "has had no workers for 1.5 seconds"
        assert told in err and ended in err and err.index(told) < err.index(ended) and "run it again to go on" in out
        workspace = open_workspace(str(tmp_path / "home"), settings)
        far = on_cluster(workspace, "openai", "m")
        asked = attempt(far, "a question")
        assert isinstance(asked, KnowledgeError) and ended in str(asked.error)
        place.man(1)
    assert main(words) == 0 and "3 new" in capsys.readouterr().out


def test_a_harvest_asks_its_model_on_the_cluster_and_writes_each_item_once(place: Cluster, tmp_path: Path) -> None:
    """One setting. The worker that dies with a question takes no answer with it, and no line comes twice."""
    asked: list[str] = []
    place.man(2)

    def answer(request: Request) -> Response:
        prompt = json.dumps(request.json)
        number = next(n for n in range(12) if f"drawer number {n}x" in prompt)
        asked.append(str(number))
        time.sleep(0.2)
        if len(asked) == 5:
            place.kill(place.workers[0])
        said = {"facts": [{"statement": f"The key of room {number} is in drawer number {number}x.", "detail": ""}]}
        choice = {"message": {"content": json.dumps(said)}, "finish_reason": "stop"}
        return Response(json.dumps({"model": "m", "choices": [choice]}), content_type="application/json")

    with HTTPServer("127.0.0.1", 0) as server:
        server.expect_request("/v1/chat/completions").respond_with_handler(answer)
        (tmp_path / "config.toml").write_text(
            f'[ai_settings.knowledge]\nprovider = "openai"\nmodel = "m"\nbase_url = "{server.url_for("/v1")}"\n'
            f'workers = "{place.address}"\nreclaim = "never"\n'
        )
        home = tmp_path / "home"
        (home / "conversations").mkdir(parents=True)
        for number in range(12):
            words = f"User: where is the key of room {number}?\n\nAssistant: It is in drawer number {number}x.\n"
            name = f"talk-00000000-0000-4000-8000-0000000000{number:02d}"
            (home / "conversations" / name).write_text(words)
        code = main(["harvest", "--apply", "--home", str(home), "--config", str(tmp_path / "config.toml"), "--quiet"])
        assert code == 0
    lines = [line for line in (home / "knowledge" / "facts.md").read_text().split("\n") if line.startswith("- ")]
    assert len(lines) == 12 and len({line.partition("[")[0] for line in lines}) == 12
    assert len(set(asked)) == 12


def test_a_killed_worker_and_a_restarted_scheduler_change_nothing(place: Cluster, tmp_path: Path) -> None:
    """Everything is there once, as if one process had done it all."""
    folder = texts(tmp_path / "many", 16)
    place.man(2)
    connect, at_once = cluster(place.address)
    assert at_once == 4
    library, alone = (opened(str(tmp_path / f"{name}.db")) for name in ("library", "alone"))

    def slowly(item: Item, way: Way) -> list[Prepared]:
        """Takes long enough to be killed at it."""
        time.sleep(0.15)
        return prepare(item, way)

    def trouble(done: int, _of: int, _name: str, _became: str) -> None:
        if done == 4:
            place.kill(place.workers[0])
        if done == 8:
            place.kill(place.scheduler)
            threading.Timer(0.7, again).start()

    def again() -> None:
        place.start()
        place.work()

    report = take_in(library, folder, engine=Engine(connect, at_once, work=slowly), progress=trouble)
    assert not report.errors and [row.status for row in report.documents] == ["new"] * 16
    take_in(alone, folder)
    assert len(documents(library)) == 16 and dump(library)[:2] == dump(alone)[:2]
    assert problems_of(library) == []
    library.close()
    alone.close()
