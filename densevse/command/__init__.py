"""The command `densevse`: a light face of what the package and the workflow do."""
