// Tokenizers of Hugging Face's layout for tests: the files of the synthetic models' vocabulary (the
// bytes, a turn's beginning and end, and fillers), and converting files to a vocabulary alone.

import { tokenizerMetadata as syntheticMetadata } from "../../../bench/synthetic_model.ts";
import { Settings } from "../../../engine/create/safetensors/settings.ts";
import { tokenizerMetadata } from "../../../engine/create/safetensors/tokenizer.ts";
import type { WritableMetadata } from "../../../engine/gguf/mod.ts";
import { createTokenizer, type Metadata, type Tokenizer } from "../../../tokenizer/mod.ts";
import { VOCABULARY } from "../reference/model.ts";
import { writeFolder } from "./hugging_face_folder.ts";

const CONTROL = 3;

/** tokenizer.json, tokenizer_config.json and generation_config.json. */
export function tokenizerFiles() {
  const metadata = syntheticMetadata(VOCABULARY);
  const tokens = metadata["tokenizer.ggml.tokens"] as string[];
  const types = metadata["tokenizer.ggml.token_type"] as Int32Array;
  const special = tokens.map((content, id) => ({ id, content, special: true })).filter(({ id }) => {
    return types[id] === CONTROL;
  });
  const vocab = tokens.map((token, id) => [token, id] as const).filter(([, id]) => {
    return types[id] !== CONTROL;
  });
  return {
    "tokenizer.json": {
      added_tokens: special,
      pre_tokenizer: { type: "ByteLevel", add_prefix_space: false, use_regex: true },
      decoder: { type: "ByteLevel" },
      model: { type: "BPE", vocab: Object.fromEntries(vocab), merges: [] },
    },
    "tokenizer_config.json": {
      bos_token: special[0].content,
      eos_token: { content: special[1].content },
      chat_template: metadata["tokenizer.chat_template"],
    },
    "generation_config.json": { eos_token_id: special[1].id },
  };
}

/** What tokenizer_config.json says of the tokens that begin and end a text. */
export const NAMES = { bos_token: "<s>", eos_token: { content: "</s>", special: true } };

/** The keys that a folder's files come to. */
export async function convertVocabulary(
  files: Readonly<Record<string, unknown>>,
  { size = 300, config = {} } = {},
): Promise<WritableMetadata> {
  const folder = await writeFolder(files);
  return await tokenizerMetadata(folder, new Settings(`${folder}/config.json`, config), size);
}

/** The tokenizer of such keys: whole numbers are typed only in files. */
export function tokenizerOf(metadata: WritableMetadata): Tokenizer {
  const plain = Object.entries(metadata).map(([key, value]) => {
    const isNumber = typeof value === "object" && "uint32" in value;
    return [key, isNumber ? value.uint32 : value];
  });
  return createTokenizer(Object.fromEntries(plain) as Metadata);
}
