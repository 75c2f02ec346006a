from densevse.analyses.arithmetic.arithmetic import write_table
from densevse.artifacts.lineage import lineage
from densevse.runtime.logs import job

if __name__ == "__main__":
    with job(snakemake.log[0]):
        found, images = snakemake.input.found, snakemake.input.image_table
        paths = tuple(snakemake.output[form] for form in ("parquet", "markdown", "html", "latex"))
        write_table(found, images, snakemake.params.title, paths, lineage({}, {"found": found, "images": images}))
