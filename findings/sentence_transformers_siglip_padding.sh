#!/usr/bin/env bash
# Siglip2Processor of transformers says of text: "'padding': 'max_length', 'truncation': True, 'max_length': 64".
# Seen on 2026-11-30: SigLIP reads the last place of a sentence, and `encode` pads to the longest of a batch, so that the
# vector of a sentence is another one beside a longer sentence.
# Hurts: who encodes sentences by SigLIP in sentence-transformers: ranks depend on the batch, without a message.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
  sentence-transformers==6.2.0 transformers==5.24.0 torchvision==0.26.0 pillow==13.0.0
cd "$folder"
HF_HUB_OFFLINE=1 venv/bin/python - <<'PYTHON'
from importlib.metadata import version

import torch
from sentence_transformers import SentenceTransformer
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast, Siglip2Config, Siglip2ImageProcessor, Siglip2Model, Siglip2Processor

print("sentence-transformers", version("sentence-transformers"), "transformers", version("transformers"))
words = {word: place for place, word in enumerate("<pad> <unk> a dog cat runs on grass".split())}
tokenizer = Tokenizer(models.WordLevel(words, unk_token="<unk>"))
tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
made = PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="<pad>", unk_token="<unk>", model_max_length=64)
sizes = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2}
text = {"vocab_size": len(words), "projection_size": 16, "bos_token_id": 0, "eos_token_id": 0, **sizes}
torch.manual_seed(0)
Siglip2Model(Siglip2Config(text_config=text, vision_config=sizes)).save_pretrained("model")
Siglip2Processor(Siglip2ImageProcessor(), made).save_pretrained("model")
model = SentenceTransformer("model", local_files_only=True)
sentences = ["a dog", "a cat runs on a grass on a grass"]


def difference():
    alone, beside = model.encode(sentences[:1])[0], model.encode(sentences)[0]
    return float(abs(alone - beside).max() / abs(alone).max())


print("padded to the longest of a batch, relative difference:", difference())
assert difference() > 0.01
model[0].processing_kwargs = {"text": {"padding": "max_length"}}
print("padded to a fixed length:", difference())
assert difference() < 1e-4
PYTHON
