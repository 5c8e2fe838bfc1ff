"""The desktop panel: a thin face over `core.commands`, drawn with Dear PyGui."""
