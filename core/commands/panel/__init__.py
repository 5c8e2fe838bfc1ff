"""What only a window asks for: it reads, and changes nothing."""
