from densevse.analyses.examples.comparison import compared_retrievals
from densevse.config.validation import validate
from densevse.report.plan import PicturePlan
from densevse.runtime.logs import job

if __name__ == "__main__":
    with job(snakemake.log[0]):
        compared_retrievals(
            list(snakemake.input.retrievals),
            snakemake.input.image_table,
            snakemake.input.caption_table,
            dict(zip(snakemake.params.sources, snakemake.input.sources, strict=True)),
            validate(PicturePlan, snakemake.params.plan, "the plan of the picture"),
            snakemake.output[0],
        )
