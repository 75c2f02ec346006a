from densevse.analyses.caption_scores.figure import draw_captions
from densevse.config.validation import validate
from densevse.report.plan import PicturePlan
from densevse.runtime.logs import job

if __name__ == "__main__":
    with job(snakemake.log[0]):
        draw_captions(
            list(snakemake.input.generated),
            snakemake.input.image_table,
            dict(zip(snakemake.params.sources, snakemake.input.sources, strict=True)),
            validate(PicturePlan, snakemake.params.plan, "the plan of the picture"),
            snakemake.output[0],
        )
