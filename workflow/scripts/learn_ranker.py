from pathlib import Path

from densevse.runtime.logs import job
from densevse.vision.mcg.forest import save
from densevse.vision.mcg.learning import learn_from_authors


def main(sample, options, path):
    save(learn_from_authors(sample, options, seed=0), path, Path(sample).name)


if __name__ == "__main__":
    with job(snakemake.log[0]):
        main(snakemake.input.sample, snakemake.params.options, snakemake.output[0])
