from pathlib import Path

from densevse.carry.records import VOCABULARY
from densevse.carry.using import use_carried_files
from densevse.runtime.logs import job

if __name__ == "__main__":
    given = snakemake.input
    with job(snakemake.log[0]):
        use_carried_files(given.records, {f"{VOCABULARY}/{Path(given.file).name}": given.file}, snakemake.output)
