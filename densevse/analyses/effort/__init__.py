"""Equal effort: the same number of draws of settings for every method, each at the same budget of pairs."""
