from functools import partial

from densevse.artifacts.schemas.proposals import PROPOSALS
from densevse.runtime.logs import job
from densevse.vision.mcg.forest import load
from densevse.vision.mcg.shards import proposals, write_shard


def main(inputs, name, options, processes, path):
    make = partial(proposals, ranker=load(inputs["ranker"]), options=options, processes=processes)
    write_shard(make, PROPOSALS, inputs, {"proposer": name, "kind": "mcg", **options}, path)


if __name__ == "__main__":
    with job(snakemake.log[0]):
        main(
            dict(snakemake.input.items()),
            snakemake.wildcards.proposer,
            snakemake.params.options,
            snakemake.threads,
            snakemake.output[0],
        )
