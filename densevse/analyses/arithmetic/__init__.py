"""Vector arithmetic with images and words: image - word + word (Kiros et al. 2014)."""
