// Model folders that are not as they should be: each is refused by the file and the key or tensor at
// fault. And what of a folder's types and names becomes of it in GGUF.

import { assertEquals, assertRejects } from "@std/assert";
import { convertSafetensors } from "../../../engine/create/safetensors/mod.ts";
import { readGguf, TensorReader } from "../../../engine/gguf/mod.ts";
import { RequestError, UnsupportedModelError } from "../../../engine/mod.ts";
import { type NamedTensor, safetensorsBytes, writeFolder } from "./hugging_face_folder.ts";
import { tokenizerFiles } from "./tokenizer_files.ts";

const WIDTH = 8;
const VOCABULARY = 300;

const CONFIG = {
  architectures: ["LlamaForCausalLM"],
  hidden_size: WIDTH,
  intermediate_size: 4,
  num_hidden_layers: 1,
  num_attention_heads: 2,
  vocab_size: VOCABULARY,
};

function tensor(name: string, shape: number[], type: NamedTensor["type"] = "F16"): NamedTensor {
  const count = shape.reduce((product, length) => product * length);
  // Values that all three types hold exactly.
  return { name, shape, type, values: Float32Array.from({ length: count }, (_, i) => i % 128) };
}

const block = "model.layers.0";
const TENSORS: readonly NamedTensor[] = [
  tensor("model.embed_tokens.weight", [VOCABULARY, WIDTH]),
  tensor(`${block}.input_layernorm.weight`, [WIDTH], "BF16"),
  tensor(`${block}.self_attn.q_proj.weight`, [WIDTH, WIDTH]),
  tensor(`${block}.self_attn.k_proj.weight`, [WIDTH, WIDTH], "BF16"),
  tensor(`${block}.self_attn.v_proj.weight`, [WIDTH, WIDTH], "F32"),
  tensor(`${block}.self_attn.o_proj.weight`, [WIDTH, WIDTH]),
  tensor(`${block}.post_attention_layernorm.weight`, [WIDTH]),
  tensor(`${block}.mlp.gate_proj.weight`, [4, WIDTH]),
  tensor(`${block}.mlp.up_proj.weight`, [4, WIDTH]),
  tensor(`${block}.mlp.down_proj.weight`, [WIDTH, 4]),
  tensor(`${block}.self_attn.rotary_emb.inv_freq`, [2], "F32"),
  tensor("model.norm.weight", [WIDTH], "F32"),
];

const FILES = {
  "config.json": CONFIG,
  "model.safetensors": safetensorsBytes(TENSORS),
  ...tokenizerFiles(),
};

/** Converts a folder of these files in place of the usual ones; undefined ones are left out. */
async function convert(files: Readonly<Record<string, unknown>> = {}): Promise<string> {
  const all = Object.entries({ ...FILES, ...files }).filter(([, file]) => file !== undefined);
  const folder = await writeFolder(Object.fromEntries(all));
  const to = `${folder}/converted.gguf`;
  await convertSafetensors({ folder, to });
  return to;
}

Deno.test("convertSafetensors() keeps the types of matrices and makes vectors F32", async () => {
  const file = await readGguf(await convert());
  const types = Array.from(file.tensors.values(), ({ name, typeName }) => `${name} ${typeName}`);
  assertEquals(types, [
    "token_embd.weight F16",
    "blk.0.attn_norm.weight F32",
    "blk.0.attn_q.weight F16",
    "blk.0.attn_k.weight BF16",
    "blk.0.attn_v.weight F32",
    "blk.0.attn_output.weight F16",
    "blk.0.ffn_norm.weight F32",
    "blk.0.ffn_gate.weight F16",
    "blk.0.ffn_up.weight F16",
    "blk.0.ffn_down.weight F16",
    "output_norm.weight F32",
  ]);
  assertEquals(file.metadata["general.file_type"], 1);
  using reader = await TensorReader.open(file);
  for (const name of ["blk.0.attn_norm.weight", "output_norm.weight"]) {
    const bytes = new Uint8Array(4 * WIDTH);
    reader.read(file.tensors.get(name)!, 0, bytes);
    assertEquals([...new Float32Array(bytes.buffer)], [0, 1, 2, 3, 4, 5, 6, 7]);
  }
});

Deno.test("convertSafetensors() leaves an output out that is the embedding", async () => {
  const output = { ...tensor("lm_head.weight", [VOCABULARY, WIDTH]) };
  const bytes = safetensorsBytes([...TENSORS, output]);
  const tied = { ...CONFIG, tie_word_embeddings: true };
  const names = async (config: unknown) => {
    const to = await convert({ "config.json": config, "model.safetensors": bytes });
    return [...(await readGguf(to)).tensors.keys()];
  };
  assertEquals((await names(tied)).includes("output.weight"), false);
  assertEquals((await names(CONFIG)).includes("output.weight"), true);
});

Deno.test("convertSafetensors() ends with the signal's reason and leaves no file", async () => {
  const folder = await writeFolder(FILES);
  const to = `${folder}/converted.gguf`;
  const reason = new Error("enough");
  const attempt = () => convertSafetensors({ folder, to, signal: AbortSignal.abort(reason) });
  assertEquals(await assertRejects(attempt), reason);
  await assertRejects(() => Deno.stat(to), Deno.errors.NotFound);
});

type Entry = { dtype: string; shape: unknown; data_offsets: unknown };
type Header = Record<string, Entry>;

/** The safetensors file with another header. */
function changed(change: (header: Header) => unknown): Uint8Array {
  return safetensorsBytes(TENSORS, (header) => change(header as Header) ?? header);
}

const NORM = "model.norm.weight";
const QUERY = `${block}.self_attn.q_proj.weight`;
const index = (map: Record<string, string>) => ({ weight_map: map });
const without = (name: string) =>
  safetensorsBytes(TENSORS.filter((tensor) => tensor.name !== name));

const FAULTS: readonly [what: string, files: Record<string, unknown>, message: string][] = [
  ["no config.json", { "config.json": undefined }, 'config.json": file: it is not there'],
  ["a config.json cut short", { "config.json": '{"architectures": [' }, 'config.json": JSON: '],
  ["a config.json that is a list", { "config.json": [] }, "JSON: it is not an object"],
  ["no architecture", { "config.json": {} }, "architectures: it names none"],
  [
    "a missing size",
    { "config.json": { ...CONFIG, hidden_size: null } },
    "hidden_size: it is missing",
  ],
  [
    "a size that is text",
    { "config.json": { ...CONFIG, hidden_size: "8" } },
    "hidden_size: it is not a whole number",
  ],
  [
    "heads that do not divide",
    { "config.json": { ...CONFIG, num_key_value_heads: 3 } },
    "num_attention_heads: 2 heads of 4 elements over 3 do not come out even",
  ],
  ["no weights", { "model.safetensors": undefined }, "model.safetensors: it is not there"],
  ["a file of 3 bytes", { "model.safetensors": new Uint8Array(3) }, "the file has 3 bytes only"],
  [
    "a header of 2^40 bytes",
    { "model.safetensors": new Uint8Array([0, 0, 0, 0, 0, 1, 0, 0, 1, 2, 3]) },
    "a length of 1099511627776 bytes is too much for a file of 11",
  ],
  [
    "a header that is not JSON",
    { "model.safetensors": new Uint8Array([4, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4]) },
    'model.safetensors": JSON: ',
  ],
  [
    "a tensor that passes the end",
    { "model.safetensors": FILES["model.safetensors"].slice(0, -1) },
    `tensor "${NORM}": it ends at byte`,
  ],
  [
    "a tensor shorter than its shape",
    { "model.safetensors": changed((header) => void (header[NORM].shape = [9])) },
    `tensor "${NORM}": it has 32 bytes, its shape [9] of F32 36`,
  ],
  [
    "tensors that overlap",
    {
      "model.safetensors": changed((header) => {
        const [start, end] = header[NORM].data_offsets as number[];
        header[NORM].data_offsets = [start - 4, end - 4];
      }),
    },
    `tensor "${NORM}": it overlaps another`,
  ],
  [
    "offsets that are negative",
    { "model.safetensors": changed((header) => void (header[NORM].data_offsets = [-32, 0])) },
    `tensor "${NORM}": its data_offsets are not a start and an end`,
  ],
  [
    "a type of eight bits",
    {
      "model.safetensors": changed((header) => {
        header[QUERY].dtype = "F8_E4M3";
      }),
    },
    `tensor "${QUERY}": F8_E4M3 is not supported, only F32, F16 and BF16`,
  ],
  [
    "a shape of three",
    { "model.safetensors": changed((header) => void (header[QUERY].shape = [2, 4, 8])) },
    `tensor "${QUERY}": a shape of [2, 4, 8] is neither a vector nor a matrix`,
  ],
  [
    "queries of other heads",
    { "model.safetensors": changed((header) => void (header[QUERY].shape = [4, 16])) },
    `tensor "${QUERY}": 4 rows are not 2 heads of 4`,
  ],
  [
    "a tensor that the architecture does not have",
    { "model.safetensors": safetensorsBytes([...TENSORS, tensor("model.extra.weight", [4])]) },
    'tensor "model.extra.weight": no model of the architecture llama has it',
  ],
  [
    "no last norm",
    { "model.safetensors": without(NORM) },
    `tensor "${NORM}": it is in none of the files`,
  ],
  [
    "a layer less than it says",
    { "config.json": { ...CONFIG, num_hidden_layers: 2 } },
    'tensor "model.layers.1.input_layernorm.weight": it is in none of the files',
  ],
  [
    "no output where it is not tied",
    { "config.json": { ...CONFIG, tie_word_embeddings: false } },
    "tie_word_embeddings: it is false, but there is no lm_head.weight",
  ],
  [
    "an index without a map",
    { "model.safetensors.index.json": {} },
    'index.json": weight_map: it is missing',
  ],
  [
    "a missing shard",
    { "model.safetensors.index.json": index({ [NORM]: "model-00002-of-00002.safetensors" }) },
    'model-00002-of-00002.safetensors": file: it is not there',
  ],
  [
    "an index that reaches out of the folder",
    { "model.safetensors.index.json": index({ [NORM]: "../other/model.safetensors" }) },
    "weight_map.../other/model.safetensors: it is not the name of a file of the folder",
  ],
  [
    "an index with a tensor too many",
    { "model.safetensors.index.json": index({ "lm_head.weight": "model.safetensors" }) },
    'tensor "lm_head.weight": it is not in "model.safetensors"',
  ],
  [
    "a tensor in two files",
    { "model-2.safetensors": safetensorsBytes([TENSORS[0]]) },
    `tensor "${TENSORS[0].name}": it is in `,
  ],
  ["no tokenizer", { "tokenizer.json": undefined }, "tokenizer.json: it is not there, nor is"],
  [
    "more tokens than rows",
    { "tokenizer.json": { ...FILES["tokenizer.json"], added_tokens: [{ id: 300, content: "x" }] } },
    'token "x": its id 300 is not below the 300 rows of the embedding',
  ],
];

for (const [what, files, message] of FAULTS) {
  Deno.test(`convertSafetensors() refuses ${what}`, async () => {
    await assertRejects(() => convert(files), RequestError, message);
  });
}

const UNSUPPORTED: readonly [what: string, config: Record<string, unknown>, message: string][] = [
  [
    "another architecture",
    { architectures: ["MambaForCausalLM"] },
    "the architecture MambaForCausalLM is not supported, only LlamaForCausalLM, Mistral",
  ],
  ["another activation", { hidden_act: "relu" }, "hidden_act: relu is not supported, only silu"],
  [
    "another rotary embedding",
    { rope_scaling: { rope_type: "longrope", factor: 4 } },
    "rope_scaling.rope_type: longrope is not supported",
  ],
  ["heads that rotate in part", { partial_rotary_factor: 0.5 }, "partial_rotary_factor: "],
  ["quantized weights", { quantization_config: { bits: 4 } }, "quantization_config: "],
  [
    "scores of another scale",
    { architectures: ["Gemma2ForCausalLM"], hidden_act: "gelu", query_pre_attn_scalar: 99 },
    "query_pre_attn_scalar: 99 is not supported, only 4",
  ],
  [
    "a Gemma 2 without soft caps",
    { architectures: ["Gemma2ForCausalLM"], hidden_act: "gelu", attn_logit_softcapping: null },
    "attn_logit_softcapping: Gemma 2 without it is not supported",
  ],
];

for (const [what, config, message] of UNSUPPORTED) {
  Deno.test(`convertSafetensors() does not support ${what}`, async () => {
    const files = { "config.json": { ...CONFIG, ...config } };
    await assertRejects(() => convert(files), UnsupportedModelError, message);
  });
}
