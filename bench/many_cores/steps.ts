// The operations of steps that models of real shapes take on the CPU, layer by layer: how many items each
// has, as kernels/cpu/linear.ts and attention/ make them, and what an item takes.

import { productItems, tokensAtOnce } from "../../kernels/cpu/linear/bands.ts";
import { BAND } from "../../kernels/cpu/formats/mod.ts";
import { GROUP } from "../../kernels/ops/activation.ts";
import type { LlamaShape } from "../synthetic_model.ts";
import type { Operation, Step } from "./simulation.ts";

/** Weights that a thread multiplies in a nanosecond with one token: about what a Zen 4 had with a 135M in Q4_0. */
const LONE_WEIGHTS = 17;
/** Multiplications of a prompt's products in a nanosecond, likewise. */
const PROMPT_WEIGHTS = 40;
/** Nanoseconds of a float in a norm, a rotation, an activation. */
const FLOAT = 0.5;
/** Nanoseconds of a kernel's call. */
const CALL = 100;

/** Bands that a thread takes together, of one token. */
const RUNS = 4;

/** A layer of a step that decodes one token, after so many. */
export function decodeLayer(shape: LlamaShape, position = 64): Step {
  const { embedding, heads, keyValueHeads, feedForward } = shape;
  const head = shape.headLength ?? embedding / heads;
  const product = (rows: number, columns: number): Operation => ({
    items: Math.ceil(rows / BAND),
    multiple: RUNS,
    isBrief: true,
    cost: BAND * columns / LONE_WEIGHTS,
  });
  const lone = (floats: number): Operation[] => [{ items: 1, cost: CALL + FLOAT * floats }];
  const parts = Math.ceil(position / 256);
  const perHead = heads / keyValueHeads;
  return [
    lone(2 * embedding),
    [product((heads + 2 * keyValueHeads) * head, embedding)],
    lone((heads + keyValueHeads) * head),
    [{
      items: keyValueHeads * parts,
      cost: CALL + 0.3 * perHead * head * Math.min(256, position),
    }],
    lone(heads * head),
    [product(embedding, heads * head)],
    lone(2 * embedding),
    [{
      items: feedForward / GROUP,
      isBrief: true,
      cost: 2 * GROUP * embedding / LONE_WEIGHTS + GROUP * 4 * FLOAT,
    }],
    [product(embedding, feedForward)],
  ];
}

/** What comes after the layers: logits. */
export function decodeOutput({ vocabulary, embedding }: LlamaShape): Step {
  return [[{
    items: Math.ceil(vocabulary / BAND),
    multiple: RUNS,
    isBrief: true,
    cost: BAND * embedding / LONE_WEIGHTS,
  }]];
}

/** A layer of a step that reads a prompt. */
export function promptLayer(shape: LlamaShape, tokens: number): Step {
  const { embedding, heads, keyValueHeads, feedForward } = shape;
  const head = shape.headLength ?? embedding / heads;
  const product = (rows: number, columns: number): Operation => {
    const atOnce = tokensAtOnce(tokens);
    const items = productItems(Math.ceil(rows / BAND), { ofItem: 2, tokens, atOnce });
    return { items, cost: rows * columns * tokens / PROMPT_WEIGHTS / items };
  };
  const rows = (floats: number): Operation[] => [{ items: tokens, cost: FLOAT * floats }];
  return [
    rows(2 * embedding),
    [product((heads + 2 * keyValueHeads) * head, embedding)],
    rows((heads + keyValueHeads) * head),
    [{
      items: heads * Math.ceil(tokens / 32),
      cost: 2 * 32 * tokens * head / 2 / 20,
    }],
    rows(heads * head),
    [product(embedding, heads * head)],
    rows(2 * embedding),
    [product(feedForward, embedding), product(feedForward, embedding)],
    rows(4 * feedForward),
    [product(embedding, feedForward)],
  ];
}
