"""The project's own code: a module for each rule, a helper of each, and the kinds of files."""
