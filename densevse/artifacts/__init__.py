"""What each file holds: one schema per artifact, one writer, one reader. This room knows no other."""
