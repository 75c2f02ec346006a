from densevse.runtime.logs import job
from densevse.scenes.training import Recipe, train_network
from densevse.vision.classes import read_classes

if __name__ == "__main__":
    with job(snakemake.log[0]):
        train_network(
            {"images": snakemake.input.image_table, "boxes": snakemake.input.box_table},
            dict(zip(snakemake.params.sources, snakemake.input.sources, strict=True)),
            snakemake.params.network,
            read_classes(snakemake.input.class_names),
            Recipe(threads=snakemake.params.threads, code=snakemake.params.get("code", "")),
            snakemake.output.weights,
            snakemake.output.history,
        )
