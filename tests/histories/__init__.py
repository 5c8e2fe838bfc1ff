"""Histories: what a user, their editors and several processes do to one home, step by step, and what must hold after.

    python -m tests.histories                 all of it, as `make faults` runs it, with counts and rates
    python -m tests.histories machine [N]     N histories of the state machine (2,000)
    python -m tests.histories processes [N]   N rounds of three processes on one home (60)
    python -m tests.histories editors         vim, nano, emacs and a stale editor, driven by keys through a terminal
    python -m tests.histories everywhere [N]  N histories of corrections and deletions on two machines (50)

`machine.py` draws the steps (Hypothesis), `person.py` is what a user does to files, `look.py` compares the home
before and after a step with the invariants of storage.md, `processes.py` and `editors.py` are the real ones. What they
found is kept as a test with a name of its own in tests/test_histories.py.
"""
