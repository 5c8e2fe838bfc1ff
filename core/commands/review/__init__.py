"""What waits for the user's yes, no or later: one queue."""
