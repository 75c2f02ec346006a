"""How well SCO's concepts are predicted: average precision, its table and a picture."""
