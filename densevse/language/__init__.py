"""Turns sentences into structures: parses, trees, triplets, vocabularies, word vectors."""
