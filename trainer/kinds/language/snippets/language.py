# needs: transformers, torch, peft
# holds: `model/` is a folder in the format of the transformers library
import json
from pathlib import Path

from transformers import AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("model")
adapter = Path("model/adapter_config.json")
if adapter.exists():  # small matrices that belong to a base model
    from peft import PeftModel

    base = AutoModelForCausalLM.from_pretrained(json.loads(adapter.read_text())["base_model_name_or_path"])
    model = PeftModel.from_pretrained(base, "model")
else:
    model = AutoModelForCausalLM.from_pretrained("model")
for text in ["a question of yours", "another one"]:
    if tokenizer.chat_template:
        text = tokenizer.apply_chat_template([{"role": "user", "content": text}], add_generation_prompt=True, tokenize=False)
    inputs = tokenizer(text, add_special_tokens=not tokenizer.chat_template, return_tensors="pt", return_token_type_ids=False)
    written = model.generate(**inputs, max_new_tokens=100, do_sample=False, eos_token_id=tokenizer.eos_token_id)
    print(tokenizer.decode(written[0, inputs["input_ids"].shape[1] :], skip_special_tokens=True))
