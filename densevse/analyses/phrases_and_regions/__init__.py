"""HM-LSTM's figures: learned correspondences, phrases for regions, and the joint embedding (Niu et al. 2017)."""
