"""The schema of every artifact, one module for each stage. A stage imports the modules of what it reads and writes."""
