"""Runs inference of a small transformer with layers split over the ranks, and prints the time per
token.

    torchrun --nproc-per-node 2 tensor_parallel.py --backend ringlet

Each rank has some of the heads and some of the hidden neurons of each layer. So each layer needs
two sums over the ranks: after the attention and after the feed-forward network. This is the pattern
of DeepSpeed, vLLM and SGLang on CPUs: the whole model waits for small all-reduces.
"""

import argparse
import json
import statistics
import time

import torch
import torch.distributed as dist
from torch.nn.functional import gelu, layer_norm, scaled_dot_product_attention


class Layer:
    """This rank's share of one layer. All ranks draw the same weights and keep their part."""

    def __init__(self, width, heads, rank, size, generator):
        def part(tensor, dim):
            return tensor.chunk(size, dim)[rank].contiguous()

        def weights(rows, columns):
            return torch.randn(rows, columns, generator=generator) / columns**0.5

        self.heads = heads // size
        self.head_width = width // heads
        self.query, self.key, self.value = (part(weights(width, width), 0) for _ in range(3))
        self.mixed = part(weights(width, width), 1)
        self.up = part(weights(4 * width, width), 0)
        self.down = part(weights(width, 4 * width), 1)
        self.keys = self.values = None

    def split_heads(self, x):
        return x.view(x.shape[0], self.heads, self.head_width).transpose(0, 1)

    def __call__(self, x):
        normed = layer_norm(x, x.shape[-1:])
        query = self.split_heads(normed @ self.query.T)
        key, value = self.split_heads(normed @ self.key.T), self.split_heads(normed @ self.value.T)
        self.keys = key if self.keys is None else torch.cat([self.keys, key], 1)
        self.values = value if self.values is None else torch.cat([self.values, value], 1)
        seen = scaled_dot_product_attention(query, self.keys, self.values)
        seen = seen.transpose(0, 1).reshape(x.shape[0], -1) @ self.mixed.T
        dist.all_reduce(seen)
        x = x + seen
        grown = gelu(layer_norm(x, x.shape[-1:]) @ self.up.T) @ self.down.T
        dist.all_reduce(grown)
        return x + grown


@torch.inference_mode()
def generate(options):
    rank, size = dist.get_rank(), dist.get_world_size()
    generator = torch.Generator().manual_seed(1)
    embedding = torch.randn(options.vocabulary, options.width, generator=generator)
    head = torch.randn(options.vocabulary, options.width, generator=generator)
    layers = [
        Layer(options.width, options.heads, rank, size, generator) for _ in range(options.layers)
    ]
    token, tokens, seconds = 0, [], []
    for _ in range(options.tokens):
        begin = time.perf_counter()
        x = embedding[token].view(1, -1)
        for layer in layers:
            x = layer(x)
        token = int((x @ head.T).argmax())
        seconds.append(time.perf_counter() - begin)
        tokens.append(token)
    return tokens, seconds[len(seconds) // 10 :]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backend", default="ringlet")
    parser.add_argument("--layers", type=int, default=8)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--heads", type=int, default=8)
    parser.add_argument("--vocabulary", type=int, default=1024)
    parser.add_argument("--tokens", type=int, default=200)
    parser.add_argument("--json", action="store_true", help="one line with the results")
    options = parser.parse_args()

    torch.set_num_threads(1)
    dist.init_process_group(options.backend)
    tokens, seconds = generate(options)
    if dist.get_rank() == 0:
        median = statistics.median(seconds)
        if options.json:
            result = {"backend": options.backend, "tokens": tokens, "token_s": median}
            print(json.dumps(result), flush=True)
        else:
            print(f"first tokens {tokens[:8]}")
            print(
                f"{options.backend}, {dist.get_world_size()} ranks: {median * 1e6:.0f} us a token, "
                f"{2 * options.layers} all-reduces of {options.width * 4} bytes each"
            )
    dist.barrier()  # together: on Gloo a process sometimes aborts after the exit of a peer
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
