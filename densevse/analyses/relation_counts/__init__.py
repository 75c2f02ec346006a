"""Numbers of dependency relations, beside those that DeFrag prints."""
