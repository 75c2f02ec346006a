"""Heat maps that say where in an image a phrase is (Kiros et al. 2014)."""
