"""Where conversations come from: the tools, looking for them, what protects one, what is new in a grown one."""
