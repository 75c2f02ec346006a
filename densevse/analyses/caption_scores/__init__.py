"""BLEU, METEOR, ROUGE-L, CIDEr and SPICE of generated captions, their table, their picture, and oracles of them."""
