"""What is written into the settings of other tools so that they use this program, and how it is taken out again."""
