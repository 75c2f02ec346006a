from densevse.artifacts.lineage import lineage
from densevse.artifacts.schema import read, write
from densevse.artifacts.schemas.contours import CONTOURS
from densevse.artifacts.schemas.datasets import IMAGES
from densevse.artifacts.schemas.masks import MASKS
from densevse.artifacts.schemas.rankers import CANDIDATES
from densevse.artifacts.shards import remove_superseded
from densevse.logs import job
from densevse.vision.mcg.shards import images_with, ranker_sample


def main(image_table, contours, masks, options, processes, path):
    rows = read(image_table, IMAGES)
    images = images_with(read(contours, CONTOURS), rows[rows["split"] == "train"])
    found = ranker_sample(images, read(masks, MASKS), options, processes)
    write(found, CANDIDATES, path, lineage(options, {"images": image_table, "masks": masks}))
    remove_superseded(path)


if __name__ == "__main__":
    with job(snakemake.log[0]):
        main(
            snakemake.input.image_table,
            snakemake.input.contours,
            snakemake.input.masks,
            snakemake.params.options,
            snakemake.threads,
            snakemake.output[0],
        )
