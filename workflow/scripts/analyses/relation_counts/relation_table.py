from densevse.analyses.relation_counts.table import read_published, table
from densevse.artifacts.schema import read
from densevse.artifacts.schemas.vocabulary import FRAGMENTS
from densevse.runtime.logs import job


def main(title, dataset, counted, published, outputs):
    found = {kind: read(file, FRAGMENTS) for kind, file in counted.items()}
    table(title, found, read_published(published, dataset)).write(*outputs)


if __name__ == "__main__":
    with job(snakemake.log[0]):
        main(
            snakemake.params.title,
            snakemake.wildcards.dataset,
            {kind: snakemake.input[kind] for kind in ("enhanced", "basic")},
            snakemake.input.published,
            (snakemake.output.markdown, snakemake.output.html, snakemake.output.latex),
        )
