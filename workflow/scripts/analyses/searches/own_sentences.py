from densevse.analyses.searches.own import write_sentences
from densevse.runtime.logs import job

if __name__ == "__main__":
    with job(snakemake.log[0]):
        write_sentences(snakemake.params.sentences, snakemake.output[0])
