"""The average precision of predicted concepts."""

from densevse.artifacts.schema import NUMBER, REAL, TEXT, Column, Schema

AVERAGE_PRECISION = Schema(
    "average_precision",
    "a concept on a split",
    (
        Column("split", TEXT, "val or test"),
        Column("index", NUMBER, "the concept's number in concepts.parquet"),
        Column("concept", TEXT, "its lemma, lower case"),
        Column("kind", TEXT, "noun, adjective, verb or number"),
        Column("training_images", NUMBER, "how many training images have a sentence with it"),
        Column("images", NUMBER, "how many of the split's images have a sentence with it"),
        Column("frequency", REAL, "their share: the average precision of ranking by chance"),
        Column("average_precision", REAL, "by the best region of an image; null where no image has it", nullable=True),
        Column("average_precision_whole", REAL, "by the whole image alone; null where no image has it", nullable=True),
    ),
)

MEAN_AVERAGE_PRECISION = Schema(
    "mean_average_precision",
    "a split",
    (
        Column("split", TEXT, "val or test"),
        Column("concepts", NUMBER, "how many concepts the means are over: those of enough of the split's images"),
        Column("frequency", REAL, "mean frequency of the concepts: what ranking by chance gives", nullable=True),
        *(
            Column(f"{metric}{end}", REAL, f"{meaning}{of}; null without any such concept", nullable=True)
            for metric, meaning in (
                ("best_region", "mean average precision by the best region of an image"),
                ("whole_image", "mean average precision by the whole image alone"),
                ("gain", "the former less the latter"),
            )
            for end, of in (
                ("", ""),
                ("_low", ", low end of the 95% interval, by a jackknife over families of images"),
                ("_high", ", high end of it"),
            )
        ),
    ),
)
