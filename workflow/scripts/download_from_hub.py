from densevse.datasets.hub import download_from_hub
from densevse.runtime.logs import job

if __name__ == "__main__":
    with job(snakemake.log[0]):
        download_from_hub(snakemake.params.source, snakemake.output[0])
