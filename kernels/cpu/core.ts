// What all operations of a CPU device share: its memories, its threads, the kernels of each weight
// format, and scratch memory for single operations.

import {
  type BoundKernel,
  type KeptCalls,
  type KernelCall,
  type Kernels,
  operationOf,
  wordsOf,
} from "./calls.ts";
import type { FileBytes } from "../../host/mod.ts";
import { ArgumentRing } from "./argument_ring.ts";
import { activationBytes, QUANTIZE_ARGUMENTS } from "./quantize/kernel.ts";
import { type DotProduct, probeDotProduct } from "./dot_product.ts";
import { isFloatFormat } from "./linear/float_kernel.ts";
import { joinsVectors } from "./engine_features.ts";
import { BAND, bandBytes, type CpuFormat } from "./formats/mod.ts";
import { type PackedSide, type Packer, type PackShape, unitBytes } from "./matrix.ts";
import {
  CacheMemories,
  type CpuBuffer,
  dryBuffer,
  giveBuffer,
  SharedMemory,
  takeBuffer,
  WeightMemories,
  wholeLines,
} from "./memory.ts";
import { WEIGHTS, WORK } from "./instances.ts";
import { commonModule, compiledModule, formatModule } from "./modules.ts";
import { FLOAT_PACK_ARGUMENTS, PACK_ARGUMENTS } from "./pack.ts";
import { FilePacking } from "./pack_file.ts";
import { CpuError, ThreadPool } from "./pool.ts";
import type { BuiltStep } from "./step.ts";
import { multipliesInPlace, panelsReadWide, readsWide } from "./linear/kernel.ts";

/** Bytes after the last row that packing may read. */
const MOST_READ_PAST = 16;

/** The bits of a float as a word, for arguments. */
export function floatBits(value: number): number {
  return new Int32Array(Float32Array.of(value).buffer)[0]!;
}

/** Thrown when the rest of a step is skipped, and caught where the step was begun. */
const LEFT_OUT = new CpuError("Cannot finish the step: nobody wants it any more");

/** Bytes of the arguments of kernels that wait to be run together. */
const ARGUMENT_BYTES = 2 ** 20;

/**
 * The kernels of a dry device, which runs nothing. Making kernels would take longer than the rest
 * of an estimate.
 */
const NO_KERNELS: Kernels = {};

/** What a step did while it was built. */
export interface StepNotes {
  /** The host's part of it: true if its kernels can stay what they are. */
  readonly works: (() => boolean)[];
  /** Whether all its calls would be the same again. */
  isSame: boolean;
}

/** A step that was kept, while its arguments are there. */
export interface KeptStep {
  readonly step: BuiltStep;
  readonly hasArguments: () => boolean;
}

/** The parts of an open device. */
export class CpuCore implements Packer {
  readonly work = new SharedMemory();
  readonly machine: DotProduct = probeDotProduct();
  /** Whether the engine joins neighbouring vectors. */
  readonly joins = joinsVectors();
  readonly #weights = new WeightMemories();
  /** Memories of keys and values. */
  readonly caches = new CacheMemories();
  readonly #modules = new Map<string, Kernels>();
  /** The kernels of `commonModule`. */
  readonly common: Kernels;
  readonly #arguments: CpuBuffer;
  readonly #keptArguments = new ArgumentRing(this.work, ARGUMENT_BYTES);
  #argumentWords = 0;
  /** Whether kernels are being collected to run together. */
  #waits = false;
  #isUnwanted: (() => boolean) | undefined;
  /** Takes notes of the step that is being built. */
  #notes: StepNotes | undefined;
  readonly #kept = new Map<string, CpuBuffer>();
  #temporary: CpuBuffer | undefined;
  #results: CpuBuffer | undefined;
  /** How often `temporary` or `results` became another piece of memory. */
  moves = 0;
  /** How often there were no calls left that wait. */
  flushes = 0;
  readonly #expected = { temporary: 0, results: 0 };
  readonly #expertInputs = new WeakSet<CpuBuffer>();
  readonly pool = new ThreadPool();
  /** Why threads did not start, if they did not. */
  fault: Error | undefined;
  /** Milliseconds in kernels so far; undefined while they are not measured. */
  #inKernels: number | undefined;

  /** @param isDry whether nothing is ever run, so that weights need no memory */
  constructor(readonly isDry = false) {
    this.common = this.kernels("common", () => commonModule(this.machine, this.joins));
    this.#arguments = takeBuffer(this.work, "arguments", ARGUMENT_BYTES);
  }

  /**
   * Starts threads. Until they are there, the host computes alone. If the host is a worker, Deno
   * takes a second to start a thread, since it waits for a debugger: longer than a small model
   * takes to load and answer.
   *
   * @param threads number of threads, including the host's
   */
  startThreads(threads: number): Promise<void> {
    return this.pool.start(threads);
  }

  /** Ends the threads, including those that are being started. */
  close(): Promise<void> {
    return this.pool.close();
  }

  temporary(bytes: number): CpuBuffer {
    if (this.#temporary && this.#temporary.size >= bytes) return this.#temporary;
    this.flush(); // waiting calls contain its address
    this.moves++;
    if (this.#temporary) giveBuffer(this.work, this.#temporary);
    return this.#temporary = takeBuffer(this.work, "temporary", bytes);
  }

  /** Records the most bytes that `temporary` and `results` have to give to an operation. */
  expect({ temporary = 0, results = 0 }: { temporary?: number; results?: number }): void {
    this.#expected.temporary = Math.max(this.#expected.temporary, temporary);
    this.#expected.results = Math.max(this.#expected.results, results);
  }

  /** Bytes of the working memory that are taken, or will be during steps. */
  get workingBytes(): number {
    const { temporary, results } = this.#expected;
    const missing = (wanted: number, has = 0) => Math.max(0, wanted - has);
    return this.work.taken + missing(temporary, this.#temporary?.size) +
      missing(results, this.#results?.size);
  }

  /** Memory that keeps its content: one piece for each label and size. */
  kept(label: string, bytes: number): CpuBuffer {
    const key = `${label} ${bytes}`;
    let buffer = this.#kept.get(key);
    if (!buffer) {
      const make = this.isDry ? dryBuffer : takeBuffer;
      this.#kept.set(key, buffer = make(this.work, label, bytes));
    }
    return buffer;
  }

  /**
   * Memory for the results of products, separate from `temporary`, which later operations may use.
   */
  results(bytes: number): CpuBuffer {
    if (this.#results && this.#results.size >= bytes) return this.#results;
    this.flush(); // waiting calls contain its address
    this.moves++;
    if (this.#results) giveBuffer(this.work, this.#results);
    return this.#results = takeBuffer(this.work, "results", bytes);
  }

  /** The kernel that quantizes rows of f32 to int8 groups: [rows, groups]. An item is a row. */
  quantizing(from: CpuBuffer, to: CpuBuffer, rows: number, groups: number): BoundKernel {
    const [narrow, wide] = [to.address, this.#needsWide(to, rows) ? this.wideAddress(to) : 0];
    const values = { x: from.address, tokens: rows, narrow, wide, groups };
    const words = QUANTIZE_ARGUMENTS.map((name) => values[name]);
    return { kernels: this.common, name: "quantize", arguments: words };
  }

  /** Records that products with experts read these groups, each expert any number of rows. */
  readByExperts(groups: CpuBuffer): void {
    this.#expertInputs.add(groups);
  }

  /** Whether the second form of so many rows is read, as products without panels do, and panels may. */
  #needsWide(groups: CpuBuffer, rows: number): boolean {
    const panelsNever = this.machine === "pairs" && this.joins;
    return !panelsNever || multipliesInPlace(rows) || this.#expertInputs.has(groups);
  }

  /** Bytes of an int8 group in both forms that products may read. */
  get groupBytes(): number {
    return activationBytes(false) + (this.usesWide ? activationBytes(true) : 0);
  }

  /** Whether some products of this machine read the second form of activations. */
  get usesWide(): boolean {
    return this.machine === "pairs" || this.machine === "widened";
  }

  /** The address of the wide form of a buffer of int8 groups; 0 if it has none. */
  wideAddress({ address, size }: CpuBuffer): number {
    if (!this.usesWide) return 0;
    const groups = Math.floor(size / this.groupBytes);
    return address + groups * activationBytes(false);
  }

  /** The addresses from which a format's products read activations, of few tokens and of many. */
  inputAddresses(format: CpuFormat, groups: CpuBuffer): { few: number; many: number } {
    if (isFloatFormat(format)) return { few: groups.address, many: groups.address };
    const addressOf = (isWide: boolean) => isWide ? this.wideAddress(groups) : groups.address;
    return {
      few: addressOf(readsWide(format, this.machine, this.joins)),
      many: addressOf(panelsReadWide(format, this.machine, this.joins)),
    };
  }

  /** The kernels of a format over a memory of weights. */
  formatKernels(format: CpuFormat, memory: number): Kernels {
    // Without weights there is no memory of weights.
    if (this.isDry) return NO_KERNELS;
    return this.kernels(
      `format ${format.source.name}`,
      () => formatModule(format, this.machine, this.joins),
      { [WEIGHTS]: this.#weights.at(memory) },
    );
  }

  /**
   * The kernels of a module, which is built when its name is first asked for.
   *
   * @param name what the module does, and everything that its bytes depend on besides the machine
   * @param others memories that it imports besides the working memory
   */
  kernels(
    name: string,
    build: () => Uint8Array<ArrayBuffer>,
    others: Record<string, SharedMemory> = {},
  ): Kernels {
    if (this.isDry) return NO_KERNELS;
    const key = [name, ...Object.values(others).map(({ number }) => number)].join(" ");
    let kernels = this.#modules.get(key);
    if (!kernels) {
      const module = compiledModule(name, build);
      const memories: Record<string, WebAssembly.Memory> = { [WORK]: this.work.memory };
      for (const [as, { memory }] of Object.entries(others)) memories[as] = memory;
      this.#modules.set(key, kernels = this.pool.load({ module, memories }));
    }
    return kernels;
  }

  /**
   * Runs kernels that are independent of each other, after all that were run before. Between
   * {@linkcode CpuCore.together} and the next flush they are collected, so that threads run them in
   * one step.
   *
   * @param isSame whether the calls would be the same if the step were built again
   */
  run(calls: readonly KernelCall[], isSame = false): void {
    if (this.#notes && !isSame) this.#notes.isSame = false;
    for (const call of calls) {
      // Before the arguments are written: what is flushed leaves their memory to the next ones.
      const isFull = 4 * (this.#argumentWords + wordsOf(call)) > this.#arguments.size;
      if (isFull || !this.pool.hasRoom) this.flush();
      this.pool.add(operationOf(call, (words) => this.#recordOf(words)));
    }
    this.#endPhase();
  }

  /** run() phase by phase, of calls whose arguments are in memory of their own. */
  runKept({ phases }: KeptCalls): void {
    for (const operations of phases) {
      for (let i = 0; i < operations.length; i++) {
        if (!this.pool.hasRoom) this.flush();
        this.pool.add(operations[i]!);
      }
      this.#endPhase();
    }
  }

  /** Whether the step that is being built may be kept: its arguments are to lie together. */
  get isNoting(): boolean {
    return this.#notes !== undefined;
  }

  /** What `build` notes of the step that it builds. */
  noting(build: () => void): StepNotes {
    const notes = this.#notes = { works: [], isSame: true };
    try {
      build();
      return notes;
    } finally {
      this.#notes = undefined;
    }
  }

  /** Keeps the step of all calls that wait; undefined if its arguments have no room. */
  keepStep(): KeptStep | undefined {
    const { address, words } = this.#arguments;
    const own = this.#keptArguments.write(words.subarray(0, this.#argumentWords));
    if (!own) return undefined;
    return { step: this.pool.keep(own.address - address), hasArguments: own.isThere };
  }

  /** Notes the host's part of a step, for when that is run again: true if its kernels can stay what they are. */
  note(work: () => boolean): void {
    this.#notes?.works.push(work);
  }

  /** Does the host's part of a step, on which no count depends, and notes it. */
  byHost(work: () => void): void {
    work();
    this.note(() => (work(), true));
  }

  /** Writes the arguments of calls into memory, which is that of other ones if it is large enough. */
  keep(phases: readonly (readonly KernelCall[])[], memory?: CpuBuffer): KeptCalls {
    const words = phases.flat().reduce((sum, call) => sum + wordsOf(call), 0);
    let own = memory;
    if (!own || own.size < 4 * words) {
      if (own) giveBuffer(this.work, own);
      own = takeBuffer(this.work, "arguments of kept calls", 4 * words);
    }
    const { address, words: to } = own;
    let at = 0;
    const write = (words: readonly number[]) => {
      to.set(words, at);
      at += words.length;
      return address + 4 * (at - words.length);
    };
    const operations = phases.map((calls) => calls.map((call) => operationOf(call, write)));
    return { phases: operations, memory: own };
  }

  #endPhase(): void {
    this.pool.endPhase();
    if (!this.#waits) this.flush();
  }

  /** Writes the arguments of a kernel that waits; returns their address. */
  #recordOf(words: readonly number[]): number {
    const first = this.#argumentWords;
    for (let i = 0; i < words.length; i++) this.#arguments.words[first + i] = words[i]!;
    this.#argumentWords += words.length;
    return this.#arguments.address + 4 * first;
  }

  /** Runs `work`, and skips the rest of its kernels once it is not wanted any more. */
  unless(isUnwanted: () => boolean, work: () => void): void {
    this.#isUnwanted = isUnwanted;
    try {
      work();
    } finally {
      this.#isUnwanted = undefined;
    }
  }

  /** Collects the kernels that `work` runs, to run them together. */
  together(work: () => void): void {
    this.#waits = true;
    try {
      work();
      this.flush();
    } catch (error) {
      if (error !== LEFT_OUT) throw error;
    } finally {
      this.#waits = false;
      this.#clear();
    }
  }

  /** Runs the collected kernels. To be called before the host reads their results. */
  flush(): void {
    const { pool } = this;
    if (pool.operations === 0) return;
    this.#argumentWords = 0;
    this.flushes++;
    const started = this.#inKernels === undefined ? 0 : performance.now();
    const isDone = pool.run(this.#isUnwanted);
    if (this.#inKernels !== undefined) this.#inKernels += performance.now() - started;
    if (!isDone) throw LEFT_OUT;
  }

  #clear(): void {
    this.pool.clear();
    this.#argumentWords = 0;
    this.flushes++;
  }

  /** Runs work, and returns the milliseconds that it spent in kernels. */
  timed(work: () => void): number {
    this.#inKernels = 0;
    try {
      work();
      return this.#inKernels;
    } finally {
      this.#inKernels = undefined;
    }
  }

  reserve(format: CpuFormat, shape: PackShape): PackedSide {
    const bytes = unitBytes(format, shape);
    if (this.isDry) return { memory: 0, address: 0, unitBytes: bytes };
    const { memory, address } = this.#weights.take(wholeLines(shape.rows / shape.unit * bytes));
    return { memory, address, unitBytes: bytes };
  }

  staging(bytes: number): Uint8Array<SharedArrayBuffer> {
    return this.temporary(bytes + MOST_READ_PAST).bytes.subarray(0, bytes);
  }

  pack(
    format: CpuFormat,
    shape: PackShape,
    to: PackedSide,
    first: number,
    rows: Uint8Array,
  ): void {
    const count = rows.length / shape.rowBytes;
    const packing = this.#packing(format, shape, to, { first, count });
    const words = [rows.byteOffset, ...packing.words];
    const { kernels, items } = packing;
    this.run([{ kernels, name: "pack", arguments: words, items }]);
  }

  packFile(
    format: CpuFormat,
    shape: PackShape,
    to: PackedSide,
    rows: { first: number; count: number },
    file: FileBytes,
  ): boolean {
    const { kernels, words, items } = this.#packing(format, shape, to, rows);
    const packing = new FilePacking(file, shape.rowBytes, this.pool.threads);
    const memory = this.temporary(packing.bytes(MOST_READ_PAST)).bytes;
    const given = packing.write(memory, MOST_READ_PAST, [0, ...words]);
    const { grain } = packing;
    try {
      this.run([{ kernels, name: "pack_file", arguments: given, items, grain }]);
      return true;
    } catch (error) {
      // Such as a file that was replaced, or one more than may be open: who has it open reads on.
      if (error instanceof CpuError) return false;
      throw error;
    }
  }

  /** How rows are packed: the arguments after the place of the rows, and the number of bands. */
  #packing(
    format: CpuFormat,
    { unit, blocks, columns, rowBytes }: PackShape,
    to: PackedSide,
    { first, count }: { first: number; count: number },
  ): { kernels: Kernels; words: number[]; items: number } {
    const kernels = this.formatKernels(format, to.memory);
    const units = Math.floor(first / unit);
    const bands = (first - units * unit) / BAND;
    const values = {
      zeros: this.kept("row of zeros", rowBytes).address,
      to: to.address + units * to.unitBytes + bands * bandBytes(format, blocks),
      rows: count,
      blocks,
      groups: blocks,
      columns,
    };
    const [, ...names] = isFloatFormat(format) ? FLOAT_PACK_ARGUMENTS : PACK_ARGUMENTS;
    return { kernels, words: names.map((name) => values[name]), items: Math.ceil(count / BAND) };
  }
}
