"""The command line: arguments to commands to text."""
