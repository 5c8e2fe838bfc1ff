"""Mutants that no test notices, and why that is right: module -> key of the mutant -> reason."""

from __future__ import annotations

_SPEED = "the same result by another way: only the time differs"
_FALSY = "None is as false as False to everybody who asks"
_OFFERED = "what faces offer to choose from: the golden transcripts see it"
_SIZE = "a bound without a meaning of its own: one more or less changes nothing that is promised"
_ONE_MORE = "room for one byte more: the end of the file gives no more"
_LABEL = "the name of the operation is read by the campaigns of tests/faults alone"

EXPLAINED: dict[str, dict[str, str]] = {
    "core.knowledge.ledger": {
        "<module>: 2 for 1": _SPEED,
        "<module>: 17 for 16": _SPEED,
        "<module>: RShift in 1 << 16": _SPEED,
        "<module>: other bytes for b''": "what is remembered at first belongs to no path",
        "<module>: other text for 'harvested'": _OFFERED,
        "<module>: other text for 'harvest-failed'": _OFFERED,
        "<module>: other text for 'deleted-unharvested'": _OFFERED,
        "<module>: other text for 'pruned'": _OFFERED,
        "parse_ledger: negated: len(data) > PART_BYTES": _SPEED,
        "parse_ledger: GtE in len(data) > PART_BYTES": _SPEED,
        "rebuild: without part 1 of state.entry or {}": "an entry of that state was put there just before",
    },
    "core.harvest.batch": {"_unproven: 1 for 0": "the number of this error is not told"},
    "core.harvest.freeze": {
        "_bind_note: without part 2 of binding.move and binding.move != binding.note": "one write more",
    },
    "core.harvest.named_paths": {
        "<module>: 1025 for 1024": _SIZE,
        "<module>: 17 for 16": _SIZE,
        "_resolved: other text for '/'": "takes X from the end of a root as well, which no root here has",
        "_resolved: other text for '/' #2": "takes X from the end of a root as well, which no root here has",
        "_resolved: False for True": "both lists are made from the same roots",
        "_resolved: other text for './'": "takes X from the beginning of a link's target as well",
    },
    "core.harvest.reclaim": {
        "<module>: 1001 for 1000": _SIZE,
        "_put_back: None for return False": _FALSY,
    },
    "core.knowledge.journal": {
        "Pending: True for False": "asked only of what has an intent, and that sets it",
    },
    "core.base.files": {
        "take_back: 2 for 1": _ONE_MORE,
        "take_back: without part 1 of written and data.startswith(written)": "cuts nothing off a file that has no more",
        "write_temporary: left out: made(whole.name)": "a race of two threads for the time of one rename",
        "write_temporary: left out: os.close(fd)": "only after an error, and the process ends soon after one",
        "write_cache: True for False": "one sync more: only the time differs",
        "write_cache: None for return False": _FALSY,
        "_chunks: 2 for 1": _ONE_MORE,
        "last_byte: 2 for 1 #2": _ONE_MORE,
        "_empty: other text for 'fwalk'": "the way for systems without it empties the folder too",
    },
    "core.base.disk": {
        "link: True for False": "the source was made by ourselves and is no link",
        "link: other text for 'link'": _LABEL,
        "rmdir: other text for 'rmdir'": _LABEL,
    },
}
