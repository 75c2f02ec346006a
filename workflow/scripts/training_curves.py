from densevse.figures.training_curves import training_curves
from densevse.logs import job

if __name__ == "__main__":
    with job(snakemake.log[0]):
        training_curves(snakemake.params.runs, snakemake.params.title, snakemake.output[0])
