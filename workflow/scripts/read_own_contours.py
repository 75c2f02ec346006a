from pathlib import Path

from densevse.artifacts.lineage import lineage
from densevse.artifacts.schema import read, write
from densevse.artifacts.schemas.contours import CONTOURS
from densevse.artifacts.schemas.datasets import IMAGES
from densevse.artifacts.shards import remove_superseded, shard_slice
from densevse.runtime.logs import job
from densevse.vision.mcg.shards import own_contour_maps


def main(image_table, folder, options, shard, path):
    images = read(image_table, IMAGES)
    maps = own_contour_maps(images.iloc[shard_slice(shard, len(images))], folder, options)
    write(maps, CONTOURS, path, lineage({"contours": Path(folder).name, **options}, {"images": image_table}))
    remove_superseded(path)


if __name__ == "__main__":
    with job(snakemake.log[0]):
        main(
            snakemake.input.image_table,
            snakemake.input.maps,
            snakemake.params.options,
            snakemake.wildcards.shard,
            snakemake.output[0],
        )
