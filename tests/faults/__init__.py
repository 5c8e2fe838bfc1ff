"""Campaigns that try to make the program lose a line: kills, errors, power cuts, and bugs sown on purpose.

`make faults` runs them all and prints what was tried, at which rate, and what broke. One alone, or a thinned one:

    python -m tests.faults kills      the process is killed before, in and after every operation on the disk
    python -m tests.faults errors     every operation fails with every errno, once and from then on
    python -m tests.faults pairs      killed, and killed again while the next run mends what the first one left
    python -m tests.faults power      a power cut after every operation, in a model of what a disk may keep
    python -m tests.faults meddling   a conversation goes on while it is harvested
    python -m tests.faults truth      strace sees no change of the disk that the counter does not see
    python -m tests.faults machines   real file systems: a full tmpfs; ext4 and XFS shut down in the middle (as root)
    python -m tests.faults seeded     bugs sown into the code: each must be caught, else the campaigns prove nothing
    python -m tests.faults kills --stride 20 --scenario undo --jobs 1      every 20th point of one scenario

Every operation on knowledge passes through `core.base.disk.perform`. A point is one scenario (`scenarios.py`: what
stands on the disk, and what a user then does, mostly a command line) with one fault at its n-th operation. After it
the next run mends the home, the four invariants of storage.md are looked for (`invariants.py`), and a run after that
must change nothing. `make test` tries a spread sample of each campaign (tests/test_faults.py).

A kill is a real one: a fork of a warm process (`server.py`) is sent SIGKILL. Where there are too many points for that,
`pairs` takes down in passing what a kill would leave, which is the same bytes: a killed process does nothing more, and
nothing but the counted operations changes the disk, as `truth` shows. `fault.py` holds the counter and the kinds of
fault, `store.py` a home that is put back for every point, `platter.py` the model of a disk.
"""
