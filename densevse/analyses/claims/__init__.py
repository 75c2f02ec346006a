"""Claims of papers: the two rows that test each one, and whether our measurements support it."""
