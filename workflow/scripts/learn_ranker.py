from pathlib import Path

from densevse.logs import job
from densevse.vision.mcg.forest import save
from densevse.vision.mcg.shards import learn_ranker


def main(sample, options, path):
    save(learn_ranker(sample, seed=0, **options), path, Path(sample).name)


if __name__ == "__main__":
    with job(snakemake.log[0]):
        main(snakemake.input.sample, snakemake.params.options, snakemake.output[0])
