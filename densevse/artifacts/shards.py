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
    """Once all shards of the division of `path` are there, remove those of others, lest a folder be read twice over.

    Until then the old ones stay: they are all that there is of the artifact if the new division is given up.
    """
    path = Path(path)
    division = shard_names(int(path.stem.split("-of-")[1]))
    if all(path.with_stem(shard).is_file() for shard in division):
        for other in path.parent.glob("*-of-*.parquet"):
            if other.stem not in division:
                other.unlink(missing_ok=True)
