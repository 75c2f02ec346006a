from functools import partial

from densevse.artifacts.schema import read
from densevse.artifacts.schemas.masks import MASKS, SEGMENT_OVERLAP
from densevse.runtime.logs import job
from densevse.vision.mcg.forest import load
from densevse.vision.mcg.shards import segment_overlap, write_shard


def main(inputs, name, options, processes, path):
    masks, ranker = read(inputs["masks"], MASKS), load(inputs["ranker"])
    make = partial(segment_overlap, masks=masks, ranker=ranker, options=options, processes=processes)
    write_shard(make, SEGMENT_OVERLAP, inputs, {"proposer": name, "kind": "mcg", **options}, path)


if __name__ == "__main__":
    with job(snakemake.log[0]):
        main(
            dict(snakemake.input.items()),
            snakemake.wildcards.proposer,
            snakemake.params.options,
            snakemake.threads,
            snakemake.output[0],
        )
