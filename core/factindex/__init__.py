"""The fact index: facts with id, confidence and age, in YAML files for people and an index for machines."""
