"""Side capabilities, a folder each: what it computes, its settings, its tables and pictures. Any can be deleted."""
