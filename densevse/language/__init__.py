"""From sentences to structure: parses, trees, triplets, vocabularies, word vectors."""
