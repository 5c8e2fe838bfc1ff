"""The steps from one version of the tables to the next, each a file that never changes once it was released."""
