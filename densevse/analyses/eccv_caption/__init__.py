"""ECCV Caption and CxC: MS-COCO's retrieval with more true pairs than each image and its own sentences."""
