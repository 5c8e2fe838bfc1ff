"""What happens every day without the user: what is connected, what is harvested by itself, and when."""
