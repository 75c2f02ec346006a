"""Tables of results: rows, sections, footnotes, provenance, rendering."""
