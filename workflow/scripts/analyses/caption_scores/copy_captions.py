from densevse.analyses.caption_scores.baselines import copy_captions
from densevse.artifacts.identity import Identity
from densevse.runtime.logs import job

if __name__ == "__main__":
    with job(snakemake.log[0]):
        copy_captions(
            {"train": snakemake.input.train, snakemake.wildcards.split: snakemake.input.asked},
            snakemake.input.captions,
            snakemake.input.tokens,
            Identity.of(snakemake.wildcards, writer="copied"),
            snakemake.output[0],
        )
