from densevse.artifacts.files import copy
from densevse.runtime.logs import job

if __name__ == "__main__":
    with job(snakemake.log[0]):
        copy(snakemake.input[0], snakemake.output[0])
