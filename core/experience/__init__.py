"""How everything that was handed out has served: one record, by kind of task, with the why."""
