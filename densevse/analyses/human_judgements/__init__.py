"""How far a method's scores agree with people's judgements of pairs (Hodosh et al. 2013)."""
