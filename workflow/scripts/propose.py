from densevse.artifacts.schema import read, write
from densevse.artifacts.schemas.datasets import IMAGES
from densevse.artifacts.schemas.proposals import PROPOSALS
from densevse.artifacts.shards import remove_superseded, shard_slice
from densevse.runtime.logs import job
from densevse.vision.proposals import made_from, propose


def main(image_table, sources, name, proposer, shard, processes, path):
    images = read(image_table, IMAGES)
    proposals = propose(images, shard_slice(shard, len(images)), sources, proposer, processes)
    write(proposals, PROPOSALS, path, made_from(name, proposer, image_table))
    remove_superseded(path)


if __name__ == "__main__":
    with job(snakemake.log[0]):
        main(
            snakemake.input.image_table,
            dict(zip(snakemake.params.sources, snakemake.input.sources, strict=True)),
            snakemake.wildcards.proposer,
            snakemake.params.proposer,
            snakemake.wildcards.shard,
            snakemake.threads,
            snakemake.output[0],
        )
