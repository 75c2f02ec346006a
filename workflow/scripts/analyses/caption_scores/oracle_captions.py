from densevse.analyses.caption_scores.oracles import write_with_oracle
from densevse.artifacts.identity import Identity
from densevse.config.validation import validate
from densevse.data.files import Files
from densevse.inference.captioning import CaptionJob
from densevse.runtime.logs import job

if __name__ == "__main__":
    with job(snakemake.log[0]):
        write_with_oracle(
            files=Files.of(dict(snakemake.input.items())),
            of=Identity.of(snakemake.wildcards),
            oracle=snakemake.wildcards.oracle,
            job=validate(CaptionJob, dict(snakemake.params.items()), "captions"),
            paths=dict(snakemake.output.items()),
        )
