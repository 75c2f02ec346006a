"""Models: methods and generators built by name, and their files, which have everything that a load needs."""
