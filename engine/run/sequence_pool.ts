// The memory of sequences: a slot, blocks of the KV cache and, in the slot, the states of recurrent
// layers. Sequences get, grow and fork their memory here, whatever layers the model has. A sequence begins
// with the blocks of the prefix cache that hold its first tokens; one of a model with recurrent states
// begins at a position where they were copied.

import { BlockPool, PrefixCache, SessionBlocks } from "./block_pool.ts";
import { type Checkpoint, Checkpoints } from "./checkpoints.ts";
import { type BlockTiers, Offload, type Restorable } from "./offload.ts";
import type { TokenKey } from "../prompt/mod.ts";
import type { KeptTokens } from "../types/mod.ts";
import { type HeldMemory, NO_MEMORY, type RestoredTokens, type Sequence } from "./sequence.ts";
import type { SequenceMemory, StepExecutor } from "./step_executor.ts";

/** What a sequence holds, as its pool changes it. */
interface Holding extends HeldMemory {
  readonly slot: number;
  blocks: number[];
  knownBlocks: number;
  restored: RestoredTokens;
  isDrafting: boolean;
  /** The copy of its states before a draft, and the positions submitted then. */
  beforeDraft?: { row: number; position: number } | undefined;
  /** Copies of its states whose blocks are not in the prefix cache yet. */
  checkpoints: Checkpoint[];
  /** The block of its last copy, and those of the last two that were made in its answer. */
  lastCheckpoint?: number;
  answerCheckpoints: number[];
}

/** The allocator of a model's slots and KV blocks. */
export class SequencePool {
  readonly #executor: StepExecutor;
  readonly #memory: SequenceMemory;
  readonly #cache: PrefixCache;
  readonly #blocks: BlockPool;
  readonly #checkpoints: Checkpoints;
  readonly #sessions = new SessionBlocks();
  /** What each sequence with a slot holds. */
  readonly #held = new Map<Sequence, Holding>();
  readonly #freeSlots: number[];
  /** The copies of blocks beyond the device. */
  readonly #offload: Offload;

  /** @param blocks blocks of the KV cache */
  constructor(executor: StepExecutor, blocks: number) {
    const { blockSize, memory, limits: { slots, context } } = executor;
    this.#executor = executor;
    this.#memory = memory;
    this.#cache = new PrefixCache(blockSize);
    this.#checkpoints = new Checkpoints(memory.stateCopies, blockSize, context);
    this.#offload = new Offload(executor, this.#checkpoints);
    this.#blocks = new BlockPool(blocks, this.#cache, this.#checkpoints, {
      idle: (block) => this.#offload.idle(block),
      evicted: (block) => {
        this.#offload.evicted(block);
        this.#sessions.evicted(block);
      },
    });
    this.#freeSlots = Array.from({ length: slots }, (_, i) => slots - 1 - i);
  }

  /** Keeps what leaves the device's cache from now on. @param tiers where blocks go */
  openTiers(tiers: BlockTiers): void {
    this.#offload.open(tiers);
  }

  /** Slots that no sequence has. */
  get freeSlots(): number {
    return this.#freeSlots.length;
  }

  /** Numbers of blocks: empty ones, cached ones that no sequence uses, and those of sequences. */
  get blockCounts(): { free: number; idle: number; used: number } {
    return this.#blocks.counts;
  }

  /** Gives a sequence a slot and blocks for `positions` positions; false, with nothing done, if it cannot. */
  take(sequence: Sequence, positions: number): boolean {
    return this.#take(sequence, positions, []) !== undefined;
  }

  /**
   * Gives memory to a sequence that generates nothing, which starts with the blocks of the prefix cache
   * that hold its first tokens.
   * @param most tokens that need not run, if they are there
   * @returns false, with nothing done, if it cannot
   */
  takeKnown(sequence: Sequence, most: number): boolean {
    const { tokens } = sequence;
    const { hasStates } = this.#memory;
    const known = this.#runsWhole(sequence) ? [] : this.#cache.match(sequence.keys(0, most));
    const states = hasStates ? this.#checkpoints.deepest(known) : undefined;
    const depth = hasStates ? states?.blocks ?? 0 : known.length;
    const held = this.#take(sequence, tokens.length, known.slice(0, depth));
    if (!held) return false;
    if (states) this.#memory.restoreStates(states.row, held.slot);
    this.#memory.writeHistory(held.slot, tokens.slice(0, sequence.submitted));
    return true;
  }

  /**
   * Gives memory to a sequence that will generate. It gets a block more than its tokens need, and starts
   * with the blocks of the prefix cache that hold its first tokens, as far as recurrent states were
   * copied there. These tokens count as submitted. At least one token is left to run, since its logits
   * are needed.
   */
  takeCached(sequence: Sequence): boolean {
    const { tokens } = sequence;
    const { hasStates } = this.#memory;
    if (this.#freeSlots.length === 0) return false;
    const runsWhole = this.#runsWhole(sequence);
    const known = runsWhole ? [] : this.#match(sequence);
    const stored = runsWhole ? undefined : this.#offload.find(sequence, known);
    const row = stored?.states && this.#checkpoints.take(false);
    // Without a row for restored states, only copies on the device count.
    const isDeviceOnly = !stored || (stored.states !== undefined && row === undefined);
    const states = hasStates && row === undefined ? this.#checkpoints.deepest(known) : undefined;
    const depth = !isDeviceOnly ? stored.depth : hasStates ? states?.blocks ?? 0 : known.length;
    const held = this.#take(sequence, this.#positionsOf(sequence), known.slice(0, depth));
    if (!held) {
      if (row !== undefined) this.#checkpoints.give(row);
      return false;
    }
    if (!isDeviceOnly) this.#restore(sequence, held, stored, known.length);
    if (row !== undefined) this.#restoreStates(sequence, held, row, stored!.states!);
    if (states) this.#memory.restoreStates(states.row, held.slot);
    // A copy at a parting is not the conversation's own: it stays when there is a later one.
    const isOwn = sequence.submitted !== this.#checkpoints.partingOf(sequence);
    if (isOwn && (states || row !== undefined)) held.lastCheckpoint = held.blocks[depth - 1]!;
    this.#offload.forget(sequence);
    this.#memory.writeHistory(held.slot, tokens.slice(0, sequence.submitted));
    return true;
  }

  /**
   * A promise to wait for before takeCached(): blocks are read from disk for the sequence, or blocks
   * that it would evict are copied. Undefined: nothing has to be waited for.
   */
  prepare(sequence: Sequence): Promise<void> | undefined {
    if (!this.#offload.isOpen || this.#freeSlots.length === 0) return undefined;
    if (this.#runsWhole(sequence)) return undefined;
    const known = this.#match(sequence);
    const wanted = this.#executor.blocksFor(this.#positionsOf(sequence)) - known.length;
    return this.#offload.fetch(sequence, known) ??
      this.#offload.copied(this.#blocks.victims(wanted, known));
  }

  /** How many of a text's tokens are kept, and where. */
  kept(keys: readonly TokenKey[]): KeptTokens {
    const known = this.#cache.match(keys);
    const { memory, disk, depth } = this.#offload.kept(keys, known);
    const { blockSize } = this.#executor;
    return {
      onDevice: known.length * blockSize,
      inMemory: memory * blockSize,
      onDisk: disk * blockSize,
      reusable: depth * blockSize,
    };
  }

  /** Copies blocks to the stores, if there are any, before the model is closed. */
  async close(): Promise<void> {
    await this.#offload.close();
  }

  /** Whether nothing of it comes from the cache: taps and hooks receive all rows, and may change them. */
  #runsWhole(sequence: Sequence): boolean {
    return this.#executor.isTapped || sequence.isHooked;
  }

  #match(sequence: Sequence): number[] {
    return this.#cache.match(sequence.keys(0, sequence.tokens.length - 1));
  }

  /** Positions that a sequence gets blocks for when it is admitted: a block more than it needs. */
  #positionsOf(sequence: Sequence): number {
    const { blockSize, limits: { context } } = this.#executor;
    return Math.min(sequence.tokens.length + blockSize, sequence.limit(context));
  }

  /** Writes the restored blocks of a sequence, from block `first` on. */
  #restore(
    sequence: Sequence,
    held: Holding,
    { blocks, fromDisk, depth }: Restorable,
    first: number,
  ): void {
    const size = this.#executor.blockSize;
    for (const [i, { cached }] of blocks.entries()) {
      const at = first + i;
      const [before, block] = [held.blocks[at - 1], held.blocks[at]];
      this.#executor.blocks.writeBlock(block, cached);
      this.#addKnown(before, sequence.keys(at * size, (at + 1) * size), block);
    }
    held.knownBlocks = depth;
    sequence.feedFrom(depth * size);
    const restored = blocks.length * size;
    held.restored = { fromMemory: restored - fromDisk * size, fromDisk: fromDisk * size };
  }

  #restoreStates(
    { submitted: position }: Sequence,
    { slot, blocks }: Holding,
    row: number,
    states: Uint8Array<ArrayBufferLike>,
  ): void {
    this.#executor.blocks.writeStates(row, states);
    this.#memory.restoreStates(row, slot);
    const block = blocks[position / this.#executor.blockSize - 1];
    this.#checkpoints.add(block, { row, position, isSpaced: false });
  }

  #addKnown(before: number | undefined, tokens: readonly TokenKey[], block: number): void {
    this.#cache.add(before, tokens, block);
    this.#offload.add(before, tokens, block);
  }

  #take(sequence: Sequence, positions: number, cached: readonly number[]): Holding | undefined {
    if (this.#freeSlots.length === 0) return undefined;
    if (!sequence.isBehind) this.#blocks.place(cached, false);
    this.#blocks.share(cached); // first, so that taking others does not evict them
    this.#touchSession(sequence);
    const blocks = this.#blocks.take(this.#executor.blocksFor(positions) - cached.length);
    if (!blocks) {
      this.#blocks.give(cached);
      return undefined;
    }
    sequence.feedFrom(cached.length * this.#executor.blockSize);
    return this.#hold(sequence, [...cached, ...blocks], cached.length);
  }

  /** Keeps the main conversation beside which a sequence stands in the cache for longer. */
  #touchSession({ besideSession }: Sequence): void {
    if (besideSession === undefined) return;
    const blocks = this.#sessions.of(besideSession);
    this.#blocks.touch(blocks);
    this.#checkpoints.touch(blocks);
  }

  /** Gives a sequence a slot, of which there is one, with these blocks. */
  #hold(sequence: Sequence, blocks: number[], knownBlocks: number): Holding {
    const slot = this.#freeSlots.pop()!;
    const held = {
      ...NO_MEMORY,
      slot,
      blocks,
      knownBlocks,
      checkpoints: [],
      answerCheckpoints: [],
    };
    this.#held.set(sequence, held);
    sequence.hold(held);
    this.#memory.assignBlocks(slot, 0, blocks);
    return held;
  }

  #of(sequence: Sequence): Holding {
    return this.#held.get(sequence)!;
  }

  /** The position at which a step of a sequence has to end, so that its states can be kept. */
  stop(sequence: Sequence): number {
    return this.#memory.stateCopies > 0 ? this.#checkpoints.next(sequence) : Infinity;
  }

  /** Copies the states of a sequence as they are after all submitted steps, if there is a row for them. */
  checkpoint(sequence: Sequence): void {
    if (sequence.isPrivate) return;
    const { submitted: position } = sequence;
    const { slot, checkpoints } = this.#of(sequence);
    // Those of the background are dropped first, and take no row of a conversation.
    const isSpaced = sequence.isBehind || this.#checkpoints.isSpaced(sequence, position);
    const row = this.#checkpoints.take(isSpaced);
    if (row === undefined) return;
    this.#memory.saveStates(slot, row);
    const isParting = position === this.#checkpoints.partingOf(sequence);
    checkpoints.push({ row, position, isSpaced, isParting });
  }

  /**
   * Puts the full blocks of a sequence into the prefix cache; all later steps may read what is submitted.
   * If the cache already has a block of the same tokens, the sequence uses that one. Blocks that were
   * computed while steps were tapped are not shared.
   */
  publish(sequence: Sequence): void {
    const held = this.#held.get(sequence);
    if (!held || sequence.isPrivate) return;
    this.#publishBlocks(sequence, held);
    const size = this.#executor.blockSize;
    const isKnown = ({ position }: Checkpoint) => position <= held.knownBlocks * size;
    for (const checkpoint of held.checkpoints.filter(isKnown)) {
      const block = held.blocks[checkpoint.position / size - 1];
      this.#checkpoints.add(block, checkpoint);
      if (checkpoint.isSpaced || checkpoint.isParting) continue;
      const { lastCheckpoint, answerCheckpoints } = held;
      if (lastCheckpoint !== undefined) this.#checkpoints.demote(lastCheckpoint);
      held.lastCheckpoint = block;
      if (checkpoint.position <= sequence.promptLength) continue;
      // Conversations continue at the end of an answer, or a little before if its last tokens are dropped.
      if (answerCheckpoints.push(block) > 2) this.#checkpoints.remove(answerCheckpoints.shift()!);
    }
    held.checkpoints = held.checkpoints.filter((checkpoint) => !isKnown(checkpoint));
  }

  #publishBlocks(sequence: Sequence, held: Holding): void {
    const { blocks } = held;
    const size = this.#executor.blockSize;
    const full = Math.floor(Math.min(sequence.submitted, sequence.tokens.length) / size);
    for (let i = held.knownBlocks; i < full; i++) {
      const keys = sequence.keys(i * size, (i + 1) * size);
      const known = this.#cache.find(blocks[i - 1], keys);
      if (known !== undefined) this.#exchange(held, i, known);
      // A fork may hold this block after different ones: a block is kept with all blocks before it.
      else if (this.#blocks.isShared(blocks[i])) return;
      else {
        this.#addKnown(blocks[i - 1], keys, blocks[i]);
        this.#blocks.place([blocks[i]], sequence.isBehind);
      }
      held.knownBlocks = i + 1;
    }
  }

  #exchange({ slot, blocks }: Holding, index: number, block: number): void {
    this.#blocks.share([block]);
    this.#blocks.give([blocks[index]]);
    blocks[index] = block;
    this.#memory.assignBlocks(slot, index, [block]);
  }

  /** Allocates blocks for the first `positions` positions; false if there are too few. */
  grow(sequence: Sequence, positions: number): boolean {
    const { slot, blocks } = this.#of(sequence);
    const missing = this.#executor.blocksFor(positions) - blocks.length;
    if (missing <= 0) return true;
    const more = this.#blocks.take(missing);
    if (!more) return false;
    this.#memory.assignBlocks(slot, blocks.length, more);
    blocks.push(...more);
    return true;
  }

  /**
   * Gives `fork`, a sequence without memory, the memory of `sequence`: whole blocks are shared, the rest
   * is copied. False, and nothing is done, if there is no slot or no block left. No step of `sequence`
   * may be under way.
   */
  fork(sequence: Sequence, fork: Sequence): boolean {
    const { slot, blocks, knownBlocks } = this.#of(sequence);
    const whole = Math.floor(sequence.submitted / this.#executor.blockSize);
    const filled = this.#executor.blocksFor(sequence.submitted);
    const shared = blocks.slice(0, whole);
    const copied = this.#freeSlots.length > 0 ? this.#blocks.take(filled - whole) : undefined;
    if (!copied) return false;
    this.#blocks.share(shared);
    fork.feedFrom(sequence.submitted);
    const held = this.#hold(fork, [...shared, ...copied], Math.min(knownBlocks, whole));
    this.#memory.copySequence(slot, held.slot, blocks.slice(whole, filled), copied);
    return true;
  }

  /**
   * Prepares a sequence for a step with a draft; false if the draft could not be undone, because there
   * is no row for a copy of the states.
   */
  beginDraft(sequence: Sequence): boolean {
    const held = this.#of(sequence);
    if (this.#memory.hasStates) {
      const row = this.#checkpoints.take(true);
      if (row === undefined) return false;
      this.#memory.saveStates(held.slot, row);
      held.beforeDraft = { row, position: sequence.submitted };
    }
    held.isDrafting = true;
    return true;
  }

  /**
   * Ends a draft, after which the host feeds the next token: the slot has one of the draft.
   *
   * @param right submitted positions that are right; if others were wrong, the sequence goes back, with
   *   states to where the draft began
   */
  endDraft(sequence: Sequence, right: number): void {
    const held = this.#of(sequence);
    const { beforeDraft } = held;
    const isUndone = beforeDraft !== undefined && right < sequence.submitted;
    if (isUndone) this.#memory.restoreStates(beforeDraft.row, held.slot);
    sequence.feedFrom(isUndone ? beforeDraft.position : right);
    this.#dropDraft(held);
  }

  #dropDraft(held: Holding): void {
    if (held.beforeDraft) this.#checkpoints.give(held.beforeDraft.row);
    held.beforeDraft = undefined;
    held.isDrafting = false;
  }

  /** Frees all memory of a sequence. Running commands may still use it, because later ones run after them. */
  release(sequence: Sequence): void {
    const held = this.#held.get(sequence);
    if (!held) return;
    this.#blocks.give(held.blocks);
    const { mainOfSession } = sequence;
    if (mainOfSession !== undefined) {
      this.#sessions.keep(mainOfSession, held.blocks.slice(0, held.knownBlocks));
    }
    this.#touchSession(sequence);
    this.#dropDraft(held);
    for (const { row } of held.checkpoints) this.#checkpoints.give(row);
    this.#freeSlots.push(held.slot);
    this.#held.delete(sequence);
    sequence.hold(NO_MEMORY);
    sequence.feedFrom(0);
  }
}
