# SPDX-License-Identifier: Apache-2.0
# A PyTorch program with ranges, for ranges.sh: by NVTX "step" and "other" in turn, two of each, then one between
# cudaProfilerStart and cudaProfilerStop, and work that is in none. Prints a hash of what it computed.
import hashlib

import torch

torch.manual_seed(1)
torch.use_deterministic_algorithms(True)
a = torch.rand(512, 512, device="cuda")
b = torch.rand(512, 512, device="cuda")
a = a @ b / 512
torch.cuda.synchronize()
for i in range(4):
    torch.cuda.nvtx.range_push("step" if i % 2 else "other")
    a = torch.relu(a @ b) / 256
    a = a + 1
    torch.cuda.nvtx.range_pop()
torch.cuda.synchronize()
torch.cuda.cudart().cudaProfilerStart()
a = a * 2
torch.cuda.cudart().cudaProfilerStop()
a = a - 1
torch.cuda.synchronize()
print(hashlib.sha256(a.cpu().numpy().tobytes()).hexdigest())
