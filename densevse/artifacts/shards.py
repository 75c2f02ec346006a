"""Shards: an artifact in several files, so that the same workflow runs on two cores and on a cluster.

A shard's name has its number and the number of shards (`00-of-04`). A shard holds consecutive rows of the image table,
so the shards in order are the table in order, and no result depends on their number.
"""

from pathlib import Path


def shard_names(count: int) -> list[str]:
    """The names of `count` shards, in order."""
    return [f"{shard:02d}-of-{count:02d}" for shard in range(count)]


def shard_slice(shard: str, rows: int) -> slice:
    """The slice of `shard` among `rows` consecutive rows."""
    index, count = map(int, shard.split("-of-"))
    return slice(index * rows // count, (index + 1) * rows // count)


def remove_old_shards(path: str | Path) -> None:
    """Removes the shards of other divisions once all shards of the division of `path` exist.

    Otherwise a folder would be read twice over. Until then the old shards stay, in case the new division is abandoned.
    """
    path = Path(path)
    division = shard_names(int(path.stem.split("-of-")[1]))
    if all(path.with_stem(shard).is_file() for shard in division):
        for other in path.parent.glob("*-of-*.parquet"):
            if other.stem not in division:
                other.unlink(missing_ok=True)
