// The special tokens, whether texts begin and end with them, and the chat template. Several files
// may contain these; the tokenizer's own take precedence.

import { join } from "../../../host/mod.ts";
import type { WritableMetadata } from "../../gguf/mod.ts";
import { readTextIfThere, Settings } from "./settings.ts";
import type { Vocabulary } from "./vocabulary.ts";

/** The JSON files of a folder with facts of its tokens. */
export interface TokenizerFiles {
  readonly folder: string;
  /** config.json. */
  readonly model: Settings;
  readonly tokenizer: Settings | undefined;
  readonly config: Settings | undefined;
  readonly special: Settings | undefined;
  readonly generation: Settings | undefined;
}

/** The roles of tokens in Transformers and in GGUF. */
const ROLES = { bos: "bos", eos: "eos", unk: "unknown", pad: "padding" } as const;
/** Keys of GGUF for further tokens that end an answer. */
const FURTHER_ENDS = ["eot", "eom"] as const;

/** Reads the JSON files of a folder. Errors: ConversionError if one is not JSON. */
export async function readTokenizerFiles(
  folder: string,
  model: Settings,
): Promise<TokenizerFiles> {
  const read = (name: string) => Settings.readIfThere(join(folder, name));
  return {
    folder,
    model,
    tokenizer: await read("tokenizer.json"),
    config: await read("tokenizer_config.json"),
    special: await read("special_tokens_map.json"),
    generation: await read("generation_config.json"),
  };
}

/**
 * The keys of the special tokens. @param addsBos the default if no file says whether texts begin
 * with BOS
 */
export function specialTokenMetadata(
  files: TokenizerFiles,
  vocabulary: Vocabulary,
  addsBos: boolean,
): WritableMetadata {
  const ids = new Map<string, number>();
  for (const [role, name] of Object.entries(ROLES)) {
    const id = tokenOf(files, vocabulary, role);
    if (id !== undefined && vocabulary.has(id)) ids.set(name, id);
  }
  const { bos, eos } = Object.fromEntries(ids);
  const ends = idsIn(files.generation?.members.eos_token_id);
  const further = ends.filter((id) => id !== eos && vocabulary.has(id));
  for (const [index, name] of FURTHER_ENDS.entries()) {
    if (further[index] !== undefined) ids.set(name, further[index]);
  }
  const frame = files.tokenizer ? frameOf(files.tokenizer, vocabulary) : { first: bos };
  const isFramedBy = (id: number | undefined, end: number | undefined) =>
    id !== undefined && id === end;
  const flags = {
    bos: isFramedBy(bos, frame.first) && (files.tokenizer !== undefined || addsBos),
    eos: isFramedBy(eos, frame.last),
  };
  return {
    ...Object.fromEntries(Array.from(ids, ([name, id]) => [
      `tokenizer.ggml.${name}_token_id`,
      { uint32: id },
    ])),
    "tokenizer.ggml.add_bos_token": files.config?.boolean("add_bos_token", null) ?? flags.bos,
    "tokenizer.ggml.add_eos_token": files.config?.boolean("add_eos_token", null) ?? flags.eos,
  };
}

/** The token of a role, by its text or else by its id. */
function tokenOf(
  { config, special, model, generation }: TokenizerFiles,
  vocabulary: Vocabulary,
  role: string,
): number | undefined {
  const key = `${role}_token`;
  for (const file of [config, special]) {
    const entry = file?.members[key];
    const text = typeof entry === "string" ? entry : file?.object(key)?.string("content");
    const id = text === undefined ? undefined : vocabulary.idOf(text);
    if (id !== undefined) return id;
  }
  return [model, generation].flatMap((file) => idsIn(file?.members[`${key}_id`]))[0];
}

/** One id, or several. */
function idsIn(value: unknown): number[] {
  return [value].flat().filter((id) => typeof id === "number");
}

/** The tokens that tokenizer.json adds around a text. */
function frameOf(
  tokenizer: Settings,
  vocabulary: Vocabulary,
): { first?: number | undefined; last?: number | undefined } {
  const processor = tokenizer.object("post_processor");
  const processors = processor ? [processor, ...processor.objects("processors")] : [];
  const parts = processors.flatMap((step) =>
    step.string("type") === "TemplateProcessing" ? step.objects("single") : []
  );
  const tokenAt = (index: number) => {
    const text = parts.at(index)?.object("SpecialToken")?.string("id");
    return text === undefined ? undefined : vocabulary.idOf(text);
  };
  return { first: tokenAt(0), last: tokenAt(-1) };
}

/** The chat template, in Jinja. Errors: ConversionError. */
export async function readChatTemplate(
  { folder, config }: TokenizerFiles,
): Promise<string | undefined> {
  const own = await readTextIfThere(join(folder, "chat_template.jinja"));
  if (own !== undefined) return own;
  const alone = await Settings.readIfThere(join(folder, "chat_template.json"));
  const file = alone?.has("chat_template") ? alone : config;
  const template = file?.members.chat_template;
  if (!file || !Array.isArray(template)) return file?.string("chat_template", null) ?? undefined;
  // There may be several by name. Those besides the default one are for tools and documents.
  const templates = file.objects("chat_template");
  const found = templates.find((entry) => entry.string("name") === "default") ?? templates[0];
  return found?.string("template");
}
