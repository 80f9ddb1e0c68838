// Makes what train.py trains on: the vocabulary, the model's configuration and the packed rows, all
// in a folder in Hugging Face's layout, so that with the weights it becomes a GGUF file by the same
// conversion that `create` uses. A folder that has a vocabulary keeps it.
// deno run -A bench/box/make.ts FOLDER [EXAMPLES]

import { tokenizerOf, trainVocabulary, type Vocabulary, WORDS } from "./bpe_trainer.ts";
import { END_OF_TURN, examples, readTemplate, Renderer } from "./corpus.ts";
import { Random } from "./random.ts";
import type { Example } from "./types.ts";

const VOCABULARY_SIZE = 4096;
/** Tokens of a row to train on; longer conversations are left out. */
const ROW = 320;
/** Seeds of the two streams of examples: what is learnt, and what the vocabulary is made of. */
const SEED = 1;
const VOCABULARY_SEED = 2;
const VOCABULARY_EXAMPLES = 40_000;
/** Share of what is said to the model that is learnt as well, but never that a thought begins. */
const PROMPT_SHARE = 0.05;

const END_OF_TEXT = "<|endoftext|>";
const SPECIALS = [
  END_OF_TEXT,
  "<|im_start|>",
  END_OF_TURN,
  "<think>",
  "</think>",
  "<tool_call>",
  "</tool_call>",
];

/** The top bits of a token in a row: whether it is taught, and who says it. */
const [UNTAUGHT, PROMPT, SAID] = [0, 1 << 14, 2 << 14];

const CONFIG = {
  architectures: ["LlamaForCausalLM"],
  model_type: "llama",
  vocab_size: VOCABULARY_SIZE,
  hidden_size: 256,
  intermediate_size: 640,
  num_hidden_layers: 6,
  num_attention_heads: 8,
  num_key_value_heads: 4,
  max_position_embeddings: 2048,
  rms_norm_eps: 1e-5,
  rope_theta: 10000,
  tie_word_embeddings: true,
  hidden_act: "silu",
  torch_dtype: "float32",
  bos_token_id: VOCABULARY_SIZE - SPECIALS.length,
  eos_token_id: VOCABULARY_SIZE - SPECIALS.length + SPECIALS.indexOf(END_OF_TURN),
  train_length: ROW,
};

/** Writes everything into the folder, with what this many examples come to. */
export async function make(folder: string, count: number): Promise<void> {
  const renderer = new Renderer();
  await Deno.mkdir(folder, { recursive: true });
  const vocabulary = await keptVocabulary(folder) ?? trainVocabulary(
    texts(renderer, examples(VOCABULARY_SEED, VOCABULARY_EXAMPLES, "vocabulary")),
    VOCABULARY_SIZE - SPECIALS.length,
  );
  writeJsonFile(`${folder}/config.json`, CONFIG);
  writeJsonFile(`${folder}/tokenizer.json`, tokenizerJson(vocabulary));
  writeJsonFile(`${folder}/tokenizer_config.json`, {
    tokenizer_class: "Qwen2Tokenizer",
    add_bos_token: false,
    bos_token: END_OF_TEXT,
    eos_token: END_OF_TURN,
    pad_token: END_OF_TEXT,
    chat_template: readTemplate(),
  });
  const rows = pack(encoded(vocabulary, renderer, examples(SEED, count, "train")));
  await Deno.writeFile(`${folder}/train.bin`, new Uint8Array(rows.buffer));
}

/** The vocabulary of a folder that has one: its weights can be trained further with other data. */
async function keptVocabulary(folder: string): Promise<Vocabulary | undefined> {
  try {
    const { model } = JSON.parse(await Deno.readTextFile(`${folder}/tokenizer.json`));
    const merges = model.merges.map((pair: string) => pair.split(" "));
    const tokens = Object.entries<number>(model.vocab).sort(([, a], [, b]) => a - b);
    return { tokens: tokens.map(([token]) => token), merges };
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

function* texts(renderer: Renderer, source: Iterable<Example>): Generator<string> {
  for (const example of source) {
    for (const { text } of renderer.render(example)) {
      yield SPECIALS.reduce((rest, special) => rest.replaceAll(special, ""), text);
    }
  }
}

/** Conversations as tokens with their top bits. */
function* encoded(
  vocabulary: Vocabulary,
  renderer: Renderer,
  source: Iterable<Example>,
): Generator<number[]> {
  const tokenizer = tokenizerOf(vocabulary, SPECIALS);
  const think = vocabulary.tokens.length + SPECIALS.indexOf("<think>");
  const random = new Random(SEED);
  for (const example of source) {
    yield renderer.render(example).flatMap(({ text, said }) =>
      [...tokenizer.encode(text, { special: true })].map((token) => {
        if (said) return token | SAID;
        const isTaught = token !== think && random.chance(PROMPT_SHARE);
        return token | (isTaught ? PROMPT : UNTAUGHT);
      })
    );
  }
}

/** Rows of ROW + 1 tokens, each with as many whole conversations as there is room for. */
function pack(conversations: Iterable<number[]>): Uint16Array<ArrayBuffer> {
  const length = ROW + 1;
  const open: number[][] = [];
  const closed: number[] = [];
  let [count, total, left] = [0, 0, 0];
  for (const tokens of conversations) {
    count++;
    total += tokens.length;
    if (tokens.length > length) {
      left++;
      continue;
    }
    let row = open.find((one) => one.length + tokens.length <= length);
    if (!row) open.push(row = []);
    row.push(...tokens);
    // A few rows stay open for conversations that fit; the fullest one goes.
    if (open.length > 8) {
      open.sort((a, b) => b.length - a.length);
      const full = open.shift()!;
      for (let i = 0; i < length; i++) closed.push(full[i] ?? CONFIG.bos_token_id);
    }
  }
  for (const row of open) {
    for (let i = 0; i < length; i++) closed.push(row[i] ?? CONFIG.bos_token_id);
  }
  report(
    `${count} conversations, ${total} tokens, ${closed.length / length} rows, ${left} too long`,
  );
  return Uint16Array.from(closed);
}

/** The vocabulary as the file of the tokenizers library. */
function tokenizerJson({ tokens, merges }: Vocabulary): unknown {
  return {
    version: "1.0",
    added_tokens: SPECIALS.map((content, index) => ({
      id: tokens.length + index,
      content,
      single_word: false,
      lstrip: false,
      rstrip: false,
      normalized: false,
      special: true,
    })),
    normalizer: null,
    pre_tokenizer: {
      type: "Sequence",
      pretokenizers: [
        { type: "Split", pattern: { Regex: WORDS }, behavior: "Isolated", invert: false },
        { type: "ByteLevel", add_prefix_space: false, trim_offsets: false, use_regex: false },
      ],
    },
    decoder: { type: "ByteLevel" },
    model: {
      type: "BPE",
      vocab: Object.fromEntries(tokens.map((token, index) => [token, index])),
      merges: merges.map((pair) => pair.join(" ")),
    },
  };
}

function writeJsonFile(path: string, value: unknown): void {
  Deno.writeTextFileSync(path, JSON.stringify(value, null, 1) + "\n");
}

function report(text: string): void {
  Deno.stderr.writeSync(new TextEncoder().encode(text + "\n"));
}

if (import.meta.main) {
  const [folder, count = "400000"] = Deno.args;
  if (!folder) throw new Error("Cannot make the data: no folder was named");
  await make(folder, Number(count));
}
