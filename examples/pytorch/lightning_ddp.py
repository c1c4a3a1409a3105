"""Trains a small model with Lightning, and prints the time of an iteration.

    torchrun --nproc-per-node 2 lightning_ddp.py --backend ringlet
"""

import argparse
import json
import statistics
import time
import warnings

import lightning
import torch
import torch.distributed as dist
from lightning.pytorch.strategies import DDPStrategy
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def made_up_data(samples):
    generator = torch.Generator().manual_seed(1)
    inputs = torch.randn(samples, 16, generator=generator)
    return TensorDataset(inputs, inputs.pow(2).sum(1, keepdim=True).sqrt())


class TinyModel(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(16, 256), nn.ReLU(), nn.Linear(256, 1))
        self.losses, self.seconds, self.begin = [], [], time.perf_counter()

    def on_train_batch_start(self, *_):
        self.begin = time.perf_counter()

    def on_train_batch_end(self, *_):
        self.seconds.append(time.perf_counter() - self.begin)

    def training_step(self, batch, _):
        loss = nn.functional.mse_loss(self.layers(batch[0]), batch[1])
        self.log("loss", loss, on_step=False, on_epoch=True, sync_dist=True)
        return loss

    def on_train_epoch_end(self):
        self.losses.append(self.trainer.callback_metrics["loss"].item())

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.01)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backend", default="ringlet")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--json", action="store_true", help="one line with the results")
    options = parser.parse_args()

    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    lightning.seed_everything(2, verbose=False)
    model = TinyModel()
    trainer = lightning.Trainer(
        accelerator="cpu", devices=2, strategy=DDPStrategy(process_group_backend=options.backend),
        max_epochs=options.epochs, logger=False, enable_checkpointing=False, enable_progress_bar=False,
        enable_model_summary=False)  # fmt: skip
    trainer.fit(model, DataLoader(made_up_data(2048), batch_size=32, shuffle=True))
    found = dist.get_backend()
    if found != options.backend:
        raise SystemExit(f"Lightning has made a process group of {found}")
    if dist.get_rank() == 0:
        seconds = statistics.median(model.seconds)
        result = {"backend": found, "losses": model.losses, "iteration_s": seconds}
        print(json.dumps(result) if options.json else
              f"{found}, {dist.get_world_size()} ranks: loss {model.losses[-1]:.6f}, {1 / seconds:.0f} iterations/s",
              flush=True)
    dist.barrier()


if __name__ == "__main__":
    main()
