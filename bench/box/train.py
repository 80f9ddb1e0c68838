"""Trains the model in the box from the packed rows that make.ts writes, on a CPU or a CUDA GPU.

    python3 train.py FOLDER [--minutes 240] [--seed 1] [--rows 18] [--rate 1]

FOLDER holds config.json and train.bin; model.safetensors is written there, in the layout that
Hugging Face gives Llama. The learning rates follow the clock: a GPU needs a few minutes, not hours.
A checkpoint every few minutes: the same command goes on from it, with other data too. Weights that
are there already (import.ts) are trained further, best at a third of the rate; what is written last
is the mean of those and the new ones, which forgets less (Wortsman et al., 2022).
The matrices are trained by Muon (Jordan et al., 2024), the rest by AdamW. Needs PyTorch 2 and numpy.
"""

import argparse
import json
import math
import struct
import time
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

# Weight of the tokens that are said to the model, beside those that it says.
PROMPT_WEIGHT = 0.1
MUON_RATE, ADAM_RATE = 0.02, 0.004
CHECKPOINT_SECONDS = 180
# One step in so many sees two rows as one, so that the model reads further back.
LONG_EVERY = 6


class Attention(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, self.heads = config["hidden_size"], config["num_attention_heads"]
        self.groups, self.head = config["num_key_value_heads"], width // self.heads
        self.q_proj = nn.Linear(width, self.heads * self.head, bias=False)
        self.k_proj = nn.Linear(width, self.groups * self.head, bias=False)
        self.v_proj = nn.Linear(width, self.groups * self.head, bias=False)
        self.o_proj = nn.Linear(self.heads * self.head, width, bias=False)

    def forward(self, x, cos, sin):  # x: [rows, tokens, width]
        rows, tokens, _ = x.shape
        split = lambda y, heads: y.view(rows, tokens, heads, self.head).transpose(1, 2)
        q, k = (rotate(split(p(x), n), cos, sin) for p, n in
                ((self.q_proj, self.heads), (self.k_proj, self.groups)))
        v = split(self.v_proj(x), self.groups)
        repeat = self.heads // self.groups
        k, v = k.repeat_interleave(repeat, 1), v.repeat_interleave(repeat, 1)
        y = attend(q, k, v).view(rows, self.heads, tokens, self.head)
        return self.o_proj(y.transpose(1, 2).reshape(rows, tokens, -1))


class FeedForward(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, inner = config["hidden_size"], config["intermediate_size"]
        self.gate_proj = nn.Linear(width, inner, bias=False)
        self.up_proj = nn.Linear(width, inner, bias=False)
        self.down_proj = nn.Linear(inner, width, bias=False)

    def forward(self, x):
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class Norm(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(config["hidden_size"]))
        self.epsilon = config["rms_norm_eps"]

    def forward(self, x):
        scale = torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + self.epsilon)
        return (x.float() * scale).to(x.dtype) * self.weight.to(x.dtype)


class Block(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.input_layernorm, self.self_attn = Norm(config), Attention(config)
        self.post_attention_layernorm, self.mlp = Norm(config), FeedForward(config)

    def forward(self, x, cos, sin):
        x = x + self.self_attn(self.input_layernorm(x), cos, sin)
        return x + self.mlp(self.post_attention_layernorm(x))


class Llama(nn.Module):
    """The names of the parameters are those of the file."""

    def __init__(self, config):
        super().__init__()
        width = config["hidden_size"]
        self.embed_tokens = nn.Embedding(config["vocab_size"], width)
        self.layers = nn.ModuleList(Block(config) for _ in range(config["num_hidden_layers"]))
        self.norm = Norm(config)
        head = width // config["num_attention_heads"]
        frequencies = config["rope_theta"] ** (-torch.arange(0, head, 2) / head)
        angles = torch.outer(torch.arange(config["max_position_embeddings"]), frequencies)
        self.register_buffer("cos", angles.cos(), persistent=False)
        self.register_buffer("sin", angles.sin(), persistent=False)
        nn.init.normal_(self.embed_tokens.weight, std=0.05)
        for name, weight in self.layers.named_parameters():
            if weight.ndim == 2:
                last = name.endswith(("o_proj.weight", "down_proj.weight"))
                nn.init.normal_(weight, std=0 if last else weight.shape[1] ** -0.5)

    def forward(self, tokens):  # [rows, tokens] -> [rows, tokens, width]
        x = self.embed_tokens(tokens)
        cos, sin = (table[: tokens.shape[1]] for table in (self.cos, self.sin))
        for layer in self.layers:
            x = layer(x, cos, sin)
        return self.norm(x)

    def loss(self, tokens, weights):
        """Mean over the tokens, each by its weight; the embedding is the output matrix too."""
        x = self(tokens[:, :-1])
        targets, weights = tokens[:, 1:].reshape(-1), weights[:, 1:].reshape(-1)
        taught = weights > 0
        logits = F.linear(x.reshape(-1, x.shape[-1])[taught], self.embed_tokens.weight)
        losses = F.cross_entropy(logits.float(), targets[taught], reduction="none")
        return (losses * weights[taught]).sum() / weights[taught].sum()


def rotate(x, cos, sin):
    """RoPE in halves, as Hugging Face has it."""
    first, second = x.chunk(2, -1)
    cos, sin = cos.to(x.dtype), sin.to(x.dtype)
    return torch.cat((first * cos - second * sin, second * cos + first * sin), -1)


def attend(q, k, v):  # [rows, heads, tokens, head] -> [rows * heads, tokens, head]
    """Causal attention by plain matrix products: on a CPU, three times as fast as PyTorch's own."""
    q, k, v = (x.flatten(0, 1) for x in (q, k, v))
    tokens, head = q.shape[1:]
    mask = torch.full((tokens, tokens), -3e4, dtype=q.dtype, device=q.device).triu(1)
    scores = torch.baddbmm(mask.expand(len(q), -1, -1), q * head**-0.5, k.mT)
    return scores.softmax(-1).to(v.dtype) @ v


class Muon(torch.optim.Optimizer):
    """Momentum whose update is made orthogonal by five Newton-Schulz steps."""

    def __init__(self, parameters, rate, momentum=0.95):
        super().__init__(parameters, {"lr": rate, "momentum": momentum})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            # Matrices of one shape go through the steps together: few large products, not many small.
            shapes = {}
            for weight in group["params"]:
                shapes.setdefault(weight.shape, []).append(weight)
            for (rows, columns), weights in shapes.items():
                gradients = torch.stack([weight.grad for weight in weights])
                momentum = self.state[weights[0]].setdefault("momentum", torch.zeros_like(gradients))
                momentum.lerp_(gradients, 1 - group["momentum"])
                updates = orthogonal(gradients.lerp(momentum, group["momentum"]))
                scale = max(1, rows / columns) ** 0.5
                for weight, update in zip(weights, updates):
                    weight.mul_(1 - group["lr"] * 0.01).add_(update, alpha=-group["lr"] * scale)


def orthogonal(matrices):  # [matrices, rows, columns]
    a, b, c = 3.4445, -4.7750, 2.0315
    tall = matrices.shape[1] > matrices.shape[2]
    x = (matrices.mT if tall else matrices).bfloat16()
    x = x / (torch.linalg.matrix_norm(x, keepdim=True) + 1e-7)
    for _ in range(5):
        square = x @ x.mT
        x = a * x + (b * square + c * square @ square) @ x
    return (x.mT if tall else x).to(matrices.dtype)


def rate_at(done):
    """Factor on the learning rates after this part of the training."""
    warm = min(1, done / 0.02)
    return warm * min(1, max(0.01, (1 - done) / 0.8))


def read_rows(path, length):
    """Rows of tokens [rows, length + 1], and the weight of each token."""
    packed = np.fromfile(path, dtype="<u2").reshape(-1, length + 1)
    # The top bits say who speaks: 0 nobody (padding), 1 the prompt, 2 the model.
    weights = np.array([0, PROMPT_WEIGHT, 1], dtype=np.float32)
    return (packed & 0x3FFF), packed >> 14, weights


def load_safetensors(path):
    """The parameters in a file that save_safetensors or import.ts wrote."""
    data = path.read_bytes()
    start = 8 + struct.unpack("<Q", data[:8])[0]
    for name, entry in json.loads(data[8:start]).items():
        first, end = entry["data_offsets"]
        values = np.frombuffer(data[start + first:start + end], dtype="<f4")
        yield name.removeprefix("model."), torch.from_numpy(values.reshape(entry["shape"]).copy())


def save_safetensors(path, tensors):
    header, offset = {}, 0
    for name, tensor in tensors.items():
        size = tensor.numel() * 4
        header[name] = {"dtype": "F32", "shape": list(tensor.shape),
                        "data_offsets": [offset, offset + size]}
        offset += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for tensor in tensors.values():
            file.write(tensor.detach().float().cpu().numpy().tobytes())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--minutes", type=float, default=240)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rows", type=int, default=18, help="rows per step, an even number")
    parser.add_argument("--rate", type=float, default=1, help="factor on the learning rates")
    options = parser.parse_args()
    folder = options.folder
    config = json.loads((folder / "config.json").read_text())
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(options.seed)
    model = Llama(config).to(device)
    matrices = [p for p in model.layers.parameters() if p.ndim == 2]
    others = [p for p in model.parameters() if not any(p is m for m in matrices)]
    muon = Muon(matrices, MUON_RATE)
    adam = torch.optim.AdamW(others, ADAM_RATE, betas=(0.9, 0.95), weight_decay=0)

    tokens, roles, weights = read_rows(folder / "train.bin", config["train_length"])
    step, spent = 0, 0.0
    checkpoint, trained = folder / "checkpoint.pt", folder / "model.safetensors"
    start = folder / "start.safetensors"
    if checkpoint.exists():
        state = torch.load(checkpoint, map_location=device)
        model.load_state_dict(state["model"])
        muon.load_state_dict(state["muon"])
        adam.load_state_dict(state["adam"])
        step, spent = state["step"], state["spent"]
    else:
        if trained.exists():
            trained.rename(start)
        if start.exists():
            model.load_state_dict(dict(load_safetensors(start)))

    per_epoch = len(tokens) // options.rows
    budget, started, saved, mean = options.minutes * 60, time.time() - spent, time.time(), None

    def save():
        torch.save({"model": model.state_dict(), "muon": muon.state_dict(),
                    "adam": adam.state_dict(), "step": step, "spent": time.time() - started},
                   checkpoint)
        save_weights()

    def save_weights():
        save_safetensors(trained, {f"model.{name}": p for name, p in model.state_dict().items()})

    print(f"{sum(p.numel() for p in model.parameters()):,} weights, {len(tokens):,} rows", flush=True)
    while (done := (time.time() - started) / budget) < 1:
        epoch, index = divmod(step, per_epoch)
        if index == 0 or step == 0 or "order" not in locals():
            order = np.random.default_rng([options.seed, epoch]).permutation(len(tokens))
        chosen = order[index * options.rows:(index + 1) * options.rows]
        for optimizer, rate in ((muon, MUON_RATE), (adam, ADAM_RATE)):
            for group in optimizer.param_groups:
                group["lr"] = options.rate * rate * rate_at(done)
        shape = (options.rows // (2 if step % LONG_EVERY == 0 else 1), -1)
        batch = torch.from_numpy(tokens[chosen].astype(np.int64)).view(shape).to(device)
        taught = torch.from_numpy(weights[roles[chosen]]).view(shape).to(device)
        with torch.autocast(device, torch.bfloat16):
            loss = model.loss(batch, taught)
        loss.backward()
        for optimizer in (muon, adam):
            optimizer.step()
            optimizer.zero_grad()
        step += 1
        mean = loss.item() if mean is None else 0.98 * mean + 0.02 * loss.item()
        if step % 20 == 0:
            rate = step * options.rows * config["train_length"] / (time.time() - started)
            print(f"step {step} epoch {epoch} loss {mean:.4f} {done:.0%} {rate:.0f} tokens/s", flush=True)
        if time.time() - saved > CHECKPOINT_SECONDS:
            save()
            saved = time.time()
    save()
    if start.exists():
        after = model.state_dict()
        for name, before in load_safetensors(start):
            after[name].add_(before.to(device)).div_(2)
        save_weights()


main()
