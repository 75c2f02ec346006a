"""Agreement of a method's scores with people's judgements of pairs (Hodosh et al. 2013)."""
