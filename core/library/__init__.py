"""Documents, how each was used, and what they are good for (seed 4): a database that is kept, not a projection."""
