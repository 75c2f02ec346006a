import torch

from densevse.logs import job
from densevse.processor import avoid_illegal_instructions
from densevse.vision.classes import read_classes
from densevse.vision.regions import extract_regions

if __name__ == "__main__":
    with job(snakemake.log[0]):
        avoid_illegal_instructions()
        torch.set_num_threads(snakemake.params.threads)
        extract_regions(
            snakemake.input.image_table,
            snakemake.input.proposals or None,
            {name: snakemake.input[name] for name in snakemake.params.sources},
            snakemake.params.network,
            snakemake.input.weights,
            read_classes(snakemake.input.class_names or None),
            snakemake.wildcards.shard,
            snakemake.output[0],
        )
