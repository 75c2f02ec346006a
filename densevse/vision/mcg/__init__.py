"""MCG (Arbelaez et al., CVPR 2014): contours, hierarchies, grouping and ranking, one module for each step.

`contours` maps an image to the strength of its contours at several scales; `hierarchy` turns these into nested
regions; `grouping` forms candidates of one to four adjacent regions; `candidates` fills their holes, drops near copies
and describes each by 16 features; `forest` estimates how well each covers an object, as `learning` taught it; and
`proposing` orders them by this estimate. `shards` runs all steps on a shard of a data set.
"""
