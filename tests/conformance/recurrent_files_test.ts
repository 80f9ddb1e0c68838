// Recurrent models whose files differ from those of the conformance data: each is made from one of
// them, so that its logits are known to be the same as those of another file.

import { assert } from "@std/assert";
import { loadModel } from "../../engine/mod.ts";
import { readGguf, TensorReader } from "../../engine/gguf/mod.ts";
import { quantFormat } from "../../kernels/mod.ts";
import { nmse } from "../numbers.ts";
import { type PlainValue, writeModelFile } from "../model_file.ts";
import { conformanceTest, readFixture } from "./logits.ts";

/** A model to be written again, all of its tensors as f32. */
interface Draft {
  metadata: Record<string, PlainValue>;
  tensors: Map<string, { shape: readonly number[]; values: Float32Array<ArrayBuffer> }>;
}

async function readDraft(path: URL): Promise<Draft> {
  const gguf = await readGguf(path);
  using reader = await TensorReader.open(gguf);
  const tensors: Draft["tensors"] = new Map();
  for (const [name, tensor] of gguf.tensors) {
    const bytes = new Uint8Array(tensor.byteLength);
    reader.read(tensor, 0, bytes);
    const format = quantFormat(tensor.type)!;
    const values = format.dequantize(bytes, bytes.length / format.blockBytes);
    tensors.set(name, { shape: tensor.shape, values: new Float32Array(values) });
  }
  const metadata = { ...gguf.metadata } as Draft["metadata"];
  return { metadata, tensors };
}

/** Logits of a model of the conformance data after a change. */
async function logitsOf(name: string, change: (draft: Draft) => void): Promise<Float32Array> {
  const { model, tokens } = await readFixture("architectures", name);
  const draft = await readDraft(model);
  change(draft);
  const tensors = [...draft.tensors].map(([name, { shape, values }]) => {
    return { name, shape, type: "F32", data: () => [new Uint8Array(values.buffer)] };
  });
  const path = await writeModelFile(draft.metadata, tensors);
  await using loaded = await loadModel(path, { contextLength: 64, maxSequences: 1, exact: true });
  return await loaded.logits(tokens);
}

/** Gives all metadata of one architecture to another. */
function rename({ metadata }: Draft, from: string, to: string): void {
  for (const key of Object.keys(metadata).filter((key) => key.startsWith(`${from}.`))) {
    metadata[key.replace(from, to)] = metadata[key];
    delete metadata[key];
  }
  metadata["general.architecture"] = to;
}

/** Rows of a matrix in another order: `order` in units of `unit` rows. */
function permute(values: Float32Array, width: number, unit: number, order: readonly number[]) {
  const size = unit * width;
  return Float32Array.from(order.flatMap((i) => [...values.subarray(i * size, (i + 1) * size)]));
}

conformanceTest(
  "Qwen3-Next's files, of both layouts, and Qwen3.5's give the same logits",
  async () => {
    const [width, dim, heads, keyHeads] = [128, 64, 4, 2];
    // In Qwen3-Next value heads 0 and 1 have key head 0; in Qwen3.5 every other one has it.
    const neighbours = [0, 1, 2, 3];
    const tiles = [0, 2, 1, 3];
    const waves = (length: number, offset: number) =>
      Float32Array.from({ length }, (_, i) => offset + Math.sin(7 * i));
    const parts = {
      qk: waves(2 * keyHeads * dim * width, 0).map((value) => value / 8),
      beta: waves(heads * width, 0),
      alpha: waves(heads * width, 0.1),
      convolution: waves((2 * keyHeads + heads) * dim * 4, 0.2),
      a: waves(heads, -2),
      bias: waves(heads, 0.5),
    };
    /** Gives layer 0 other numbers of heads, those of values in `order`. */
    const reshape = (draft: Draft, order: readonly number[]) => {
      const { metadata, tensors } = draft;
      for (const name of tensors.keys()) if (/scale$/.test(name)) tensors.delete(name);
      Object.assign(metadata, {
        "qwen3next.ssm.state_size": { uint32: dim },
        "qwen3next.ssm.time_step_rank": { uint32: heads },
        "qwen3next.ssm.group_count": { uint32: keyHeads },
      });
      const set = (name: string, shape: number[], values: Float32Array<ArrayBuffer>) =>
        tensors.set(`blk.0.${name}`, { shape, values });
      const get = (name: string) => tensors.get(`blk.0.${name}`)!.values;
      const keys = 2 * keyHeads * dim;
      const convolution = [
        ...parts.convolution.subarray(0, keys * 4),
        ...permute(parts.convolution.subarray(keys * 4), 4, dim, order),
      ];
      const output = Array.from({ length: width }, (_, row) => {
        return [...permute(get("ssm_out.weight").subarray(row * heads * dim), 1, dim, order)];
      });
      set("ssm_out.weight", [heads * dim, width], Float32Array.from(output.flat()));
      set("ssm_conv1d.weight", [4, convolution.length / 4], Float32Array.from(convolution));
      set("ssm_norm.weight", [dim], get("ssm_norm.weight").slice(0, dim));
      set("ssm_a", [heads], permute(parts.a, 1, 1, order));
      set("ssm_dt.bias", [heads], permute(parts.bias, 1, 1, order));
      const values = permute(get("attn_qkv.weight"), width, dim, order);
      const gates = permute(get("attn_gate.weight"), width, dim, order);
      return { set, get, values, gates };
    };
    const betaAndAlpha = Float32Array.from(
      [0, 1].flatMap((key) => [
        ...permute(parts.beta, width, 2, [key]),
        ...permute(parts.alpha, width, 2, [key]),
      ]),
    );
    const separate = await logitsOf("qwen3next-moe", (draft) => {
      const { set, values, gates } = reshape(draft, neighbours);
      set("attn_qkv.weight", [width, 512], Float32Array.from([...parts.qk, ...values]));
      set("attn_gate.weight", [width, 256], gates);
      set("ssm_ba.weight", [width, 8], betaAndAlpha);
    });
    const together = await logitsOf("qwen3next-moe", (draft) => {
      const { set, values, gates } = reshape(draft, neighbours);
      const groups = [0, 1].flatMap((key) => [
        ...permute(parts.qk, width, dim, [key, keyHeads + key]),
        ...permute(values, width, 2 * dim, [key]),
        ...permute(gates, width, 2 * dim, [key]),
      ]);
      draft.tensors.delete("blk.0.attn_qkv.weight");
      draft.tensors.delete("blk.0.attn_gate.weight");
      set("ssm_in.weight", [width, 768], Float32Array.from(groups));
      set("ssm_ba.weight", [width, 8], betaAndAlpha);
    });
    const tiled = await logitsOf("qwen3next-moe", (draft) => {
      const { set, values, gates } = reshape(draft, tiles);
      rename(draft, "qwen3next", "qwen35moe");
      draft.tensors.delete("blk.0.ssm_ba.weight");
      set("attn_qkv.weight", [width, 512], Float32Array.from([...parts.qk, ...values]));
      set("attn_gate.weight", [width, 256], gates);
      set("ssm_beta.weight", [width, heads], permute(parts.beta, width, 1, tiles));
      set("ssm_alpha.weight", [width, heads], permute(parts.alpha, width, 1, tiles));
    });
    assert(nmse(together, separate) <= 1e-11, "ssm_in");
    assert(nmse(tiled, separate) <= 1e-11, "Qwen3.5");
  },
);

conformanceTest("FalconMamba norms time steps, inputs and outputs without weights", async () => {
  const ones = (count: number) => ({ shape: [count], values: new Float32Array(count).fill(1) });
  const plain = await logitsOf("mamba-dense", ({ metadata }) => {
    metadata["mamba.ssm.dt_b_c_rms"] = true;
  });
  const weighted = await logitsOf("mamba-dense", ({ tensors }) => {
    for (const layer of [0, 1]) {
      tensors.set(`blk.${layer}.ssm_dt_norm.weight`, ones(2));
      tensors.set(`blk.${layer}.ssm_b_norm.weight`, ones(128));
      tensors.set(`blk.${layer}.ssm_c_norm.weight`, ones(128));
    }
  });
  const { expected } = await readFixture("architectures", "mamba-dense");
  assert(nmse(plain, weighted) <= 1e-12);
  assert(nmse(plain, expected) > 1e-3, "the norms change nothing");
});

conformanceTest("a Nemotron-H of equal experts is a dense one twice as strong", async () => {
  const simplify = ({ tensors }: Draft) => {
    for (const name of tensors.keys()) {
      if (/\.2\.ffn_\w+\.(bias|scale|input_scale)$/.test(name)) tensors.delete(name);
    }
  };
  const dense = await logitsOf("nemotron_h-dense", (draft) => {
    simplify(draft);
    const down = draft.tensors.get("blk.2.ffn_down.weight")!;
    down.values = down.values.map((value) => 2 * value);
  });
  const sparse = await logitsOf("nemotron_h-dense", (draft) => {
    simplify(draft);
    rename(draft, "nemotron_h", "nemotron_h_moe");
    Object.assign(draft.metadata, {
      "nemotron_h_moe.expert_count": { uint32: 2 },
      "nemotron_h_moe.expert_used_count": { uint32: 2 },
      "nemotron_h_moe.expert_weights_norm": true,
    });
    const { tensors } = draft;
    for (const part of ["up", "down"]) {
      const { shape, values } = tensors.get(`blk.2.ffn_${part}.weight`)!;
      const twice = new Float32Array([...values, ...values]);
      tensors.delete(`blk.2.ffn_${part}.weight`);
      tensors.set(`blk.2.ffn_${part}_exps.weight`, { shape: [...shape, 2], values: twice });
      tensors.set(`blk.2.ffn_${part}_shexp.weight`, { shape, values });
    }
    const router = Float32Array.from({ length: 2 * 128 }, (_, i) => Math.sin(i));
    tensors.set("blk.2.ffn_gate_inp.weight", { shape: [128, 2], values: router });
  });
  const error = nmse(sparse, dense);
  assert(error <= 1e-9, `NMSE ${error}`);
});
