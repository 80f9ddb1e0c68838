// How a sound is gone through, over networks that say what a script says: windows that repeat themselves
// or are unlikely are tried again, those in which nobody speaks are left out, and what was said is the
// prompt of what follows, unless it was guessed.

import { assertEquals } from "@std/assert";
import { readGguf } from "../../../engine/gguf/mod.ts";
import { readSpecialTokens, type SpeechNetwork, transcribe } from "../../../engine/speech/mod.ts";
import type { TokenRun } from "../../../engine/speech/speech_network.ts";
import type { TranscribeRequest } from "../../../engine/types/mod.ts";
import { createTokenizer } from "../../../tokenizer/mod.ts";
import { SIZES, TOKENS, VOCABULARY, writeTinyWhisper } from "./tiny_whisper.ts";

const path = await Deno.makeTempFile({ suffix: ".gguf" });
await writeTinyWhisper(path);
const gguf = await readGguf(path);
await Deno.remove(path);
const tokenizer = createTokenizer(gguf.metadata);
const special = readSpecialTokens(gguf, tokenizer);

/** What is said in an attempt at a window. */
interface Attempt {
  text: string;
  /** Whether each token is hardly likelier than all others. */
  isUnlikely?: boolean;
  /** Whether nobody speaks. */
  isSilent?: boolean;
}

/** Says in each attempt at each window what the script says, and keeps the prompts. */
class ScriptedNetwork {
  readonly sizes = { ...SIZES, vocabulary: VOCABULARY };
  readonly frames = 2 * SIZES.rows;
  readonly prompts: number[][] = [];
  #window = -1;
  #attempt = -1;
  #promptLength = 0;

  constructor(readonly script: Attempt[][]) {}

  encode(): Promise<void> {
    this.#window++;
    this.#attempt = -1;
    return Promise.resolve();
  }

  step(runs: readonly TokenRun[]): Promise<Float32Array> {
    const rows = runs.flatMap((run) => {
      const { slot, position, tokens, outputs = [tokens.length - 1] } = run;
      if (position === 0) {
        if (slot === 0) {
          this.#attempt++;
          this.prompts.push([...tokens]);
        }
        this.#promptLength = tokens.length;
      }
      return outputs.map((output) => this.#logits(position + output + 1 - this.#promptLength));
    });
    const all = new Float32Array(rows.length * VOCABULARY);
    rows.forEach((row, i) => all.set(row, i * VOCABULARY));
    return Promise.resolve(all);
  }

  /** The logits of the token of this index; below zero, of the start of the transcript. */
  #logits(index: number): Float32Array {
    const { text, isUnlikely = false, isSilent = false } = this.script[this.#window][this.#attempt];
    const logits = new Float32Array(VOCABULARY);
    if (index < 0) logits[special.noSpeech] = isSilent ? 20 : -20;
    else {
      const said = [...tokenizer.encode(text, { bos: false }), special.end];
      logits[said[Math.min(index, said.length - 1)]] = isUnlikely ? 0.5 : 60;
    }
    return logits;
  }
}

/** The segments, and the prompts of all attempts. */
async function hear(
  script: Attempt[][],
  request: Partial<TranscribeRequest> = {},
): Promise<{ heard: [text: string, temperature: number, start: number][]; prompts: number[][] }> {
  const network = new ScriptedNetwork(script);
  const context = {
    network: network as unknown as SpeechNetwork,
    tokenizer,
    special,
    alone: <T>(work: () => Promise<T>) => work(),
  };
  const samples = new Float32Array(script.length * network.frames * 160);
  const asked = { language: "en", timestamps: false, seed: 3, ...request };
  const events = await Array.fromAsync(transcribe(context, samples, asked));
  const segments = events.filter((event) => event.type === "segment");
  return {
    heard: segments.map(({ text, temperature, start }) => [text, temperature, start]),
    prompts: network.prompts,
  };
}

const repeated: Attempt = { text: "a".repeat(31) };
const sure: Attempt = { text: " Good day." };

Deno.test("a window that repeats itself is tried with more left to chance, until it does not", async () => {
  const { heard, prompts } = await hear([[repeated, repeated, sure]]);
  assertEquals(heard, [[" Good day.", 0.4, 0]]);
  assertEquals(prompts.length, 3);
});

Deno.test("so is an unlikely one, and the last attempt counts", async () => {
  assertEquals((await hear([[{ ...sure, isUnlikely: true }, sure]])).heard, [[
    " Good day.",
    0.2,
    0,
  ]]);
  const { heard } = await hear([new Array(6).fill(repeated)]);
  assertEquals(heard, [[repeated.text, 1, 0]]);
});

Deno.test("a temperature that is asked for is the only one", async () => {
  const { heard, prompts } = await hear([[repeated]], { temperature: 0.5 });
  assertEquals([heard, prompts.length], [[[repeated.text, 0.5, 0]], 1]);
});

Deno.test("where a rough transcript will do, an unlikely window is left out after its first attempt", async () => {
  const { heard, prompts } = await hear([[repeated], [{ ...sure, isUnlikely: true }], [sure]], {
    rough: true,
  });
  assertEquals([heard.length, heard[0][0], prompts.length], [1, " Good day.", 3]);
});

Deno.test("a window in which nobody speaks is left out, if its text is unlikely", async () => {
  const silent = { text: "You", isUnlikely: true, isSilent: true };
  const { heard, prompts } = await hear([[silent], [sure], [{ ...sure, isSilent: true }]]);
  const [second, third] = [1, 2].map((window) => window * 2 * SIZES.rows / 100);
  assertEquals(heard, [[" Good day.", 0, second], [" Good day.", 0, third]]);
  assertEquals(prompts.length, 3);
});

Deno.test("what was said is the prompt of what follows, unless it was guessed or is not wanted", async () => {
  const said = tokenizer.encode(sure.text, { bos: false });
  const start = [TOKENS["<|startoftranscript|>"], TOKENS["<|en|>"], TOKENS["<|transcribe|>"]]
    .concat(special.noTimes);
  const before = [special.previous, ...said, ...start];
  assertEquals((await hear([[sure], [sure]])).prompts, [start, before]);
  assertEquals((await hear([[sure], [sure]], { conditioned: false })).prompts, [start, start]);
  const guessed = [repeated, repeated, repeated, sure];
  const { heard, prompts } = await hear([guessed, [sure]]);
  assertEquals([heard[0][1], prompts.at(-1)], [0.6, start]);
  const asked = tokenizer.encode(" Quern", { bos: false });
  const { prompts: [first] } = await hear([[sure]], { prompt: "Quern" });
  assertEquals(first, [special.previous, ...asked, ...start]);
});
