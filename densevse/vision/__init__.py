"""From pixels to features: proposals, networks, views, regions."""
