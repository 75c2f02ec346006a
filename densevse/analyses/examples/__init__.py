"""Pictures of queries with the answers that a method ranks first."""
