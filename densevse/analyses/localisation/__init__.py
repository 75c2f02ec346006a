"""Heat maps of the places of phrases in images (Kiros et al. 2014)."""
