from densevse.analyses.caption_scores.scores import score_captions
from densevse.runtime.logs import job

if __name__ == "__main__":
    with job(snakemake.log[0]):
        score_captions(
            snakemake.input.images,
            snakemake.input.captions,
            snakemake.input.written,
            snakemake.wildcards.split,
            snakemake.params.metrics,
            snakemake.input.get("spice") or None,
            snakemake.output[0],
        )
