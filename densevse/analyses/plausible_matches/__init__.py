"""PMRP: R-Precision where images and sentences with nearly the same object classes match."""
