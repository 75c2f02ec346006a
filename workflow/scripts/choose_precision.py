from densevse.runtime.logs import job
from densevse.runtime.numerics import set_up
from densevse.vision.network_files import write_precision

if __name__ == "__main__":
    with job(snakemake.log[0]):
        set_up(snakemake.threads)
        write_precision(snakemake.output[0])
