"""The contents of each file: one schema, one writer and one reader for each artifact; archives and image files."""
