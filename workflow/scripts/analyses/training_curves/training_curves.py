from densevse.analyses.training_curves.curves import training_curves
from densevse.runtime.logs import job

if __name__ == "__main__":
    with job(snakemake.log[0]):
        training_curves(snakemake.params.runs, snakemake.params.title, snakemake.output[0])
