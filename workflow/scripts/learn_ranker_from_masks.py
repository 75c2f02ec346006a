from densevse.artifacts.schema import read_all
from densevse.artifacts.schemas.rankers import CANDIDATES
from densevse.runtime.logs import job
from densevse.vision.mcg.forest import save
from densevse.vision.mcg.learning import learn_from_masks


def main(samples, masks, options, path):
    ranker = learn_from_masks(read_all(samples, CANDIDATES), masks["folds"], options, seed=0)
    save(ranker, path, f"{masks['shards']} shards of {masks['dataset']}")


if __name__ == "__main__":
    with job(snakemake.log[0]):
        main(snakemake.input.samples, snakemake.params.masks, snakemake.params.options, snakemake.output[0])
