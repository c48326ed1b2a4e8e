"""Options of language models."""

from trainer.config.option import Option, of_kind

# fmt: off
OPTIONS = of_kind("language", (
    Option("finetuning", "auto", "language", choices=("auto", "lora", "full"), since="0.2.0",
           help="How an installed language model is trained: lora trains an adapter, full trains all weights; auto uses full for small models"),
    Option("lora_rank", 16, "language", 1, 512, since="0.2.0", help="Rank of the LoRA adapter; 64 and more suit over 10,000 rows"),
    Option("lora_alpha", 32, "language", 1, 2048, since="0.2.0", help="Scale of the LoRA adapter, usually twice the rank"),
    Option("frozen_weights", "auto", "language", choices=("auto", "fp32", "bf16", "int8", "nf4"), since="0.2.0",
           help="Precision of the weights that LoRA does not train; auto takes bf16 on GPUs, and on CPUs where fp32 does not fit into the memory; "
                "8 bits (int8) or 4 (nf4) where the training would not fit otherwise"),
    Option("recompute", "auto", "language", choices=("auto", "yes", "no"), since="0.2.0",
           help="Compute activations again in the backward pass, which saves memory and costs time; auto does so where they do not fit"),
    Option("spread_weights", "auto", "language", choices=("auto", "yes", "no"), since="0.2.0",
           help="Give each of several workers a part of the weights (FSDP): of those that LoRA does not train, or, with full, of all and what "
                "their training needs; auto does so where they do not fit into one"),
    Option("merge", False, "language", neutral=True, help="Deliver the language model with its adapter merged into its weights, beside the adapter"),
    Option("experts", 1, "language", 1, 64, since="0.2.0",
           help="Experts in each layer of gpt-small, of which a token uses two; 1 trains an ordinary model"),
    Option("router_loss", 0.02, "language", 0, 10, since="0.2.0", help="Weight of the loss that spreads the tokens evenly over the experts"),
    Option("vocab_size", 0, "language", 0, 1_000_000, since="0.2.0",
           help="Number of different tokens in .bin files; 0 reads it from meta.pkl or tokenizer.json"),
    Option("sample_prompts", "", "language", neutral=True, help="Prompts to answer in the report, separated by |; empty uses held-out rows"),
    Option("max_new_tokens", 200, "language", 1, 2048, neutral=True, also_in=("predict",),
           help="Maximum number of tokens of an answer that the language model writes"),
))
# fmt: on
