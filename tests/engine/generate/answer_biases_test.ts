// What answers add to logits: DRY against its definition by brute force, and the effects of bans, biases and
// early ends on greedy answers of the tiny model, whose logits tell what must come.

import { Dry, type DryOptions } from "../../../engine/generate/dry.ts";
import { loadModel, RequestError } from "../../../engine/mod.ts";
import { createTokenizer, type Tokenizer } from "../../../tokenizer/mod.ts";
import { random, range } from "../../kernels/sampling/cases.ts";
import { readAnswer, tinyLoad, tinyPath } from "../harness.ts";
import { assert, assertEquals, assertThrows } from "@std/assert";

const model = await loadModel(tinyPath, tinyLoad);
globalThis.addEventListener("unload", () => void model.close());

const { tokenizer } = model;
const prompt = tokenizer.encode("hello");
const greedy = { prompt, temperature: 0, maxTokens: 16 };

async function logitsAfter(tokens: readonly number[]): Promise<Float32Array> {
  const all = await model.logits([...tokens]);
  return all.subarray(all.length - tokenizer.vocabularySize);
}

const bestOf = (logits: Float32Array) => logits.indexOf(Math.max(...logits));

/** Words of which some have two tokens: ids are letters, 26 is a line break. */
const letters: Tokenizer = {
  ...createTokenizer({}),
  vocabularySize: 27,
  hasText: true,
  tokenBytes: (token) => Uint8Array.of(token === 26 ? 10 : 97 + token),
};

/** DRY by its definition: looks for every suffix before every token. */
function dryByDefinition(tokens: readonly number[], options: DryOptions): Map<number, number> {
  const { multiplier, base, allowedLength, lastN, breakers } = options;
  const text = (list: readonly number[]) =>
    String.fromCharCode(...list.flatMap((token) => [...letters.tokenBytes(token)]));
  const penalties = new Map<number, number>();
  const seen = tokens.slice(Math.max(0, tokens.length - lastN));
  for (let length = allowedLength; length <= seen.length; length++) {
    const suffix = seen.slice(seen.length - length);
    // No breaker ends within the suffix.
    const first = tokens.length - length;
    const isBroken = range(first, tokens.length).some((at) =>
      breakers.some((one) => text(tokens.slice(0, at + 1)).endsWith(one))
    );
    if (isBroken) break;
    for (let begin = 0; begin + length < seen.length; begin++) {
      const next = seen[begin + length]!;
      if (breakers.some((one) => text([next]).includes(one))) continue;
      if (suffix.every((token, at) => token === seen[begin + at])) {
        penalties.set(next, multiplier * base ** (length - allowedLength));
      }
    }
  }
  return penalties;
}

Deno.test("Dry finds the longest repetition that each token would continue", () => {
  const next = random(5);
  let found = 0;
  for (let round = 0; round < 300; round++) {
    const options = {
      multiplier: 0.8,
      base: 1 + next(),
      allowedLength: 1 + Math.floor(3 * next()),
      lastN: next() < 0.5 ? 1000 : 12,
      breakers: [["\n"], ["c"], ["ab", "\n"], []][round % 4]!,
    };
    const dry = new Dry(options, letters);
    const tokens: number[] = [];
    for (let length = 0; length < 40; length++) {
      tokens.push(next() < 0.05 ? 26 : Math.floor(3 * next()));
      if (length % 7 > 1) continue;
      const penalties = dry.penalties(tokens);
      found += penalties.size;
      assertEquals(
        penalties,
        dryByDefinition(tokens, options),
        JSON.stringify({ options, tokens }),
      );
    }
  }
  assert(found > 1000, `${found}`);
});

Deno.test("Dry bounds what long repetitions cost", () => {
  const dry = new Dry(
    { multiplier: 1, base: 2, allowedLength: 2, lastN: 1e6, breakers: [] },
    letters,
  );
  const [[token, penalty] = []] = dry.penalties(Array(4000).fill(3));
  assertEquals(token, 3);
  assert(penalty! > 1e30 && penalty! < Infinity);
});

Deno.test("DRY lowers what would repeat, as greedy answers show", async () => {
  const options = { dryMultiplier: 3, dryBase: 2, dryAllowedLength: 1, dryBreakers: ["q"] };
  const { tokens } = await readAnswer(model.generate({ ...greedy, ...options }));
  const dry = new Dry(
    { multiplier: 3, base: 2, allowedLength: 1, lastN: 1e6, breakers: ["q"] },
    tokenizer,
  );
  const all = [...prompt];
  let changed = 0;
  for (const token of tokens) {
    const logits = (await logitsAfter(all)).slice();
    const before = bestOf(logits);
    for (const [id, penalty] of dry.penalties(all)) logits[id]! -= penalty;
    assertEquals(token, bestOf(logits), `after ${all}`);
    if (token !== before) changed++;
    all.push(token);
  }
  assert(changed > 0);
});

Deno.test("logitBias is added to tokens and to those of texts, one token or several at a time", async () => {
  const logits = await logitsAfter(prompt);
  const order = [...logits.keys()].sort((a, b) => logits[b]! - logits[a]!);
  const first = async (logitBias: [number | string, number][], more = {}) =>
    (await readAnswer(model.generate({ ...greedy, maxTokens: 8, logitBias, ...more }))).tokens;
  assertEquals((await first([[order[0]!, -Infinity]]))[0], order[1]);
  assertEquals((await first([[order[0]!, -100], [order[1]!, -100]]))[0], order[2]);
  assertEquals(await first([[order[9]!, 100]]), Array(8).fill(order[9]));
  const [z] = tokenizer.encode("z");
  assert((await first([["z", 100]])).every((token) => token === z));
  const gap = logits[order[0]!]! - logits[order[1]!]!;
  assertEquals((await first([[order[1]!, gap - 1e-3]]))[0], order[0]);
  assertEquals((await first([[order[1]!, gap + 1e-3]]))[0], order[1]);
  // With log-probabilities each token is a submit of its own.
  const bans = order.slice(0, 3).map((token): [number, number] => [token, -2.5]);
  assertEquals(await first(bans, { logprobs: 0 }), await first(bans));
});

Deno.test("minTokens keeps answers from ending, and stopTokens end them", async () => {
  const [end] = tokenizer.endOfGeneration;
  const ending = { ...greedy, logitBias: [[end!, 1000]] as [number, number][] };
  assertEquals((await readAnswer(model.generate(ending))).tokens, []);
  const { tokens, done } = await readAnswer(model.generate({ ...ending, minTokens: 5 }));
  const { tokens: free } = await readAnswer(model.generate(greedy));
  assertEquals([tokens.length, done!.reason], [5, "stop"]);
  assertEquals(tokens, free.slice(0, 5));
  const at = free.findIndex((token, index) => index > 2 && free.indexOf(token) === index);
  const stopTokens = [free[at]!];
  const stopped = await readAnswer(model.generate({ ...greedy, stopTokens }));
  assertEquals([stopped.tokens, stopped.done!.reason], [free.slice(0, at), "stop"]);
  const later = await readAnswer(model.generate({ ...greedy, stopTokens, minTokens: 16 }));
  assertEquals(later.tokens.length, 16);
  assert(!later.tokens.includes(stopTokens[0]!));
});

Deno.test("badWords do not come, of one token or several", async () => {
  const { tokens: free } = await readAnswer(model.generate(greedy));
  const holds = (tokens: readonly number[], part: readonly number[]) =>
    tokens.some((_, at) => part.every((token, index) => tokens[at + index] === token));
  for (const length of [1, 2, 3]) {
    const word = range(0, 12).map((at) => tokenizer.decode(free.slice(at, at + length)))
      .find((text) => {
        const ids = tokenizer.encode(text);
        return text !== "" && ids.length === length && holds(free, ids);
      });
    assert(word !== undefined, `no word of ${length} tokens in ${free}`);
    const { tokens } = await readAnswer(model.generate({ ...greedy, badWords: [word] }));
    assert(!holds(tokens, tokenizer.encode(word)), word);
  }
});

Deno.test("a format's only token comes although it is banned, and filters keep one", async () => {
  const vowels = ["a", "e", "i", "o", "u"].map((text): [string, number] => [text, -Infinity]);
  const format = { pattern: "[aeiou]{4}z" };
  for (const options of [{ temperature: 0 }, { temperature: 1, typicalP: 0, xtcProbability: 1 }]) {
    const { text, done } = await readAnswer(
      model.generate({ prompt, maxTokens: 9, ...options, logitBias: vowels, format, minTokens: 9 }),
    );
    assert(/^[aeiou]{4}z$/.test(text), text);
    assertEquals(done!.reason, "stop");
  }
});

Deno.test("allowedTokens are the only ones that come, drafted for or not", async () => {
  const [end] = tokenizer.endOfGeneration;
  const allowedTokens = [...tokenizer.encode("abc"), end!];
  const all = { ...greedy, maxTokens: 24, allowedTokens };
  const { tokens } = await readAnswer(model.generate(all));
  assert(tokens.length > 0 && tokens.every((token) => allowedTokens.includes(token)), `${tokens}`);
  const undrafted = await readAnswer(model.generate({ ...all, draftTokens: 0 }));
  assertEquals(undrafted.tokens, tokens);
  const one = await readAnswer(model.generate({ ...all, allowedTokens: [end!] }));
  assertEquals([one.tokens, one.done!.reason], [[], "stop"]);
});

Deno.test("tokens that there are not, and numbers out of range, are refused by name", () => {
  const refused = (options: object, message: string) =>
    assertThrows(() => model.generate({ ...greedy, ...options }), RequestError, message);
  refused({ logitBias: [[300, 1]] }, "there is no token 300, ids of this model are 0 to 299");
  refused({ logitBias: [[5, NaN]] }, "the bias of 5 is no number");
  refused({ stopTokens: [-1] }, "there is no token -1");
  refused({ allowedTokens: [300] }, "there is no token 300");
  refused({ allowedTokens: [3], format: "json" }, "allowedTokens and a format exclude each other");
  refused({ dryBase: 0.5 }, "dryBase is 0.5, it must be at least 1");
  refused({ minTokens: -1 }, "minTokens is -1, it must be at least 0");
});
