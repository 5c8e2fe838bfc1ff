"""What reaches an agent at the moment of its work."""
