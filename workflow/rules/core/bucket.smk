# Results in a bucket, where machines share no disk: the user's files are copied there, and Snakemake's records lie there.


rule upload_file:
    input:
        source=local_path("{own_file}", own_files.original),
    output:
        "<resources>/own/{own_copy}",
    log:
        "<logs>/upload_file/{own_copy}.log",
    wildcard_constraints:
        own_copy=own_files.copied(folders=False, all_of_them=workflow.is_main_process),
    localrule: True
    conda:
        "../../../envs/base.yaml"
    resources:
        mem_mb=500,
    params:
        **calling_once("densevse.artifacts.files:copy"),
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
        own_copy=own_files.copied(folders=True, all_of_them=False),


if bucket and workflow.is_main_process:
    check_hooks(sys.argv)
    bucket_records = BucketRecords(bucket, settings.results, logger.warning)
    bucket_records.fetch()


onstart:
    if bucket:
        bucket_records.begin(
            file.storage_object.query
            for job in workflow.dag.needrun_jobs()
            for file in job.output
            if file.is_storage
        )


onsuccess:
    if bucket:
        bucket_records.end()


onerror:
    if bucket:
        bucket_records.end()
