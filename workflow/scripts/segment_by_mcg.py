from functools import partial

from densevse.artifacts.schemas.masks import SEGMENTS
from densevse.runtime.logs import job
from densevse.vision.mcg.forest import load
from densevse.vision.mcg.shards import segments, write_shard


def main(inputs, name, options, processes, path):
    make = partial(segments, ranker=load(inputs["ranker"]), options=options, processes=processes)
    write_shard(make, SEGMENTS, inputs, {"proposer": name, "kind": "mcg", **options}, path)


if __name__ == "__main__":
    with job(snakemake.log[0]):
        main(
            dict(snakemake.input.items()),
            snakemake.wildcards.proposer,
            snakemake.params.options,
            snakemake.threads,
            snakemake.output[0],
        )
