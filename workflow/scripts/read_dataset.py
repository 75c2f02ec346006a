from densevse.artifacts.identity import Identity
from densevse.datasets.readers import write_dataset
from densevse.runtime.logs import job

if __name__ == "__main__":
    with job(snakemake.log[0]):
        write_dataset(
            snakemake.params.dataset,
            dict(zip(snakemake.params.sources, snakemake.input.sources, strict=True)),
            snakemake.threads,
            snakemake.output.images,
            snakemake.output.captions,
            Identity.of(snakemake.wildcards),
        )
