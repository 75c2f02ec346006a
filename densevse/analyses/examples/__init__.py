"""Pictures of queries with what a method ranked first."""
