"""People's votes on learned correspondences (Niu et al. 2017, section 5.3.2)."""
