"""Documents, how each was used, and what they are good for: a database that is kept, not a projection."""
