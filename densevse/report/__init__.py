"""What a reader sees: rows, footnotes, provenance and rendering of tables; pages and pictures."""
