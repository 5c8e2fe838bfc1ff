"""What became of things, and the way back."""
