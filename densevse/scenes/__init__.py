"""The generated data set `scenes`: its world, pictures, sentences, grammar and network."""
