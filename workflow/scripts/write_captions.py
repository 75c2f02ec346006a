from densevse.batches.files import Files
from densevse.inference.captioning import CaptionJob, write_captions
from densevse.logs import job
from densevse.settings.validation import validate

if __name__ == "__main__":
    with job(snakemake.log[0]):
        write_captions(
            files=Files.of(dict(snakemake.input.items())),
            split=snakemake.wildcards.split,
            job=validate(CaptionJob, dict(snakemake.params.items()), "captions"),
            path=snakemake.output[0],
        )
