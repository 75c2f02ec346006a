from densevse.config.validation import validate
from densevse.runtime.logs import job
from densevse.scenes.training import NetworkJob, train_network
from densevse.vision.classes import read_classes

if __name__ == "__main__":
    with job(snakemake.log[0]):
        described = {"classes": read_classes(snakemake.input.class_names), "code": snakemake.params.code}
        train_network(
            {"images": snakemake.input.image_table, "boxes": snakemake.input.box_table},
            dict(zip(snakemake.params.sources, snakemake.input.sources, strict=True)),
            validate(NetworkJob, {**snakemake.params.training, **described}, "networks"),
            snakemake.output.weights,
            snakemake.output.history,
        )
