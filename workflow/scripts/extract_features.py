import torch

from densevse.logs import job
from densevse.processor import avoid_illegal_instructions
from densevse.vision.extract import extract

if __name__ == "__main__":
    with job(snakemake.log[0]):
        avoid_illegal_instructions()
        torch.set_num_threads(snakemake.params.threads)
        extract(
            snakemake.input.image_table,
            {name: snakemake.input[name] for name in snakemake.params.sources},
            snakemake.params.network,
            snakemake.input.weights,
            snakemake.wildcards.view,
            snakemake.wildcards.shard,
            snakemake.output[0],
        )
