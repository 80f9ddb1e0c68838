// The KV cache beyond the device: blocks that no sequence uses any more are copied to the system's memory
// and to disk, and are restored when a prompt begins with their tokens. They are copied as soon as they
// are idle, so that an eviction does not have to wait, and a restarted process finds them on disk. Where
// a block lies on the device is decided by the pool.

import { nextTask } from "../async.ts";
import {
  type BlockMemory,
  bytesOf,
  DiskStore,
  nameAfter,
  rootName,
  type StoredBlock,
} from "../block_store/mod.ts";
import type { TokenKey } from "../prompt/mod.ts";
import type { Checkpoints } from "./checkpoints.ts";
import type { Sequence } from "./sequence.ts";
import type { StepExecutor } from "./step_executor.ts";

/** Longest time for which closing a model waits for blocks that are not copied yet, in milliseconds. */
const LONGEST_FLUSH = 2000;

/** The stores for a model's blocks; there is at least one. */
export interface BlockTiers {
  /** A name for the model and everything else on which the content of its blocks depends. */
  readonly model: string;
  readonly memory?: BlockMemory;
  readonly disk?: DiskStore;
}

/** The blocks of a prompt that can be restored. */
export interface Restorable {
  /** The blocks that follow those on the device. */
  readonly blocks: readonly StoredBlock[];
  /** The states after the last of these blocks; undefined if the model has none. */
  readonly states?: Uint8Array<ArrayBufferLike> | undefined;
  /** Blocks from the beginning that the sequence is to start with. */
  readonly depth: number;
  /** Number of these blocks that were read from disk. */
  readonly fromDisk: number;
}

/** The blocks of a model beyond its device. */
export class Offload {
  readonly #executor: StepExecutor;
  readonly #checkpoints: Checkpoints;
  /** Undefined until it is known what the model is. */
  #tiers: BlockTiers | undefined;
  /** Names of the cached blocks on the device. */
  readonly #names = new Map<number, string>();
  /** Blocks that were read from disk for sequences that wait, by name. Missing: that was not tried yet. */
  readonly #fetched = new WeakMap<Sequence, Map<string, StoredBlock>>();
  /** Idle blocks that are to be copied. */
  readonly #unsaved = new Set<number>();
  #saving: Promise<void> | undefined;
  #saved = Promise.withResolvers<void>();
  #isClosed = false;

  constructor(executor: StepExecutor, checkpoints: Checkpoints) {
    this.#executor = executor;
    this.#checkpoints = checkpoints;
  }

  /** Whether blocks are kept and restored. */
  get isOpen(): boolean {
    return this.#tiers !== undefined;
  }

  /** Begins to keep and restore blocks. Those that there are get names when they are used again. */
  open(tiers: BlockTiers): void {
    if (!this.#isClosed) this.#tiers = tiers;
    else tiers.memory?.close();
  }

  /** Names a block that was added to the prefix cache. @param before the block before it */
  add(before: number | undefined, tokens: readonly TokenKey[], block: number): void {
    const name = this.#nameOf(before);
    if (name !== undefined) this.#names.set(block, nameAfter(name, tokens));
  }

  /** A block is idle: it is copied, unless that has been done. */
  idle(block: number): void {
    const name = this.#names.get(block);
    if (name === undefined || this.#isClosed || this.#isKept(block, name)) return;
    this.#unsaved.add(block);
    this.#saving ??= this.#save();
  }

  evicted(block: number): void {
    this.#names.delete(block);
    this.#unsaved.delete(block);
  }

  /** Settles when the next blocks are copied; undefined if none of these blocks is yet to be copied. */
  copied(blocks: readonly number[]): Promise<void> | undefined {
    return blocks.some((block) => this.#unsaved.has(block)) ? this.#saved.promise : undefined;
  }

  /**
   * Reads from disk the blocks of a sequence that follow those on the device.
   *
   * @returns undefined if there is nothing to read, or it has been read
   */
  fetch(sequence: Sequence, known: readonly number[]): Promise<void> | undefined {
    const disk = this.#tiers?.disk;
    if (!disk || this.#fetched.has(sequence)) return undefined;
    const names = this.#namesOf(sequence, known);
    const isThere = (name: string, i: number) =>
      i < known.length || this.#fromMemory(sequence, name) !== undefined || disk.has(name);
    const missing = names.findIndex((name, i) => !isThere(name, i));
    let depth = missing < 0 ? names.length : missing;
    if (this.#executor.memory.hasStates) {
      while (depth > 0 && !this.#hasStates(sequence, names[depth - 1]!, known[depth - 1])) depth--;
    }
    const wanted = names.slice(0, depth).filter((name, i) => {
      const stored = this.#fromMemory(sequence, name);
      const isLast = i === depth - 1 && this.#executor.memory.hasStates;
      if (isLast && !this.#hasCopy(known[i]) && !stored?.states) return disk.hasStates(name);
      return i >= known.length && !stored && disk.has(name);
    });
    const fetched = new Map<string, StoredBlock>();
    this.#fetched.set(sequence, fetched);
    return wanted.length > 0 ? this.#read(disk, wanted, fetched) : undefined;
  }

  /**
   * How many of the blocks of a text are kept in memory and on disk, given those that the device has, and
   * up to which block a prompt could go on from it.
   */
  kept(
    keys: readonly TokenKey[],
    known: readonly number[],
  ): { memory: number; disk: number; depth: number } {
    const { hasStates } = this.#executor.memory;
    const { memory, disk } = this.#tiers ?? {};
    const names = this.#tiers
      ? this.#chain(keys.length, (first, end) => keys.slice(first, end), known)
      : [];
    const inMemory = names.map((name) => memory?.get(name));
    const onDisk = names.map((name) => disk?.has(name) ?? false);
    let depth = known.length;
    while (depth < names.length && (inMemory[depth] || onDisk[depth])) depth++;
    const hasStatesAt = (i: number) =>
      this.#hasCopy(known[i]) || inMemory[i]?.states !== undefined ||
      (disk?.hasStates(names[i] ?? "") ?? false);
    while (hasStates && depth > 0 && !hasStatesAt(depth - 1)) depth--;
    const count = (kept: readonly unknown[]) => kept.filter(Boolean).length;
    return { memory: count(inMemory), disk: count(onDisk), depth };
  }

  /** Drops what was read for a sequence, which has its memory now. */
  forget(sequence: Sequence): void {
    this.#fetched.delete(sequence);
  }

  /**
   * The blocks that can be restored for a sequence, given those that the device has; undefined while
   * none are kept.
   */
  find(sequence: Sequence, known: readonly number[]): Restorable | undefined {
    const tiers = this.#tiers;
    if (!tiers) return undefined;
    const names = this.#namesOf(sequence, known);
    const blocks: StoredBlock[] = [];
    for (const name of names.slice(known.length)) {
      const stored = this.#stored(sequence, name);
      if (!stored) break;
      blocks.push(stored);
    }
    let depth = known.length + blocks.length;
    let states: Uint8Array<ArrayBufferLike> | undefined;
    if (this.#executor.memory.hasStates) {
      for (; depth > 0; depth--) {
        if (this.#hasCopy(known[depth - 1])) break;
        states = this.#stored(sequence, names[depth - 1]!)?.states;
        if (states) break;
      }
    }
    // Later blocks are useless without earlier ones, so earlier ones count as used more recently.
    const used = names.slice(0, depth);
    tiers.memory?.touch(used.toReversed());
    tiers.disk?.touch(used);
    const restored = blocks.slice(0, Math.max(0, depth - known.length));
    const isOfDisk = (_: StoredBlock, i: number) => !tiers.memory?.get(names[known.length + i]!);
    return { blocks: restored, states, depth, fromDisk: restored.filter(isOfDisk).length };
  }

  /** Copies the rest, as far as the time for closing a model allows, and ends. */
  async close(): Promise<void> {
    const { memory, disk } = this.#tiers ?? {};
    const all = async () => {
      while (this.#saving) await this.#saving;
      await disk?.flush();
    };
    let timer;
    const late = new Promise<void>((resolve) => timer = setTimeout(resolve, LONGEST_FLUSH));
    await Promise.race([all(), late]);
    clearTimeout(timer);
    this.#isClosed = true;
    this.#unsaved.clear();
    memory?.close();
  }

  async #save(): Promise<void> {
    for (;;) {
      await nextTask(); // The loop of steps goes first.
      await this.#tiers?.disk?.whenFree();
      const batch = this.#takeBatch();
      if (batch.length === 0) break;
      try {
        const read = this.#executor.blocks.read(batch);
        const blocks = await read;
        batch.forEach(({ name }, i) => this.#keep(name, blocks[i]!));
      } catch {
        // The device is lost, and the model with it.
        this.#unsaved.clear();
      } finally {
        this.#saved.resolve();
        this.#saved = Promise.withResolvers();
      }
    }
    // In the same turn as the last look for idle blocks, so that a later one begins anew.
    this.#saving = undefined;
  }

  /** The next blocks to copy, with their copies of states. From now on they may be evicted. */
  #takeBatch(): { block: number; row: number | undefined; name: string }[] {
    const batch: { block: number; row: number | undefined; name: string }[] = [];
    for (const block of this.#unsaved) {
      const row = this.#checkpoints.lastRowOf(block);
      if (batch.length === this.#executor.blocks.batch) break;
      this.#unsaved.delete(block);
      batch.push({ block, row, name: this.#names.get(block)! });
    }
    return batch;
  }

  #keep(name: string, block: StoredBlock): void {
    const { memory, disk } = this.#tiers ?? {};
    memory?.put(name, block);
    const isNew = !disk?.has(name) || (block.states !== undefined && !disk.hasStates(name));
    if (isNew) disk?.put(name, block);
  }

  /** Whether the stores have everything of a block that is to be kept. */
  #isKept(block: number, name: string): boolean {
    const { memory, disk } = this.#tiers ?? {};
    const needsStates = this.#checkpoints.lastRowOf(block) !== undefined;
    const stored = memory?.get(name);
    const isInMemory = !memory || (stored && (!needsStates || stored.states));
    const isOnDisk = !disk || (disk.has(name) && (!needsStates || disk.hasStates(name)));
    return Boolean(isInMemory && isOnDisk);
  }

  async #read(
    disk: DiskStore,
    names: readonly string[],
    fetched: Map<string, StoredBlock>,
  ): Promise<void> {
    for (const name of names) {
      const block = await disk.read(name);
      if (!block) return; // without it, later ones are useless
      if (bytesOf(block) === 0 || this.#fits(block)) fetched.set(name, block);
    }
  }

  /** Whether a block has the right sizes, because files cannot be trusted. */
  #fits({ cached, states }: StoredBlock): boolean {
    const { blockBytes, stateBytes } = this.#executor.blocks;
    return cached.length === blockBytes && (states ?? { length: stateBytes }).length === stateBytes;
  }

  #stored(sequence: Sequence, name: string): StoredBlock | undefined {
    const stored = this.#fromMemory(sequence, name);
    return stored && this.#fits(stored) ? stored : undefined;
  }

  /** The block in memory; with states, if one of those that there are has any. */
  #fromMemory(sequence: Sequence, name: string): StoredBlock | undefined {
    const kept = this.#tiers?.memory?.get(name);
    const fetched = this.#fetched.get(sequence)?.get(name);
    return kept?.states ? kept : fetched?.states ? fetched : kept ?? fetched;
  }

  #hasCopy(block: number | undefined): boolean {
    return block !== undefined && this.#checkpoints.has(block);
  }

  #hasStates(sequence: Sequence, name: string, block: number | undefined): boolean {
    return this.#hasCopy(block) || this.#fromMemory(sequence, name)?.states !== undefined ||
      (this.#tiers?.disk?.hasStates(name) ?? false);
  }

  /** The name of a block, or that before the first one; undefined if it has none yet. */
  #nameOf(block: number | undefined): string | undefined {
    if (block !== undefined) return this.#names.get(block);
    return this.#tiers && rootName(this.#tiers.model);
  }

  /** Names of the full blocks of a sequence's tokens, without the last token, which has to run. */
  #namesOf(sequence: Sequence, known: readonly number[]): string[] {
    return this.#chain(
      sequence.tokens.length - 1,
      (first, end) => sequence.keys(first, end),
      known,
    );
  }

  /** Names of the full blocks of a text, of which the device has the first ones. */
  #chain(
    length: number,
    keys: (first: number, end: number) => readonly TokenKey[],
    known: readonly number[],
  ): string[] {
    const { blockSize } = this.#executor;
    const names: string[] = [];
    let name = this.#nameOf(undefined)!;
    for (let i = 0; (i + 1) * blockSize <= length; i++) {
      const own = i < known.length ? this.#names.get(known[i]!) : undefined;
      name = own ?? nameAfter(name, keys(i * blockSize, (i + 1) * blockSize));
      // It was filled before it was known what the model is.
      if (i < known.length && own === undefined) this.#names.set(known[i]!, name);
      names.push(name);
    }
    return names;
  }
}
