from densevse.analyses.attention.figures import averaged_maps, saliency_maps
from densevse.config.validation import validate
from densevse.report.plan import PicturePlan
from densevse.runtime.logs import job

if __name__ == "__main__":
    with job(snakemake.log[0]):
        plan = validate(PicturePlan, snakemake.params.plan, "the plan of the picture")
        saliency_maps(
            [snakemake.input.saliency],
            snakemake.input.image_table,
            snakemake.input.caption_table,
            dict(zip(snakemake.params.sources, snakemake.input.sources, strict=True)),
            plan,
            snakemake.output.maps,
        )
        averaged_maps(snakemake.input.saliency, snakemake.input.image_table, plan.title, snakemake.output.mean)
