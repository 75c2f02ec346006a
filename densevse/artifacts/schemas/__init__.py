"""The schemas of all artifacts, one module for each stage; a stage imports those of its inputs and outputs."""
