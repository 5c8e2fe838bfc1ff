"""What happens every day without the person: what is connected, what is harvested by itself, and when."""
