"""Generates tokens with transformers, tp_plan="auto", and prints the time of one.

    torchrun --nproc-per-node 2 transformers_tp.py --backend ringlet

The model is a small Llama with random weights. Each rank reads its share of it.
"""

import argparse
import json
import statistics
import tempfile
import time

import torch
import torch.distributed as dist
from transformers import AutoModelForCausalLM, LlamaConfig
from transformers.distributed import DistributedConfig


def save_random_model(folder, options):
    torch.manual_seed(1)
    config = LlamaConfig(
        vocab_size=256, hidden_size=options.width, intermediate_size=4 * options.width,
        num_hidden_layers=options.layers, num_attention_heads=8, num_key_value_heads=8,
        max_position_embeddings=512, bos_token_id=None, eos_token_id=None, pad_token_id=0)  # fmt: skip
    AutoModelForCausalLM.from_config(config, dtype=torch.float32).save_pretrained(folder)


def generate(model, options):
    """Returns the tokens of one answer, and the seconds of a token in each of several answers."""
    prompt, seconds = torch.tensor([[1, 2, 3, 4]]), []
    for _ in range(6):
        begin = time.perf_counter()
        answer = model.generate(prompt, attention_mask=torch.ones_like(prompt), do_sample=False,
                                min_new_tokens=options.tokens, max_new_tokens=options.tokens)  # fmt: skip
        seconds.append((time.perf_counter() - begin) / options.tokens)
    return answer[0, prompt.shape[1] :].tolist(), seconds[1:]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backend", default="ringlet")
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--tokens", type=int, default=30)
    parser.add_argument("--json", action="store_true", help="one line with the results")
    options = parser.parse_args()

    torch.set_num_threads(1)
    # transformers creates a group of Gloo on CPUs, unless one exists.
    dist.init_process_group(options.backend)
    folder = [tempfile.mkdtemp() if dist.get_rank() == 0 else None]
    dist.broadcast_object_list(folder)
    if dist.get_rank() == 0:
        save_random_model(folder[0], options)
    dist.barrier()
    model = AutoModelForCausalLM.from_pretrained(
        folder[0], distributed_config=DistributedConfig(tp_plan="auto"), dtype=torch.float32)
    share = model.model.layers[0].self_attn.q_proj.weight
    rows = share.to_local().shape[0] if hasattr(share, "to_local") else share.shape[0]
    if rows != options.width // dist.get_world_size():
        raise SystemExit(f"the weights are not divided: this rank has {rows} rows of {options.width}")
    tokens, seconds = generate(model, options)
    if dist.get_rank() == 0:
        median = statistics.median(seconds)
        result = {"backend": dist.get_backend(), "tokens": tokens, "token_s": median}
        print(json.dumps(result) if options.json else
              f"{result['backend']}, {dist.get_world_size()} ranks: tokens {tokens[:6]}, {1e6 * median:.0f} us a token",
              flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
