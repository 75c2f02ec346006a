from densevse.analyses.needles.world import generate
from densevse.runtime.logs import job

if __name__ == "__main__":
    with job(snakemake.log[0]):
        generate(snakemake.params.options, snakemake.output.precomp, snakemake.output.whole, snakemake.output.ids)
