"""Tables, with their rows, footnotes, provenance and rendering; pages and pictures."""
