from densevse.datasets.download import download
from densevse.runtime.logs import job

if __name__ == "__main__":
    with job(snakemake.log[0]):
        download(snakemake.params.source, snakemake.output[0], snakemake.params.mirrors)
