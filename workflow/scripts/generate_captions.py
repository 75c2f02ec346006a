from densevse.artifacts.identity import Identity
from densevse.config.validation import validate
from densevse.data.files import Files
from densevse.inference.captioning import CaptionJob, write_captions
from densevse.runtime.logs import job

if __name__ == "__main__":
    with job(snakemake.log[0]):
        write_captions(
            files=Files.of(dict(snakemake.input.items())),
            of=Identity.of(snakemake.wildcards),
            job=validate(CaptionJob, dict(snakemake.params.items()), "captions"),
            path=snakemake.output[0],
        )
