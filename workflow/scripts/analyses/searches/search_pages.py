from densevse.analyses.searches.pages import search_pages
from densevse.runtime.logs import job

if __name__ == "__main__":
    with job(snakemake.log[0]):
        search_pages(
            snakemake.input.found,
            snakemake.input.image_table,
            dict(zip(snakemake.params.sources, snakemake.input.sources, strict=True)),
            snakemake.params.asked,
            snakemake.params.title,
            snakemake.params.shown,
            (snakemake.output.markdown, snakemake.output.html),
        )
