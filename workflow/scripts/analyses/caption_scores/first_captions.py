from densevse.analyses.caption_scores.baselines import first_captions
from densevse.runtime.logs import job

if __name__ == "__main__":
    with job(snakemake.log[0]):
        first_captions(
            snakemake.input.images,
            snakemake.input.captions,
            snakemake.input.tokens,
            snakemake.wildcards.split,
            snakemake.output[0],
        )
