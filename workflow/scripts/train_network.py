from densevse.logs import job
from densevse.vision.classes import read_classes
from densevse.vision.scenes_net import train_scenes_net

if __name__ == "__main__":
    with job(snakemake.log[0]):
        train_scenes_net(
            snakemake.input.image_table,
            snakemake.input.box_table,
            {name: snakemake.input[name] for name in snakemake.params.sources},
            snakemake.params.network,
            read_classes(snakemake.input.class_names),
            snakemake.params.threads,
            snakemake.output[0],
        )
