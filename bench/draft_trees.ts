// `deno task bench:draft-trees [--prompts 40]`: whether drafts are better chains or trees, by simulation.
// quern:tiny answers prompts of several kinds; then drafts are made for every place of its answers, from
// the text itself and by a blurred copy of the model, as chains and as trees of as many rows. Printed are
// how often a chain's tokens are right by their place in it, and the tokens that a step gives by shape.
// Only counts: no times, so that it says the same on every machine.

import { parseArgs } from "node:util";
import { BOX_MODEL, type ChatRequest, loadModel, type Model } from "../engine/mod.ts";
import { writeBlurred } from "./blurred_model.ts";
import { percent, print } from "./report.ts";
import { temporaryFolder } from "./temporary.ts";

const { values } = parseArgs({ options: { prompts: { type: "string", default: "40" } } });

/** Tokens of an answer. */
const TOKENS = 96;

/** Last tokens that have to have occurred earlier, as in prompt_lookup.ts. */
const MATCH = 3;

/** Tokens of the longest chain that is looked at. */
const LONGEST = 8;

/** Alternatives of a place of a tree: children of its nodes by depth, the first of each goes on. */
type Shape = readonly number[];

/** By how much the weights of drafting copies differ, so that they are right more or less often. */
const BLURS = [6, 20, 40, 70];

/** Shapes of so many rows: a chain first, then trees in which places have the next best tokens as well. */
const SHAPES: Readonly<Record<number, Readonly<Record<string, Shape>>>> = {
  2: { "chain of 2": [1, 1], "2 tokens": [2] },
  4: { "chain of 4": [1, 1, 1, 1], "2, 1, 1": [2, 1, 1], "2, 2": [2, 2], "3, 1": [3, 1] },
  8: {
    "chain of 8": [1, 1, 1, 1, 1, 1, 1, 1],
    "2, 1, 1, 1, 1, 1, 1": [2, 1, 1, 1, 1, 1, 1],
    "2, 2, 2, 1, 1": [2, 2, 2, 1, 1],
    "2, 2, 2, 2": [2, 2, 2, 2],
    "3, 2, 1, 1, 1": [3, 2, 1, 1, 1],
  },
};

/** For each place of an answer: the index of the drafted alternative that was right, or -1. */
type Ranks = readonly number[];

/**
 * Tokens per step if drafts of a shape are checked: a step gives those that were right, and one
 * more. If the right alternative has no continuation, the draft ends with it.
 */
function tokensPerStep(ranks: Ranks, shape: Shape): number {
  let steps = 0;
  for (let at = 0; at < ranks.length; steps++) {
    let right = 0;
    for (const width of shape) {
      const rank = ranks[at + right] ?? -1;
      if (rank < 0 || rank >= width) break;
      right++;
      if (rank > 0) break;
    }
    at += right + 1;
  }
  return ranks.length / steps;
}

/**
 * For each place: the rank of the token that came among those that followed earlier occurrences of
 * the text before it, the last one first; -1 if it is none of them.
 */
function lookupRanks(tokens: readonly number[], first: number): Ranks {
  const followers = new Map<string, number[]>();
  const ranks: number[] = [];
  for (let at = MATCH; at < tokens.length; at++) {
    const key = tokens.slice(at - MATCH, at).join(" ");
    const before = followers.get(key) ?? [];
    const next = tokens[at]!;
    if (at >= first) ranks.push(before.indexOf(next));
    followers.set(key, [next, ...before.filter((token) => token !== next)]);
  }
  return ranks;
}

/** The ranks of the tokens that came, among those that the model considers likely. */
async function modelRanks(
  model: Model,
  tokens: readonly number[],
  first: number,
): Promise<Ranks> {
  const logits = await model.logits(tokens);
  const vocabulary = logits.length / tokens.length;
  return tokens.slice(first).map((token, i) => {
    const row = logits.subarray((first + i - 1) * vocabulary, (first + i) * vocabulary);
    const own = row[token]!;
    const better = row.reduce((count, value) => count + (value > own ? 1 : 0), 0);
    return better < LONGEST ? better : -1;
  });
}

const NAMES = ["Ada", "Nora", "Miller", "Otto", "Rosa", "Jun", "Lea", "Ivo"];
const SUBJECTS = ["the weather", "three colours", "a list of people", "what you can do", "numbers"];
const pick = <T>(list: readonly T[], number: number) => list[number % list.length]!;
const KINDS: Readonly<Record<string, (number: number) => Partial<ChatRequest> & { text: string }>> =
  {
    "free text": (i) => ({
      text: `${pick(NAMES, i)} asks: tell me about ${pick(SUBJECTS, i)}, please. ${i}`,
    }),
    "a text again": (i) => ({
      text: `Repeat: ${pick(NAMES, i)} met ${pick(NAMES, i + 3)} and paid ${7 * i + 11} euros. `
        .repeat(3),
    }),
    "a schema": (i) => ({
      text: `Make a list of people. Begin with ${pick(NAMES, i)}, ${20 + i}.`,
      format: {
        schema: {
          type: "array",
          minItems: 3,
          items: {
            type: "object",
            properties: { name: { type: "string", maxLength: 12 }, age: { type: "integer" } },
            required: ["name", "age"],
            additionalProperties: false,
          },
        },
      },
    }),
  };

/** The tokens of a prompt and its answer, and where the answer begins. */
async function answerOf(model: Model, kind: string, number: number) {
  const { text, format } = KINDS[kind]!(number);
  const prompt = model.tokenizer.encode(
    `<|im_start|>user\n${text}<|im_end|>\n<|im_start|>assistant\n`,
  );
  const tokens = [...prompt];
  const drawn = number % 2 === 1 ? { temperature: 0.8, seed: number } : { temperature: 0 };
  const request = {
    prompt,
    maxTokens: TOKENS,
    ignoreEnd: !format,
    ...drawn,
    ...(format && { format }),
  };
  for await (const event of model.generate(request)) {
    if (event.type === "text") tokens.push(...event.tokens);
  }
  return { tokens, first: prompt.length };
}

/** Prints what was right by place, and the tokens per step of all shapes. */
function report(name: string, all: readonly Ranks[]): void {
  const places = Array.from({ length: 4 }, (_, place) => {
    let [right, asked] = [0, 0];
    for (const ranks of all) {
      for (let at = 0; at + place < ranks.length; at++) {
        if (ranks.slice(at, at + place).some((rank) => rank !== 0)) continue;
        asked++;
        if (ranks[at + place] === 0) right++;
      }
    }
    return percent(right, asked);
  });
  const flat = all.flat();
  const second = percent(flat.filter((rank) => rank === 1).length, flat.length);
  print(
    `${name}: right, where those before are: ${places.join(", ")}; the second best came: ${second}`,
  );
  for (const [rows, shapes] of Object.entries(SHAPES)) {
    const cells = Object.entries(shapes).map(([label, shape]) => {
      const sum = all.reduce((sum, ranks) => sum + tokensPerStep(ranks, shape), 0);
      return `${label}: ${(sum / all.length).toFixed(2)}`;
    });
    print(`  ${rows} rows: ${cells.join("   ")}`);
  }
}

using folder = temporaryFolder();
const load = { contextLength: 512, maxSequences: 1 };
await using model = await loadModel(BOX_MODEL.path, load);
for (const blur of BLURS) {
  await writeBlurred(BOX_MODEL.path, `${folder.path}/${blur}.gguf`, blur);
}
for (const kind of Object.keys(KINDS)) {
  const answers = [];
  for (let i = 0; i < Number(values.prompts); i++) answers.push(await answerOf(model, kind, i));
  print(`\n${kind}, ${answers.length} answers`);
  report("from the text", answers.map(({ tokens, first }) => lookupRanks(tokens, first)));
  for (const blur of BLURS) {
    await using draft = await loadModel(`${folder.path}/${blur}.gguf`, load);
    const all = [];
    for (const { tokens, first } of answers) all.push(await modelRanks(draft, tokens, first));
    report(`a copy blurred by ${blur}`, all);
  }
}
