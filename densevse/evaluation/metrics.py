"""Names of the retrieval metrics, as columns and keys: recall at K and ranks, each way, and their totals."""

DIRECTIONS = ("i2t", "t2i")
"""i2t: an image asks for sentences (the papers' image annotation); t2i: a sentence asks for images (image search)."""

RECALLS = (1, 5, 10)
METRICS = (*(f"r{k}" for k in RECALLS), "median_rank", "mean_rank")
RECALL_COLUMNS = tuple(f"{direction}_r{k}" for direction in DIRECTIONS for k in RECALLS)
METRIC_COLUMNS = (*(f"{direction}_{metric}" for direction in DIRECTIONS for metric in METRICS), "rsum", "mean_recall")
