"""Runs one target under atheris: `python -m tests.fuzz.drive TARGET FOLDER SECONDS`, or with one FILE to repeat it.

The corpus grows in FOLDER/corpus, an input that broke a promise is written to FOLDER. Never returns: libFuzzer ends the
process, with 0 when nothing was found.
"""

from __future__ import annotations

import sys
from pathlib import Path

MAX_BYTES = 16_384
SLOW_SECONDS = 20
MEMORY_MB = 2048


def main(name: str, folder: str, seconds: str = "") -> None:
    import atheris

    with atheris.instrument_imports(include=["core"]):
        from tests.fuzz.targets import TARGETS
    target = TARGETS[name]
    if not seconds:
        target(Path(folder).read_bytes())
        return
    from tests.fuzz.seeds import all_seeds, some_odd

    def mutate(data: bytes, room: int, seed: int) -> bytes:
        """Every second time a member of another shape, where the input is JSON; else what libFuzzer does to bytes."""
        odd = some_odd(data, seed) if seed % 2 else None
        return odd if odd is not None and len(odd) <= room else atheris.Mutate(data, room)

    corpus = Path(folder) / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(all_seeds(name)):
        (corpus / f"seed-{number}").write_bytes(seed)
    options = {
        "max_total_time": seconds,
        "max_len": MAX_BYTES,
        "timeout": SLOW_SECONDS,
        "rss_limit_mb": MEMORY_MB,
        "print_final_stats": 1,
        "seed": 1,
    }
    flags = [f"-{key}={value}" for key, value in options.items()]
    atheris.Setup([sys.argv[0], *flags, f"-artifact_prefix={folder}/", str(corpus)], target, custom_mutator=mutate)
    atheris.Fuzz()


if __name__ == "__main__":
    main(*sys.argv[1:])
