from densevse.analyses.caption_scores.baselines import copy_captions
from densevse.runtime.logs import job

if __name__ == "__main__":
    with job(snakemake.log[0]):
        split = snakemake.wildcards.split
        copy_captions(
            {"train": snakemake.input.train, split: snakemake.input.asked},
            snakemake.input.captions,
            snakemake.input.tokens,
            split,
            snakemake.output[0],
        )
