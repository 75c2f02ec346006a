"""All bootstraps and all intervals."""
