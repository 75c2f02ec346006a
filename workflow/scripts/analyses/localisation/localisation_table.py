from densevse.analyses.localisation.table import write_table
from densevse.artifacts.lineage import lineage
from densevse.runtime.logs import job

if __name__ == "__main__":
    with job(snakemake.log[0]):
        heat_maps, images = snakemake.input.heat_maps, snakemake.input.image_table
        paths = tuple(snakemake.output[form] for form in ("parquet", "markdown", "html", "latex"))
        made_from = lineage({}, {"heat_maps": heat_maps, "images": images})
        write_table(heat_maps, images, snakemake.params.title, paths, made_from)
