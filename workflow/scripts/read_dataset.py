from densevse.datasets.readers import write_dataset
from densevse.runtime.logs import job

if __name__ == "__main__":
    with job(snakemake.log[0]):
        write_dataset(
            snakemake.params.dataset,
            {name: snakemake.input[name] for name in snakemake.params.sources},
            snakemake.threads,
            snakemake.output.images,
            snakemake.output.captions,
        )
