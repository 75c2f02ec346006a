# What the training sentences are made of: words, relations between words, and pre-trained vectors of the words.


rule count_words:
    input:
        captions="<results>/{dataset}/captions.parquet",
    output:
        "<results>/{dataset}/vocabulary/words.parquet",
    log:
        "<logs>/count_words/{dataset}.log",
    benchmark:
        "<benchmarks>/count_words/{dataset}.tsv"
    conda:
        "../../envs/base.yaml"
    resources:
        mem_mb=2000,
    params:
        code=code_of("count_words.py"),
        minimum=words.minimum,
    message:
        "counting the words of {wildcards.dataset}"
    script:
        "../scripts/count_words.py"


rule count_relations:
    input:
        captions="<results>/{dataset}/captions.parquet",
        parses=parses.files,
    output:
        "<results>/{dataset}/vocabulary/relations.parquet",
    log:
        "<logs>/count_relations/{dataset}.log",
    benchmark:
        "<benchmarks>/count_relations/{dataset}.tsv"
    conda:
        "../../envs/base.yaml"
    resources:
        mem_mb=4000,
    params:
        code=code_of("count_relations.py"),
    message:
        "counting the relations between words of {wildcards.dataset}"
    script:
        "../scripts/count_relations.py"


rule pick_word_vectors:
    input:
        words=rules.count_words.output[0],
        vectors=words.file_of_vectors,
    output:
        "<results>/{dataset}/vocabulary/vectors-{vectors}.parquet",
    log:
        "<logs>/pick_word_vectors/{dataset}-{vectors}.log",
    benchmark:
        "<benchmarks>/pick_word_vectors/{dataset}-{vectors}.tsv"
    conda:
        "../../envs/base.yaml"
    resources:
        mem_mb=1000,
    params:
        code=code_of("pick_word_vectors.py"),
        vectors=words.vectors,
    message:
        "picking the vectors of {wildcards.vectors} for the words of {wildcards.dataset}"
    script:
        "../scripts/pick_word_vectors.py"
