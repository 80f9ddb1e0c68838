// Which tensor gets which format: llama.cpp's rules by hand, and against files that it quantized.

import { assert, assertEquals } from "@std/assert";
import { encoderOf } from "../../../engine/create/quantize/encoder.ts";
import type { QuantizationName } from "../../../engine/create/quantize/mod.ts";
import { chooseFormats } from "../../../engine/create/quantize/tensor_formats.ts";
import { type GgufFile, readGguf, TensorReader } from "../../../engine/gguf/mod.ts";
import { localFiles } from "../../../engine/gguf/local_files.ts";
import { quantFormat } from "../../../kernels/quants/mod.ts";
import { nmse } from "../../numbers.ts";

interface Shape {
  architecture?: string;
  layers?: number;
  width?: number;
  down?: number;
  experts?: number;
  heads?: number;
  keyValueHeads?: number;
  tied?: boolean;
}

/** As much of a file as the choice looks at. */
function fileOf(shape: Shape): GgufFile {
  const { architecture = "llama", layers = 32, width = 4096, down = 11_008, experts = 0 } = shape;
  const names: [name: string, columns: number][] = [["token_embd.weight", width]];
  if (!shape.tied) names.push(["output.weight", width]);
  // Layers in another order than theirs: the choice goes by their numbers.
  for (let layer = layers - 1; layer >= 0; layer--) {
    for (const part of ["attn_q", "attn_k", "attn_v", "attn_output", "ffn_up", "ffn_gate_inp"]) {
      names.push([`blk.${layer}.${part}.weight`, width]);
    }
    names.push([`blk.${layer}.ffn_down${experts > 0 ? "_exps" : ""}.weight`, down]);
    names.push([`blk.${layer}.ffn_down.bias`, width]);
    names.push([`blk.${layer}.attn_norm.weight`, width]);
  }
  const tensors = names.map(([name, columns]) => {
    const isVector = /norm|bias/.test(name);
    const tensor = {
      name,
      shape: isVector ? [columns] : [columns, 64],
      type: isVector ? 0 : 1,
      typeName: isVector ? "F32" : "F16",
      shard: 0,
      offset: 0,
      byteLength: 0,
    };
    return [name, tensor] as const;
  });
  return {
    path: "model.gguf",
    shards: ["model.gguf"],
    files: localFiles,
    version: 3,
    metadata: {
      "general.architecture": architecture,
      [`${architecture}.block_count`]: layers,
      [`${architecture}.expert_count`]: experts,
      [`${architecture}.attention.head_count`]: shape.heads ?? 32,
      [`${architecture}.attention.head_count_kv`]: shape.keyValueHeads ?? 8,
    },
    tensors: new Map(tensors),
    dataOffset: 0,
    fileSize: 0,
    alignment: 32,
  };
}

/** The formats of some tensors; "blk.*" means that of all layers, in order, as "4K 6K". */
function formatsOf(shape: Shape, mix: QuantizationName, name: string): string {
  const formats = chooseFormats(fileOf(shape), mix);
  const names = name.startsWith("blk.*")
    ? Array.from({ length: shape.layers ?? 32 }, (_, layer) => name.replace("*", `${layer}`))
    : [name];
  const all = names.map((own) => formats.get(own)!);
  return new Set(all).size === 1 ? all[0] : all.map((format) => format.slice(1, 2)).join("");
}

const LAYERS_6 = "66664464464464464464464464466666";

const CASES: readonly [shape: Shape, mix: QuantizationName, name: string, expected: string][] = [
  [{}, "F16", "blk.*.attn_q.weight", "F16"],
  [{}, "F32", "output.weight", "F32"],
  [{}, "Q8_0", "output.weight", "Q8_0"],
  [{}, "Q8_0", "blk.*.ffn_gate_inp.weight", "F16"],
  [{}, "Q8_0", "blk.*.attn_norm.weight", "F32"],
  [{}, "Q4_0", "token_embd.weight", "Q4_0"],
  [{}, "Q4_0", "output.weight", "Q6_K"],
  [{}, "Q4_0", "blk.*.ffn_down.weight", "Q4_0"],
  [{ tied: true }, "Q4_0", "token_embd.weight", "Q6_K"],
  [{ tied: true, width: 576 }, "Q4_0", "token_embd.weight", "Q8_0"],
  [{}, "Q4_K_M", "blk.*.attn_q.weight", "Q4_K"],
  [{}, "Q4_K_M", "blk.*.attn_v.weight", LAYERS_6],
  [{}, "Q4_K_M", "blk.*.ffn_down.weight", LAYERS_6],
  [{}, "Q4_K_M", "token_embd.weight", "Q4_K"],
  [{}, "Q4_K_M", "output.weight", "Q6_K"],
  [{ tied: true }, "Q4_K_M", "token_embd.weight", "Q6_K"],
  [{}, "Q4_K_S", "blk.*.attn_v.weight", "5555" + "4".repeat(28)],
  [{}, "Q4_K_S", "blk.*.ffn_down.weight", "5555" + "4".repeat(28)],
  [{ layers: 80, heads: 64 }, "Q4_K_S", "blk.*.attn_v.weight", "Q5_K"],
  [{ experts: 8 }, "Q4_K_M", "blk.*.attn_v.weight", "Q8_0"],
  [{ experts: 8 }, "Q4_K_M", "blk.*.attn_k.weight", "Q8_0"],
  [{ experts: 8 }, "Q4_K_S", "blk.*.attn_output.weight", "Q5_K"],
  [{ experts: 8 }, "Q4_K_M", "blk.*.ffn_down_exps.weight", LAYERS_6],
  [{ architecture: "falcon" }, "Q4_K_M", "output.weight", "Q8_0"],
  [{ architecture: "falcon", layers: 16 }, "Q4_K_M", "blk.*.ffn_down.weight", "6544544544544555"],
  [{ width: 576 }, "Q4_K_M", "blk.*.attn_q.weight", "Q5_0"],
  [{ down: 576, layers: 8 }, "Q4_K_M", "blk.*.ffn_down.weight", "85585588"],
  [{ width: 100 }, "Q8_0", "blk.*.attn_q.weight", "F16"],
  [{ width: 100 }, "Q4_K_M", "output.weight", "F16"],
];

for (const [shape, mix, name, expected] of CASES) {
  Deno.test(`chooseFormats() makes ${name} of ${JSON.stringify(shape)} in ${mix} ${expected}`, () => {
    assertEquals(formatsOf(shape, mix, name), expected);
  });
}

const shared = new URL("../../../../shared/data/models/quantizations/", import.meta.url);

async function exists(url: URL): Promise<boolean> {
  return await Deno.stat(url).then(() => true, () => false);
}

const hasData = await exists(shared);
const note = hasData ? "" : " (skipped: no conformance data beside the project)";

for (const mix of ["F16", "BF16", "Q8_0", "Q4_0", "Q4_K_S", "Q4_K_M"] as const) {
  Deno.test({
    name: `${mix} has the formats of llama.cpp's, and weights no worse${note}`,
    ignore: !hasData,
    async fn() {
      const source = await readGguf(new URL("F32.gguf", shared));
      const expected = await readGguf(new URL(`${mix}.gguf`, shared));
      using reader = await TensorReader.open(source);
      using expectedReader = await TensorReader.open(expected);
      const formats = chooseFormats(source, mix);
      for (const { name, type, typeName, byteLength } of expected.tensors.values()) {
        assertEquals(formats.get(name), typeName, name);
        const theirs = new Uint8Array(byteLength);
        expectedReader.read(expected.tensors.get(name)!, 0, theirs);
        const weights = new Uint8Array(source.tensors.get(name)!.byteLength);
        reader.read(source.tensors.get(name)!, 0, weights);
        const values = new Float32Array(weights.buffer);
        const ours = new Uint8Array(byteLength);
        encoderOf(typeName).encode(values, ours);
        if (!typeName.endsWith("_K")) {
          assertEquals(ours, theirs, name);
          continue;
        }
        const { blockBytes, dequantize } = quantFormat(type)!;
        const errorOf = (bytes: Uint8Array) =>
          nmse(dequantize(bytes, byteLength / blockBytes), values);
        assert(errorOf(ours) <= 1.01 * errorOf(theirs), `${name}: ${errorOf(ours)}`);
      }
    },
  });
}
