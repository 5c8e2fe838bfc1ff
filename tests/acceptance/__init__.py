"""A user of two coding tools, and every place that tells what is known of their conversations (`stand.py`).

`tests/test_acceptance.py` asks twenty questions there; `python -m tests.histories everywhere` plays histories there.
"""
