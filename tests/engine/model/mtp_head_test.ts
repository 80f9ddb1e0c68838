// Heads for multi-token prediction: their logits are those of a plain reference, with the model's states
// and with their own, alone and beside others.

import { MetadataReader, readGguf } from "../../../engine/gguf/mod.ts";

import { resolveSampling } from "../../../engine/generate/sampling_request.ts";
import { buildRunner } from "../../../engine/load/build_runner.ts";
import { Config } from "../../../engine/nn/mod.ts";
import { type Chunk, layOut } from "../../../engine/run/planner.ts";
import { Sequence } from "../../../engine/run/sequence.ts";
import { SequencePool } from "../../../engine/run/sequence_pool.ts";
import type { StepRunner } from "../../../engine/run/mod.ts";
import { wholeOn } from "../../../engine/weights/mod.ts";
import { openDevice, typesOf } from "../../../kernels/mod.ts";
import { nmse } from "../../numbers.ts";
import { deepSeek2 } from "../reference/deepseek2.ts";
import { randomTokens, writeReference } from "../reference/file.ts";
import { glm4Moe } from "../reference/glm4_moe.ts";
import { type ReferenceModel, WIDTH } from "../reference/model.ts";
import { miMo2 } from "../reference/mimo2.ts";
import { finalStates, runHead, withHead } from "../reference/mtp_head.ts";
import { qwen3Next } from "../reference/qwen3_next.ts";
import { RandomWeights } from "../reference/weights.ts";
import { assert } from "@std/assert";

const BLOCKS = 16;
const LIMITS = { rows: 64, outputs: 64, slots: 4, context: 128 };
const MOST_ERROR = 1e-9;

/** Tokens that a head goes on with. */
const DRAFT = [7, 11];

async function build(model: ReferenceModel, weights: RandomWeights) {
  const gguf = await readGguf(await writeReference(model, weights));
  const device = await openDevice({ kind: "cpu" });
  const config = new Config(new MetadataReader(gguf), gguf.path, model.architecture);
  const { network, runner, head } = await buildRunner(gguf, wholeOn(device), {
    exact: true,
    config,
    limits: LIMITS,
    headLimits: LIMITS,
    cacheTypes: typesOf("f32"),
    cacheBlocks: BLOCKS,
    bidirectionalImages: false,
    window: LIMITS.context,
  });
  for (const part of [network, runner, head!.network, head!.runner]) await part.prepare();
  return { runner, head: head!, [Symbol.dispose]: () => device[Symbol.dispose]() };
}

/** Sequences with memory of a runner. */
function sequencesOf(runner: StepRunner) {
  const pool = new SequencePool(runner, BLOCKS);
  return (prompt: readonly number[]) => {
    const request = { accept: () => true, end: () => {}, maxTokens: 20 };
    const sampling = resolveSampling({ temperature: 0 }, LIMITS.context, false);
    const sequence = new Sequence({ ...request, prompt, sampling });
    pool.takeCached(sequence);
    runner.assignSlot(sequence.memory.slot, sampling);
    return sequence;
  };
}

const chunkOf = (sequence: Sequence, count: number): Chunk => ({
  sequence,
  count,
  output: true,
  draft: [],
});

for (const reference of [glm4Moe, qwen3Next, deepSeek2("absorbed"), miMo2]) {
  const model = withHead(reference);

  Deno.test(`the MTP head of ${model.architecture} has the logits of its reference`, async () => {
    const weights = new RandomWeights();
    const zeros = new Array(WIDTH).fill(0);
    // Two sequences: what one reads is not the other's.
    const texts = [randomTokens(21), randomTokens(9).reverse()];
    const expected = texts.map((tokens) => {
      reference.run(weights, tokens);
      const states = finalStates(model, weights, tokens);
      const previous = [zeros, ...states.slice(0, -1)];
      const first = runHead(model, weights, tokens, previous);
      // Then it reads tokens that it might have drafted, with its own states.
      previous.push(first.states.at(-1)!);
      const second = runHead(model, weights, [...tokens, ...DRAFT.slice(0, 1)], previous);
      previous.push(second.states.at(-1)!);
      const third = runHead(model, weights, [...tokens, ...DRAFT], previous);
      const drafted = [second, third].map(({ logits }) => logits.at(-1)!);
      return { states, logits: first.logits, drafted };
    });

    using built = await build(model, weights);
    const { runner, head } = built;
    const targets = texts.map(sequencesOf(runner));
    const chunks = targets.map((sequence) => chunkOf(sequence, sequence.tokens.length));
    const { states } = await runner.submit(layOut(chunks, runner.tileRows), 1)();
    const all = expected.flatMap(({ states }) => states.flat());
    assert(nmse(states!, all) <= MOST_ERROR, "the model's states");

    const copies = texts.map(sequencesOf(head.runner));
    const heads = copies.map((copy) => chunkOf(copy, copy.tokens.length));
    const feedAll = () => {
      let row = 0;
      for (const copy of copies) {
        head.states.begin(copy, 0);
        const end = row + copy.tokens.length;
        head.states.add(copy, 0, states!.subarray(row * WIDTH, end * WIDTH));
        row = end;
      }
      head.states.feed(heads);
    };
    feedAll();
    const everyRow = layOut(heads, head.runner.tileRows, "all");
    const logits = await head.runner.evaluate(everyRow, "logits");
    assert(nmse(logits, expected.flatMap(({ logits }) => logits.flat())) <= MOST_ERROR, "logits");

    feedAll();
    await head.runner.evaluate(layOut(heads, head.runner.tileRows), "logits");
    for (const [step, order] of [[0, 1], [1]].entries()) {
      const going = order.map((at) => copies[at]);
      for (const copy of going) {
        copy.feedFrom(texts[copies.indexOf(copy)].length + step);
        copy.append(DRAFT[step]);
      }
      const steps = going.map((copy) => chunkOf(copy, 1));
      head.states.feed(steps);
      const after = await head.runner.evaluate(layOut(steps, head.runner.tileRows), "logits");
      const wanted = order.flatMap((at) => expected[at].drafted[step]);
      assert(nmse(after, wanted) <= MOST_ERROR, `drafts of ${order}`);
    }
  });
}
