"""How well proposals cover true boxes, and how long they take."""
