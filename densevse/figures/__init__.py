"""Pictures of results, as the papers draw them."""
