"""The workflow with results in a bucket: a folder, and an S3 server on this machine."""
