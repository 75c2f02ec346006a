from densevse.analyses.attention.figures import averaged_maps, saliency_maps
from densevse.runtime.logs import job

if __name__ == "__main__":
    with job(snakemake.log[0]):
        saliency_maps(
            {snakemake.params.title: snakemake.input.saliency},
            snakemake.input.image_table,
            snakemake.input.caption_table,
            dict(zip(snakemake.params.sources, snakemake.input.sources, strict=True)),
            snakemake.params.title,
            snakemake.output.maps,
        )
        averaged_maps(snakemake.input.saliency, snakemake.params.title, snakemake.output.mean)
