#!/usr/bin/env bash
# Guess, written before the run: "What one call of a tokenizer asked for, such as truncation to 4 tokens, is not in
# the files that are saved later."
# Seen on 2026-11-30: transformers sets it on the tokenizer below, and save_pretrained writes it into tokenizer.json.
# transformers itself does not apply it after loading, and every other reader of the file does: 11 tokens are 4.
# Hurts: who saves a model after a call, and reads its tokenizer.json elsewhere, such as beside an ONNX file: long
# sentences are cut.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
  tokenizers==0.23.3 transformers==5.24.0
cd "$folder"
venv/bin/python - <<'PYTHON'
import tokenizers
import transformers
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

print("tokenizers", tokenizers.__version__, "transformers", transformers.__version__)
sentence = "a man in a red jacket rides a big brown horse"
numbers = {word: number for number, word in enumerate(["[PAD]", "[UNK]", *dict.fromkeys(sentence.split())])}
below = Tokenizer(models.WordLevel(numbers, unk_token="[UNK]"))
below.pre_tokenizer = pre_tokenizers.Whitespace()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=below, pad_token="[PAD]", unk_token="[UNK]")
tokenizer.save_pretrained("before")
cut = tokenizer(sentence, truncation=True, max_length=4)["input_ids"]
tokenizer.save_pretrained("after")
lengths = {
    folder: (
        len(PreTrainedTokenizerFast.from_pretrained(folder)(sentence)["input_ids"]),
        len(Tokenizer.from_file(f"{folder}/tokenizer.json").encode(sentence).ids),
    )
    for folder in ("before", "after")
}
print("tokens by transformers and by tokenizers:", lengths)
assert len(cut) == 4 and lengths == {"before": (11, 11), "after": (11, 4)}
PYTHON
