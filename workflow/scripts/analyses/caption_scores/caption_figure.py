from densevse.analyses.caption_scores.figure import draw_captions
from densevse.runtime.logs import job

if __name__ == "__main__":
    with job(snakemake.log[0]):
        draw_captions(
            dict(zip(snakemake.params.titles, snakemake.input.generated, strict=True)),
            snakemake.input.image_table,
            dict(zip(snakemake.params.sources, snakemake.input.sources, strict=True)),
            snakemake.params.title,
            snakemake.output[0],
        )
