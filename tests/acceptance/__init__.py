"""A user of two coding tools, and every place that tells what is known of their conversations (`stand.py`).

`tests/test_acceptance.py` and `test_acceptance_removed.py` ask twenty questions there; `python -m tests.histories
everywhere` plays histories there.
"""
