"""DeFrag's alignments of regions with dependency triplets (Karpathy et al. 2014, section 4.3, Figures 4 and 5)."""
