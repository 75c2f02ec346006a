"""Shards: an artifact in several files, so that the same workflow runs on two cores and on a cluster.

A shard's name says which of how many it is (`00-of-04`). Shard i holds consecutive rows of the image table, so the
shards in order are the table's order, and no result depends on how many there are.
"""

from pathlib import Path


def shard_names(count: int) -> list[str]:
    """The names of `count` shards, in order."""
    return [f"{shard:02d}-of-{count:02d}" for shard in range(count)]


def shard_slice(shard: str, rows: int) -> slice:
    """Which of `rows` consecutive rows belong to `shard`."""
    index, count = map(int, shard.split("-of-"))
    return slice(index * rows // count, (index + 1) * rows // count)


def remove_superseded(path: str | Path) -> None:
    """Remove the shards beside `path` that belong to another division, lest a folder be read twice over."""
    path = Path(path)
    division = path.stem.split("-of-")[1]
    for other in path.parent.glob("*-of-*.parquet"):
        if other.stem.split("-of-")[1] != division:
            other.unlink(missing_ok=True)
