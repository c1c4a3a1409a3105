"""Tensors of a device in another process: torch.multiprocessing passes memory and an event."""
import torch
import torch.multiprocessing

COUNT = 1000


def child(tensors, answers):
    tensor = tensors.get()
    found = tensor.cpu()
    assert tensor.is_cuda and torch.equal(found, torch.arange(float(COUNT))), found[:8]
    tensor.copy_(torch.full((COUNT,), 7.0))
    torch.cuda.synchronize()
    answers.put("changed")
    assert tensors.get() == "end"


if __name__ == "__main__":
    spawning = torch.multiprocessing.get_context("spawn")
    tensors, answers = spawning.Queue(), spawning.Queue()
    process = spawning.Process(target=child, args=(tensors, answers))
    process.start()
    tensor = torch.arange(float(COUNT)).cuda()
    tensors.put(tensor)
    assert answers.get(timeout=300) == "changed"
    assert torch.equal(tensor.cpu(), torch.full((COUNT,), 7.0)), tensor.cpu()[:8]
    tensors.put("end")
    process.join(300)
    assert process.exitcode == 0, process.exitcode
    print("two processes: one tensor")
