"""Networks by their architecture: see densevse/config/declared/networks for how one is added."""
