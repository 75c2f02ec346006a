"""The command `densevse`: a thin layer over the package and the workflow."""
