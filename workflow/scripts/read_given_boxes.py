from densevse.datasets.given_boxes import write_given_boxes
from densevse.runtime.logs import job

if __name__ == "__main__":
    with job(snakemake.log[0]):
        write_given_boxes(
            snakemake.input.boxes,
            snakemake.input.image_table,
            snakemake.input.caption_table,
            snakemake.input.tokens,
            snakemake.output[0],
        )
