# What the training sentences are made of: words, relations between words, and pre-trained vectors of the words.


rule count_words:
    input:
        captions=f"{RESULTS}/{{dataset}}/captions.parquet",
        code=code("count_words.py"),
    output:
        f"{RESULTS}/{{dataset}}/vocabulary/words.parquet",
    log:
        f"{RESULTS}/logs/count_words/{{dataset}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/count_words/{{dataset}}.tsv"
    conda:
        "../../envs/base.yaml"
    resources:
        mem_mb=2000,
    params:
        minimum=word_settings,
    script:
        "../scripts/count_words.py"


rule count_relations:
    input:
        captions=f"{RESULTS}/{{dataset}}/captions.parquet",
        parses=parse_files,
        code=code("count_relations.py"),
    output:
        f"{RESULTS}/{{dataset}}/vocabulary/relations.parquet",
    log:
        f"{RESULTS}/logs/count_relations/{{dataset}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/count_relations/{{dataset}}.tsv"
    conda:
        "../../envs/base.yaml"
    resources:
        mem_mb=4000,
    script:
        "../scripts/count_relations.py"


rule pick_word_vectors:
    input:
        words=rules.count_words.output[0],
        vectors=vector_file,
        code=code("pick_word_vectors.py"),
    output:
        f"{RESULTS}/{{dataset}}/vocabulary/vectors-{{vectors}}.parquet",
    log:
        f"{RESULTS}/logs/pick_word_vectors/{{dataset}}-{{vectors}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/pick_word_vectors/{{dataset}}-{{vectors}}.tsv"
    conda:
        "../../envs/base.yaml"
    resources:
        mem_mb=1000,
    params:
        vectors=vector_settings,
    script:
        "../scripts/pick_word_vectors.py"
