from densevse.analyses.votes.ballot_page import ballot_page
from densevse.runtime.logs import job

if __name__ == "__main__":
    with job(snakemake.log[0]):
        ballot_page(
            snakemake.input.ballot,
            snakemake.input.image_table,
            dict(zip(snakemake.params.sources, snakemake.input.sources, strict=True)),
            snakemake.params.title,
            (snakemake.output.html, snakemake.output.sheet),
        )
