from densevse.artifacts.files import checksum
from densevse.artifacts.lineage import lineage
from densevse.artifacts.schema import read, write
from densevse.artifacts.schemas.contours import CONTOURS
from densevse.artifacts.schemas.datasets import IMAGES
from densevse.artifacts.schemas.masks import MASKS, SEGMENT_OVERLAP
from densevse.artifacts.shards import remove_superseded
from densevse.logs import job
from densevse.vision.mcg.forest import load
from densevse.vision.mcg.shards import images_with, segment_overlap


def main(image_table, contours, masks, ranker, name, options, processes, path):
    images = images_with(read(contours, CONTOURS), read(image_table, IMAGES))
    found = segment_overlap(images, read(masks, MASKS), load(ranker), options, processes)
    settings = {"proposer": name, "kind": "mcg", "ranker_sha256": checksum(ranker), **options}
    write(found, SEGMENT_OVERLAP, path, lineage(settings, {"images": image_table, "masks": masks}))
    remove_superseded(path)


if __name__ == "__main__":
    with job(snakemake.log[0]):
        main(
            snakemake.input.image_table,
            snakemake.input.contours,
            snakemake.input.masks,
            snakemake.input.ranker,
            snakemake.wildcards.proposer,
            snakemake.params.options,
            snakemake.threads,
            snakemake.output[0],
        )
