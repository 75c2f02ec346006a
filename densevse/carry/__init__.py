"""Models that are carried: a trained model as one folder, which another folder of results takes up with its records."""
