# SPDX-License-Identifier: Apache-2.0
# A small transformer in PyTorch, deterministic: prints its losses with all their bits and the time of the loop.
#   transformer.py train|infer STEPS
import struct
import sys
import time

import torch

mode, steps = sys.argv[1], int(sys.argv[2])
torch.manual_seed(1)
torch.use_deterministic_algorithms(True)
layer = torch.nn.TransformerEncoderLayer(256, 4, 1024, dropout=0.0, batch_first=True)
model = torch.nn.TransformerEncoder(layer, 4, enable_nested_tensor=False).to("cuda")
data = torch.randn(8, 128, 256, device="cuda")
wanted = torch.randn(8, 128, 256, device="cuda")
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
losses = []
torch.cuda.synchronize()
begin = time.monotonic()
if mode == "train":
    for _ in range(steps):
        optimizer.zero_grad()
        loss = ((model(data) - wanted) ** 2).mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
else:
    model.eval()
    with torch.no_grad():
        for _ in range(steps):
            data = model(data)
            losses.append(data.square().mean())
torch.cuda.synchronize()
took = time.monotonic() - begin
for loss in losses:
    print(struct.pack("<f", loss.item()).hex(), "%.9g" % loss.item())
print("loop_ms %.3f" % (took * 1e3), file=sys.stderr)
