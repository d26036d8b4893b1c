#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The Python of mpi_ranks.c: functions f1 to f10 of a library (argv[1]) called 10 K + rank times through
ctypes, a sum over all ranks, a ring, memory shared by the ranks of a node. Prints "ranks N sum S node K"."""
import ctypes
import sys

from mpi4py import MPI

world = MPI.COMM_WORLD
rank, ranks = world.Get_rank(), world.Get_size()
library = ctypes.CDLL(sys.argv[1])
for k in range(1, 11):
    function = getattr(library, f"f{k}")
    for _ in range(10 * k + rank):
        function()
total = world.allreduce(10 * (rank + 1), op=MPI.SUM)
got = world.sendrecv({"from": rank}, dest=(rank + 1) % ranks, source=(rank - 1) % ranks)
if got["from"] != (rank - 1) % ranks:
    world.Abort(99)
node = world.Split_type(MPI.COMM_TYPE_SHARED)
window = MPI.Win.Allocate_shared(4, 4, comm=node)
window.Fence()
memory, _ = window.Shared_query(node.Get_rank())
memoryview(memory).cast("B").cast("i")[0] = 100 + node.Get_rank()
window.Fence()
for i in range(node.Get_size()):
    memory, _ = window.Shared_query(i)
    if memoryview(memory).cast("B").cast("i")[0] != 100 + i:
        world.Abort(98)
window.Fence()
window.Free()
if rank == 0:
    print(f"ranks {ranks} sum {total} node {node.Get_size()}", flush=True)
