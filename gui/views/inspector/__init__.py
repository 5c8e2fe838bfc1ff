"""What is selected: its page as rows, the small graph around it, and the column at the right that shows both."""
