from functools import partial

from densevse.artifacts.schema import read
from densevse.artifacts.schemas.masks import MASKS
from densevse.artifacts.schemas.rankers import CANDIDATES
from densevse.runtime.logs import job
from densevse.vision.mcg.shards import ranker_sample, write_shard


def main(inputs, options, processes, path):
    make = partial(ranker_sample, masks=read(inputs["masks"], MASKS), options=options, processes=processes)
    write_shard(make, CANDIDATES, inputs, options, path, split="train")


if __name__ == "__main__":
    with job(snakemake.log[0]):
        main(dict(snakemake.input.items()), snakemake.params.options, snakemake.threads, snakemake.output[0])
