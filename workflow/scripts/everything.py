from densevse.artifacts.files import write_text
from densevse.runtime.logs import job

if __name__ == "__main__":
    with job(snakemake.log[0]):
        lines = [f"Everything of {snakemake.params.title} is made:", *snakemake.params.files]
        write_text("".join(f"{line}\n" for line in lines), snakemake.output[0])
