# SPDX-License-Identifier: Apache-2.0
# Inference of small models in PyTorch, deterministic: prints a hash of each step's whole output and the time of the loop.
#   inference.py transformer|convolutions|graph STEPS
# graph: the transformer captured once as a CUDA graph and launched as that.
import hashlib
import sys
import time

import torch

which, steps = sys.argv[1], int(sys.argv[2])
torch.manual_seed(1)
torch.use_deterministic_algorithms(True)
torch.backends.cudnn.benchmark = False
if which == "convolutions":
    model = torch.nn.Sequential(
        torch.nn.Conv2d(3, 32, 3, padding=1), torch.nn.BatchNorm2d(32), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
        torch.nn.Conv2d(32, 64, 3, padding=1), torch.nn.BatchNorm2d(64), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
        torch.nn.Flatten(), torch.nn.Linear(64 * 16 * 16, 128), torch.nn.ReLU(), torch.nn.Linear(128, 10))
    shape = (16, 3, 64, 64)
else:
    layer = torch.nn.TransformerEncoderLayer(256, 4, 1024, dropout=0.0, batch_first=True)
    model = torch.nn.TransformerEncoder(layer, 4, enable_nested_tensor=False)
    shape = (8, 128, 256)
model = model.to("cuda").eval()
inputs = [torch.randn(shape).to("cuda") for _ in range(steps)]
outputs = []
with torch.no_grad():
    if which == "graph":
        data = torch.empty(shape, device="cuda")
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            data.copy_(inputs[0])
            model(data)
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            result = model(data)
    torch.cuda.synchronize()
    begin = time.monotonic()
    for given in inputs:
        if which == "graph":
            data.copy_(given)
            graph.replay()
            outputs.append(result.clone())
        else:
            outputs.append(model(given))
    torch.cuda.synchronize()
    took = time.monotonic() - begin
for output in outputs:
    host = output.cpu().contiguous()
    print(hashlib.sha256(host.numpy().tobytes()).hexdigest(), "%.9g" % host.double().sum().item())
print("loop_ms %.3f" % (took * 1e3), file=sys.stderr)
