"""How many dependency relations there are, beside the numbers that DeFrag prints."""
