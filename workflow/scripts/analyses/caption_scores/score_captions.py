from densevse.analyses.caption_scores.scores import score_captions
from densevse.artifacts.identity import Identity
from densevse.runtime.logs import job

if __name__ == "__main__":
    with job(snakemake.log[0]):
        score_captions(
            snakemake.input.images,
            snakemake.input.captions,
            snakemake.input.generated,
            Identity.of(snakemake.wildcards),
            snakemake.params.metrics,
            snakemake.input.spice or None,
            snakemake.output[0],
        )
