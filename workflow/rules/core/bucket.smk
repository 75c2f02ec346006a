# Results in a bucket, where machines share no disk: the user's files are copied there, and Snakemake's records lie there.


rule upload_file:
    input:
        source=local_path("{own_file}", own_files.original),
    output:
        "<resources>/own/{own_copy}",
    log:
        "<logs>/upload_file/{own_copy}.log",
    wildcard_constraints:
        own_copy=own_files.copy_pattern(folders=False, all_of_them=workflow.is_main_process),
    localrule: True
    conda:
        "../../../envs/base.yaml"
    resources:
        mem_mb=500,
    params:
        **calling_once("snakeproof.files:copy"),
        contents=contents_of("{own_file}", own_files.original),
    message:
        "putting {input} into the bucket"
    script:
        RUNNER


use rule upload_file as upload_folder with:
    output:
        directory("<resources>/own/{own_copy}"),
    log:
        "<logs>/upload_folder/{own_copy}.log",
    wildcard_constraints:
        own_copy=own_files.copy_pattern(folders=True, all_of_them=False),
