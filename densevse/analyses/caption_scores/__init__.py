"""BLEU, METEOR, ROUGE-L, CIDEr and SPICE of generated captions, their table and their picture."""
