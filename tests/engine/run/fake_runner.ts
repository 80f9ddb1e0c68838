// A step runner without a GPU. It keeps the paged KV cache and the history as plain memory, and what
// a step samples depends on every token that it reads back from both: a block that is handed out
// twice, a step that is laid out wrong or a token that is lost changes the text. For rows of images
// the cache has numbers of their own, and the history what is no token. A model with states keeps the
// tokens of each slot a third time: a step that does not go on where they end gives nonsense.

import type { OutputKind } from "../../../engine/nn/mod.ts";
import type { PromptItem } from "../../../engine/prompt/prompt_media.ts";
import type { Sampled, StepPlan } from "../../../engine/run/step_plan.ts";
import { nextTask } from "../../../engine/async.ts";
import type { StoredBlock } from "../../../engine/block_store/mod.ts";
import type {
  BlockRequest,
  ChangedOutputs,
  DeviceBlocks,
  SequenceMemory,
  StepExecutor,
} from "../../../engine/run/step_executor.ts";
import { MEDIA_TOKEN, NO_TOKEN, PLAN_ROW } from "../../../kernels/mod.ts";

const BLOCK = 32;

/** The tokens of the tiny model that are bytes: none of them ends a text. */
const VOCABULARY = 256;

/** Sizes of the fake model. */
export interface FakeRunnerOptions {
  slots: number;
  context: number;
  blocks: number;
  chunkSize: number;
  /** Rows for copies of states, for a model that has them. */
  stateCopies?: number;
}

/** The hash of no tokens, and that of some and one more. */
const EMPTY_HASH = 17;
function hashWith(hash: number, token: number): number {
  return Math.imul(hash ^ token, 0x01000193) >>> 0;
}

/** The token that follows those of a hash. */
function tokenOf(hash: number): number {
  // Not the last bits: they depend on the last token alone, and such a text soon goes around.
  return (hash >>> 12) % VOCABULARY;
}

/** The token that follows these. */
export function nextToken(tokens: readonly number[]): number {
  return tokenOf(tokens.reduce(hashWith, EMPTY_HASH));
}

/** The first token from `token` on, and around, that a mask allows. */
export function allowedFrom(token: number, mask: Uint32Array): number {
  while ((mask[token >>> 5]! >>> (token & 31) & 1) === 0) token = (token + 1) % VOCABULARY;
  return token;
}

/** What the cache has for a row of an image: a number of its own. */
function imageRow(key: string, row: number): number {
  return -1 - nextToken(Array.from(key, (letter) => letter.charCodeAt(0))) * 1000 - row;
}

/** The tokens that a model alone would give. */
export function continuation(prompt: readonly PromptItem[], count: number): number[] {
  const tokens = prompt.flatMap((item) =>
    typeof item === "number"
      ? item
      : Array.from({ length: item.tokens }, (_, row) => imageRow(item.key, row))
  );
  let hash = tokens.reduce(hashWith, EMPTY_HASH);
  return Array.from({ length: count }, () => {
    const token = tokenOf(hash);
    hash = hashWith(hash, token);
    return token;
  });
}

/** The runner. */
export class FakeRunner implements StepExecutor, SequenceMemory, DeviceBlocks {
  readonly memory = this;
  readonly blocks = this;
  readonly limits;
  readonly tileRows = 4;
  readsBlock = false;
  submitsBlock = false;
  isObserved = false;
  isTapped = false;
  /** How often a sequence was given a slot. */
  admissions = 0;
  /** Steps so far: each gives a token to every output. */
  steps = 0;
  /** Rows of all steps. */
  rowsFed = 0;
  /** Whether sequences cannot go back. */
  readonly hasStates: boolean;
  readonly stateCopies: number;
  /** The tokens that each slot's state is of, and each copy's. */
  readonly #states: number[][];
  readonly #copies: number[][];
  /** Whether images have to run in one step, and the most rows of one that did. */
  bidirectionalImages = false;
  longestImage = 0;
  /** A token after which the model's numbers are none. */
  poison = -1;
  /** Raised by the next step, or when a sequence is given its slot. */
  failure: Error | undefined;
  readonly #cache: Int32Array;
  readonly #table: number[][];
  readonly #history: number[][];
  #masks: ReadonlyMap<number, Uint32Array> = new Map();
  /** By output: what the last step was about to sample, and for which slot. */
  #last: { next: number; slot: number }[] = [];
  readonly #slots: { token: number; position: number }[];

  constructor({ slots, context, blocks, chunkSize, stateCopies }: FakeRunnerOptions) {
    this.hasStates = stateCopies !== undefined;
    this.stateCopies = stateCopies ?? 0;
    this.#states = Array.from({ length: slots }, () => []);
    this.#copies = Array.from({ length: this.stateCopies }, () => []);
    this.limits = { rows: chunkSize + slots, outputs: slots, slots, context };
    this.#cache = new Int32Array(blocks * BLOCK).fill(-1);
    this.#table = Array.from({ length: slots }, () => []);
    this.#history = Array.from({ length: slots }, () => []);
    this.#slots = Array.from({ length: slots }, () => ({ token: -1, position: -1 }));
  }

  blocksFor(positions: number): number {
    return Math.ceil(positions / BLOCK);
  }

  get blockSize(): number {
    return BLOCK;
  }

  copySequence(slot: number, target: number, from: readonly number[], to: readonly number[]) {
    this.#history[target] = [...this.#history[slot]];
    this.#states[target] = [...this.#states[slot]];
    from.forEach((block, i) => {
      this.#cache.copyWithin(to[i] * BLOCK, block * BLOCK, (block + 1) * BLOCK);
    });
  }

  saveStates(slot: number, row: number): void {
    this.#copies[row] = [...this.#states[slot]];
  }

  restoreStates(row: number, slot: number): void {
    this.#states[slot] = [...this.#copies[row]];
  }

  readonly batch = 16;

  get blockBytes(): number {
    return BLOCK * 4;
  }

  get stateBytes(): number {
    return this.hasStates ? this.limits.context * 4 : 0;
  }

  /** Blocks that were read, and written, so far. */
  blocksRead = 0;
  blocksWritten = 0;

  async read(requests: readonly BlockRequest[]): Promise<StoredBlock[]> {
    this.blocksRead += requests.length;
    const read = requests.map(({ block, row }) => {
      const cached = this.#cache.slice(block * BLOCK, (block + 1) * BLOCK);
      if (row === undefined) return { cached: new Uint8Array(cached.buffer) };
      const states = new Int32Array(this.limits.context).fill(-1);
      states.set(this.#copies[row]);
      return { cached: new Uint8Array(cached.buffer), states: new Uint8Array(states.buffer) };
    });
    await nextTask();
    return read;
  }

  writeBlock(block: number, bytes: Uint8Array): void {
    this.blocksWritten++;
    this.#cache.set(new Int32Array(bytes.slice().buffer), block * BLOCK);
  }

  writeStates(row: number, bytes: Uint8Array): void {
    const states = [...new Int32Array(bytes.slice().buffer)];
    this.#copies[row] = states.slice(0, states.indexOf(-1));
  }

  writeBiases(): void {}

  assignSlot(slot: number): void {
    if (this.failure) throw this.failure;
    this.admissions++;
    this.#slots[slot] = { token: -1, position: -1 };
  }

  assignBlocks(slot: number, first: number, blocks: readonly number[]): void {
    blocks.forEach((block, i) => this.#table[slot][first + i] = block);
  }

  writeHistory(slot: number, tokens: readonly number[]): void {
    this.#history[slot].splice(0, tokens.length, ...tokens);
  }

  /** Steps whose tokens were chosen under masks. */
  maskedSteps = 0;
  #forwarded: (() => number[]) | undefined;

  forward(plan: StepPlan): void {
    this.#forwarded = () => this.#step(plan);
  }

  sample(
    _plan: StepPlan,
    masks: ReadonlyMap<number, Uint32Array<ArrayBuffer>>,
    wanted: ReadonlySet<number>,
  ): () => Promise<Sampled> {
    this.maskedSteps++;
    this.#masks = masks;
    const sampled = this.#forwarded!();
    this.#masks = new Map();
    const tokens = Uint32Array.from(sampled);
    // Logits by which the sampled token is the likeliest.
    const logits = new Map(
      [...wanted].map((output) => {
        const values = new Float32Array(VOCABULARY);
        values[sampled[output]!] = 1;
        return [output, values] as const;
      }),
    );
    return () => Promise.resolve({ tokens, logits });
  }

  /** Tokens that were chosen again. */
  resampled = 0;

  resample(_plan: StepPlan, { masks = new Map() }: ChangedOutputs): Promise<Uint32Array> {
    this.resampled += masks.size;
    const tokens = this.#last.map(({ next, slot }, output) => {
      const mask = masks.get(output);
      if (!mask) return this.#slots[slot].token;
      return this.#slots[slot].token = allowedFrom(next, mask);
    });
    return Promise.resolve(Uint32Array.from(tokens));
  }

  prepareNext(): void {}

  submit(plan: StepPlan, repeats: number): () => Promise<Sampled> {
    if (this.failure) throw this.failure;
    const sampled: number[] = [];
    for (let i = 0; i < repeats; i++) sampled.push(...this.#step(plan));
    return async () => {
      if (!this.submitsBlock) await nextTask();
      return { tokens: Uint32Array.from(sampled), logits: new Map() };
    };
  }

  /** Called with each step of an evaluation, and what tells whether the rest of it is to be left out. */
  onEvaluation = (_isUnwanted?: () => boolean) => {};

  /** [outputs, 1]: the token that would follow. */
  async evaluate(
    plan: StepPlan,
    _output: OutputKind,
    isUnwanted?: () => boolean,
  ): Promise<Float32Array> {
    if (this.failure) throw this.failure;
    const following = this.#step(plan);
    this.onEvaluation(isUnwanted);
    await nextTask();
    return Float32Array.from(following);
  }

  /** The token that follows these. */
  follow(tokens: readonly number[]): number {
    return nextToken(tokens);
  }

  /** All rows write before any reads, as a layer does. */
  #step({ rows, outputs, media }: StepPlan): number[] {
    this.steps++;
    const mediaRows = media.flatMap(({ media: { key }, first, count }) =>
      Array.from({ length: count }, (_, i) => imageRow(key, first + i))
    );
    this.longestImage = Math.max(this.longestImage, ...media.map(({ count }) => count));
    const at = (row: number) => {
      const { token, position, slot, inSlot } = PLAN_ROW.read(rows, row);
      if (inSlot === 1) return { ...this.#slots[slot], slot };
      return { token: mediaRows[token - MEDIA_TOKEN] ?? token, position, slot };
    };
    const all = Array.from({ length: rows.length / PLAN_ROW.words }, (_, row) => at(row));
    this.rowsFed += all.length;
    for (const { token, position, slot } of all) {
      this.#cache[this.#address(slot, position)] = token;
      this.#history[slot][position] = token < 0 ? MEDIA_TOKEN : token;
      if (position === 0) this.#states[slot] = [];
      // A state that is not of all tokens before is of none after.
      if (this.#states[slot].length !== position) this.#states[slot].fill(NaN);
      this.#states[slot].push(token);
    }
    this.#last = [];
    return [...outputs].map((row, output) => {
      const { position, slot } = all[row];
      const history = this.#history[slot];
      const states = this.#states[slot];
      const tokens: number[] = [];
      let isSound = true;
      for (let i = 0; i <= position; i++) {
        const token = this.#cache[this.#address(slot, i)];
        tokens.push(token);
        isSound &&= history[i] === (token < 0 ? MEDIA_TOKEN : token);
        isSound &&= !this.hasStates || states[i] === token;
      }
      const next = isSound ? this.follow(tokens) : -1;
      this.#last.push({ next, slot });
      const mask = this.#masks.get(output);
      const token = mask ? allowedFrom(next, mask) : next;
      const isFinite = !tokens.includes(this.poison);
      this.#slots[slot] = { token: isFinite ? token : 0, position: position + 1 };
      return isFinite ? token : NO_TOKEN;
    });
  }

  #address(slot: number, position: number): number {
    return this.#table[slot][position / BLOCK | 0] * BLOCK + position % BLOCK;
  }
}
