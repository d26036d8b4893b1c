# SPDX-License-Identifier: Apache-2.0
# Collectives of NCCL between kernels of PyTorch, one process a GPU: prints a hash of what rank 0 has after each.
#   nccl.py [RANKS]        default: as many as there are GPUs
# Alone on one GPU NCCL launches a kernel only for reductions that scale (avg), and it is none of its collectives.
import datetime
import hashlib
import os
import socket
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def work(rank, ranks, port):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", rank=rank, world_size=ranks, timeout=datetime.timedelta(seconds=120))
    torch.manual_seed(rank)
    data = torch.arange(1 << 16, device="cuda", dtype=torch.float32) % 251 + rank
    lines = []
    for step in range(4):
        data = data * 0.5 + step
        dist.all_reduce(data, op=dist.ReduceOp.SUM)
        dist.all_reduce(data, op=dist.ReduceOp.AVG)
        dist.broadcast(data, 0)
        parts = [torch.empty_like(data) for _ in range(ranks)]
        dist.all_gather(parts, data)
        data = parts[-1] + 1
        lines.append(hashlib.sha256(data.cpu().numpy().tobytes()).hexdigest())
    dist.barrier()
    torch.cuda.synchronize()
    if rank == 0:
        print("\n".join(lines))
    dist.destroy_process_group()


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


if __name__ == "__main__":
    n = int(sys.argv[1]) if len(sys.argv) > 1 else torch.cuda.device_count()
    if n == 1:
        work(0, 1, free_port())
    else:
        mp.spawn(work, args=(n, free_port()), nprocs=n)
