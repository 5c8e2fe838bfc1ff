"""The harvest, one module per stage."""
