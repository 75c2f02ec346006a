"""What may stand in config/, validated. This room knows no other, and imports nothing heavy."""
