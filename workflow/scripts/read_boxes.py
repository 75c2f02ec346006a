from densevse.datasets.true_boxes import write_boxes
from densevse.runtime.logs import job

if __name__ == "__main__":
    with job(snakemake.log[0]):
        write_boxes(
            snakemake.params.dataset,
            dict(zip(snakemake.params.sources, snakemake.input.sources, strict=True)),
            snakemake.input.image_table,
            snakemake.output[0],
        )
