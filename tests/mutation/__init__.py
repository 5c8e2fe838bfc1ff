"""Mutation tests of the modules that write: small bugs are put in one by one, and the tests must notice each.

    make mutation                          every mutant of every module (about half an hour on two cores)
    python -m tests.mutation ledger        one module
    python -m tests.mutation --sample 40   40 mutants, spread over all

`mutants.py` makes them from the syntax tree: a comparison turned round, `and` for `or`, a condition negated, a number
one up, a short text changed, True for False, plus for minus, a statement left out, None returned. Left alone:
docstrings, annotations, sentences for people (their words are tested where they matter, in tests/golden and
test_bad_input).

`__main__.py` first runs the tests once under coverage, which tells for each line which tests reach it and how long
they take. Then each mutant gets a process of its own, forked from one in which everything is imported, and the tests
that reach its line, quickest first. A mutant that no test notices is a survivor; `survivors.py` explains those that
are left.

Ready-made tools were tried on paper first: mutmut wants a copy of the tree and its own runner, cosmic-ray a database
and a fresh pytest for each mutant (a second here, fifteen minutes more for each module).
"""
