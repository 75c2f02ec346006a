"""Average precision of SCO's concepts, its table and a picture."""
