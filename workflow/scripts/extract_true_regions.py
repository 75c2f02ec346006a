import torch

from densevse.logs import job
from densevse.processor import avoid_illegal_instructions
from densevse.vision.true_regions import extract_true_regions

if __name__ == "__main__":
    with job(snakemake.log[0]):
        avoid_illegal_instructions()
        torch.set_num_threads(snakemake.params.threads)
        extract_true_regions(
            snakemake.input.image_table,
            snakemake.input.boxes,
            {name: snakemake.input[name] for name in snakemake.params.sources},
            snakemake.params.network,
            snakemake.input.weights,
            "test",
            snakemake.output[0],
        )
