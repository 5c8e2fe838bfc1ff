"""What a harvest is worth, measured on what nobody here wrote: commands of their own, with a sample in the tests."""
