"""CxC: people's judgements of MS-COCO's images and sentences, within each kind and between them."""
