from densevse.analyses.human_judgements.reader import write_judgements
from densevse.runtime.logs import job

if __name__ == "__main__":
    with job(snakemake.log[0]):
        write_judgements(snakemake.input.text, snakemake.input.images, snakemake.input.captions, snakemake.output[0])
