"""Generates tokens with vLLM, tensor-parallel, and prints the time of one.

    torchrun --nproc-per-node 2 vllm_tp.py --backend ringlet

The model is a small Llama with random weights. With --backend gloo vLLM runs unchanged: with its
own kernel for shared memory among the ranks of a host, and with Gloo otherwise.
"""

import argparse
import json
import os
import statistics
import tempfile
import time

CONFIG = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_act": "silu", "vocab_size": 1024,
          "hidden_size": 512, "intermediate_size": 1024, "num_hidden_layers": 4, "num_attention_heads": 8,
          "num_key_value_heads": 4, "max_position_embeddings": 512, "rms_norm_eps": 1e-5, "rope_theta": 10000.0,
          "tie_word_embeddings": False, "torch_dtype": "float32", "bos_token_id": 1, "eos_token_id": 2}  # fmt: skip


def generate(options, folder):
    """Returns the tokens of one answer, and the seconds of a token in each of several answers."""
    from vllm import LLM, SamplingParams

    size = int(os.environ["WORLD_SIZE"])
    model = LLM(model=folder, load_format="dummy", skip_tokenizer_init=True, tensor_parallel_size=size,
                distributed_executor_backend="external_launcher", dtype="float32", enforce_eager=True,
                max_model_len=256, max_num_seqs=1, seed=1)  # fmt: skip
    sampling = SamplingParams(temperature=0.0, max_tokens=options.tokens, ignore_eos=True, detokenize=False)
    seconds = []
    for _ in range(6):
        begin = time.perf_counter()
        answer = model.generate([{"prompt_token_ids": [5, 6, 7, 8]}], sampling, use_tqdm=False)
        seconds.append((time.perf_counter() - begin) / options.tokens)
    return list(answer[0].outputs[0].token_ids), seconds[1:]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backend", default="ringlet")
    parser.add_argument("--tokens", type=int, default=32)
    parser.add_argument("--json", action="store_true", help="one line with the results")
    options = parser.parse_args()

    # Set these before vLLM's import reads them.
    os.environ["VLLM_PLUGINS"] = "ringlet" if options.backend == "ringlet" else ""
    for name, value in (("VLLM_CPU_KVCACHE_SPACE", "1"), ("VLLM_CPU_OMP_THREADS_BIND", "nobind"),
                        ("VLLM_LOGGING_LEVEL", "ERROR"), ("VLLM_ENABLE_V1_MULTIPROCESSING", "0"),
                        ("OMP_NUM_THREADS", "1")):
        os.environ.setdefault(name, value)
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "config.json"), "w") as file:
            json.dump(CONFIG, file)
        tokens, seconds = generate(options, folder)
    import torch.distributed as dist

    found = dist.get_backend()
    if found != options.backend:
        raise SystemExit(f"vLLM has made a process group of {found}")
    if dist.get_rank() == 0:
        median = statistics.median(seconds)
        result = {"backend": found, "tokens": tokens, "token_s": median}
        print(json.dumps(result) if options.json else
              f"{found}, {dist.get_world_size()} ranks: tokens {tokens[:6]}, {1e6 * median:.0f} us a token", flush=True)
    dist.barrier()  # vLLM destroys its groups itself


if __name__ == "__main__":
    main()
