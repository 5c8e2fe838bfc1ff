"""Fuzzing of everything that reads bytes which somebody else wrote.

    make fuzz                              every target for 60 seconds, two at a time
    python -m tests.fuzz --seconds 10      the same, shorter
    python -m tests.fuzz ledger journal    these targets alone
    python -m tests.fuzz --list            the targets

`targets.py` holds one function a parser, from bytes to nothing: it raises when a promise is broken. Whatever is not a
`KnowledgeError` comes out as a finding, and so does an input that takes longer than 20 seconds or more than 2
GB. `drive.py` runs one target under atheris, which is guided by the branches that an input reaches; `seeds.py` gathers
where it starts from. What was found lies in `build/fuzz/`, one file an input, and `python -m tests.fuzz.drive TARGET
FILE` repeats it. `tests/test_histories.py` runs a small deterministic part of this, without atheris, in every test
run; an input that once broke a promise is kept there.
"""
