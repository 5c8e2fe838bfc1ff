"""Databases, exports and folders of other tools that hold many conversations; read-only, one conversation at a time."""
