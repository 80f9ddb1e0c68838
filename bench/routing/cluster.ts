// A simulation of nodes that serve one model: each reads prompts in chunks and writes the answers of a
// batch, one step after the other, and keeps prefixes in blocks, of which the one unused for longest
// goes first, as engine/run does. Times come from three figures of a node, which are measured elsewhere.

import type { Arrival, Piece } from "./trace.ts";

/** A kind of node. */
export interface NodeKind {
  readonly name: string;
  /** Prompt tokens in a second. */
  readonly prefill: number;
  /** Seconds of a step that writes one token, and what each further sequence of the batch adds. */
  readonly step: number;
  readonly sequence: number;
  /** Most sequences at a time. */
  readonly slots: number;
  /** Tokens that the KV cache holds. */
  readonly cache: number;
}

/** Tokens of a block. */
const BLOCK = 16;
/** Most prompt tokens of a step. */
const CHUNK = 512;

/** A request on a node. */
interface Job {
  readonly arrival: Arrival;
  /** Prompt tokens that were in the cache. */
  cached: number;
  /** Prompt tokens to read, and answer tokens to write. */
  unread: number;
  unwritten: number;
  firstAt?: number;
}

/** What a request found. */
export interface Outcome {
  readonly prompt: number;
  readonly cached: number;
  /** Seconds to the first token, and to the last. */
  readonly first: number;
  readonly whole: number;
}

const known = new WeakMap<readonly Piece[], string[]>();

/** The blocks of a prompt: each is named by all that comes before it. */
export function blocksOf(pieces: readonly Piece[]): string[] {
  const blocks = known.get(pieces) ?? splitBlocks(pieces);
  known.set(pieces, blocks);
  return blocks;
}

function splitBlocks(pieces: readonly Piece[]): string[] {
  const blocks: string[] = [];
  let length = 0;
  for (const piece of pieces) {
    length += piece.length;
    // A piece's id names all before it, too: it belongs to one conversation, or to nobody before.
    while ((blocks.length + 1) * BLOCK <= length) blocks.push(`${piece.id}:${blocks.length}`);
  }
  return blocks;
}

/** A node. */
export class Node {
  readonly kind: NodeKind;
  readonly outcomes: Outcome[] = [];
  /** In the order of their last use. */
  readonly #blocks = new Set<string>();
  #waiting: Job[] = [];
  #running: Job[] = [];
  /** When its step ends; undefined while it has nothing to do. */
  stepEnd: number | undefined;

  constructor(kind: NodeKind) {
    this.kind = kind;
  }

  /** Requests that run or wait. */
  get load(): number {
    return this.#waiting.length + this.#running.length;
  }

  /** How many of these blocks, from the first on, it has. */
  match(blocks: readonly string[]): number {
    const missing = blocks.findIndex((block) => !this.#blocks.has(block));
    return missing < 0 ? blocks.length : missing;
  }

  add(arrival: Arrival, now: number): void {
    this.#waiting.push({ arrival, cached: 0, unread: 0, unwritten: arrival.answer.length });
    this.stepEnd ??= now;
  }

  /** Ends a step and begins the next one. */
  advance(now: number): void {
    for (const job of this.#running) {
      if (job.unread > 0) continue;
      if (job.firstAt === undefined) job.firstAt = now;
      if (--job.unwritten <= 0) this.#finish(job, now);
    }
    this.#running = this.#running.filter(({ unwritten }) => unwritten > 0);
    while (this.#waiting.length > 0 && this.#running.length < this.kind.slots) this.#admit();
    if (this.#running.length === 0) {
      this.stepEnd = undefined;
      return;
    }
    this.stepEnd = now + this.#read() + this.#stepSeconds();
  }

  #admit(): void {
    const job = this.#waiting.shift()!;
    const blocks = blocksOf(job.arrival.pieces);
    const prompt = lengthOf(job.arrival);
    // The last token is always read, for its logits.
    job.cached = Math.min(this.match(blocks) * BLOCK, prompt - 1);
    job.unread = prompt - job.cached;
    this.#keep(blocks);
    this.#running.push(job);
  }

  /** Reads prompts for one step. Gives the seconds it takes. */
  #read(): number {
    let rows = CHUNK;
    for (const job of this.#running) {
      const read = Math.min(rows, job.unread);
      job.unread -= read;
      rows -= read;
    }
    return (CHUNK - rows) / this.kind.prefill;
  }

  #stepSeconds(): number {
    const writing = this.#running.filter(({ unread }) => unread === 0).length;
    return writing === 0 ? 0 : this.kind.step + this.kind.sequence * (writing - 1);
  }

  #finish({ arrival, cached, firstAt }: Job, now: number): void {
    this.outcomes.push({
      prompt: lengthOf(arrival),
      cached,
      first: firstAt! - arrival.at,
      whole: now - arrival.at,
    });
    this.#keep(splitBlocks([...arrival.pieces, arrival.answer]));
  }

  #keep(blocks: readonly string[]): void {
    // The end of a prompt goes before its beginning, which others may share.
    for (const block of blocks.toReversed()) {
      this.#blocks.delete(block);
      this.#blocks.add(block);
    }
    const most = this.kind.cache / BLOCK;
    for (const block of this.#blocks) {
      if (this.#blocks.size <= most) break;
      this.#blocks.delete(block);
    }
  }
}

/** Tokens of a prompt. */
export function lengthOf({ pieces }: Pick<Arrival, "pieces">): number {
  return pieces.reduce((sum, { length }) => sum + length, 0);
}

/** Chooses the node of a request. */
export type Policy = (nodes: readonly Node[], arrival: Arrival, index: number) => Node;

/** Runs a trace on so many nodes. */
export function simulate(
  trace: readonly Arrival[],
  kind: NodeKind,
  count: number,
  policy: Policy,
): Outcome[] {
  const nodes = Array.from({ length: count }, () => new Node(kind));
  const end = (node: Node) => node.stepEnd ?? Infinity;
  for (let index = 0;;) {
    const next = nodes.reduce((first, node) => end(node) < end(first) ? node : first);
    const arrival = trace[index];
    if (arrival && arrival.at <= end(next)) {
      policy(nodes, arrival, index++).add(arrival, arrival.at);
    } else if (next.stepEnd === undefined) {
      return nodes.flatMap(({ outcomes }) => outcomes);
    } else {
      next.advance(next.stepEnd);
    }
  }
}
