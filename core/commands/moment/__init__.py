"""What an agent asks for at the moment of its work, and what it is handed unasked."""
