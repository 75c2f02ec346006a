"""Tables, with their rows, footnotes and rendering; pages and pictures."""
