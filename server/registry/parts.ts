// How a blob is cut into parts that are downloaded side by side, and the note of each part's
// progress beside the partial file. Names and JSON are those of Ollama (server/download.go), so that
// either program can continue a download of the other.

import { basename, dirname, join } from "node:path";

/** Progress of a part, in bytes, as it is written. */
export interface PartRecord {
  /** Number of the part, which names the file of the record. */
  N: number;
  Offset: number;
  Size: number;
  /** Bytes from the offset on that are in the partial file. */
  Completed: number;
}

/**
 * The length of every record. A new record overwrites the old one completely, so the file is never
 * empty, and after a crash it has the old record or the new one.
 */
const RECORD_BYTES = 128;

/** The parts of a blob of `total` bytes: the recorded ones, and new ones for the gaps between them. */
export function planParts(
  total: number,
  partBytes: number,
  known: readonly PartRecord[] = [],
): PartRecord[] {
  const parts = usable(known, total) ? known.toSorted((a, b) => a.Offset - b.Offset) : [];
  let next = Math.max(-1, ...parts.map(({ N }) => N)) + 1;
  const planned: PartRecord[] = [];
  let offset = 0;
  for (const part of [...parts, undefined]) {
    const gapEnd = part?.Offset ?? total;
    for (; offset < gapEnd; offset += partBytes) {
      const Size = Math.min(partBytes, gapEnd - offset);
      planned.push({ N: next++, Offset: offset, Size, Completed: 0 });
    }
    if (part) planned.push({ ...part });
    offset = part ? part.Offset + part.Size : total;
  }
  return planned;
}

/** Bytes that the records beside a partial file say are there. */
export async function recordedBytes(partialPath: string): Promise<number> {
  const records = await readRecords(partialPath);
  return records.reduce((sum, { Completed }) => sum + (Number(Completed) || 0), 0);
}

/** Reads the records beside a partial file; those that are damaged are left out. */
export async function readRecords(partialPath: string): Promise<PartRecord[]> {
  const records: PartRecord[] = [];
  for (const path of await recordPaths(partialPath)) {
    const text = await Deno.readTextFile(path).catch(() => "");
    try {
      const record: PartRecord | null = JSON.parse(text);
      if (record) records.push(record);
    } catch {
      // Its part is downloaded anew.
    }
  }
  return records;
}

export async function writeRecord(partialPath: string, part: PartRecord): Promise<void> {
  const { N, Offset, Size, Completed } = part;
  const text = JSON.stringify({ N, Offset, Size, Completed }).padEnd(RECORD_BYTES - 1) + "\n";
  using file = await Deno.open(`${partialPath}-${N}`, { write: true, create: true });
  await file.write(new TextEncoder().encode(text));
}

/** Removes all records beside a partial file. */
export async function removeRecords(partialPath: string): Promise<void> {
  for (const path of await recordPaths(partialPath)) await Deno.remove(path).catch(() => {});
}

async function recordPaths(partialPath: string): Promise<string[]> {
  const folder = dirname(partialPath);
  const prefix = `${basename(partialPath)}-`;
  const paths: string[] = [];
  for await (const { name } of Deno.readDir(folder)) {
    if (name.startsWith(prefix) && /^\d+$/.test(name.slice(prefix.length))) {
      paths.push(join(folder, name));
    }
  }
  return paths;
}

/** Whether the records are valid: whole numbers within the file, and no two parts overlap. */
function usable(records: readonly PartRecord[], total: number): boolean {
  let end = 0;
  const numbers = new Set<number>();
  for (const part of records.toSorted((a, b) => a.Offset - b.Offset)) {
    const { N, Offset, Size, Completed } = part;
    if (![N, Offset, Size, Completed].every((value) => Number.isSafeInteger(value) && value >= 0)) {
      return false;
    }
    if (Offset < end || Size === 0 || Completed > Size || numbers.has(N)) return false;
    numbers.add(N);
    end = Offset + Size;
  }
  return end <= total;
}

// Concurrent work: a bound on how much runs at the same time, and one failure that ends all of it.

/** A semaphore: bounds how many run at the same time, first come, first served. */
export class Semaphore {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  /** @param count how many may run at the same time */
  constructor(count: number) {
    this.#free = count;
  }

  /** Runs `work` as soon as fewer than that many run. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free++;
    }
  }
}

/**
 * Works on all items, at most `limit` at once. The first failure aborts the signal of the others,
 * and is thrown once these have ended, so that no work goes on afterwards.
 */
export async function forEachParallel<T>(
  items: readonly T[],
  limit: number,
  parent: AbortSignal,
  work: (item: T, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const failure = new AbortController();
  const signal = AbortSignal.any([parent, failure.signal]);
  const queue = items.values();
  const runLane = async () => {
    for (const item of queue) {
      signal.throwIfAborted();
      await work(item, signal);
    }
  };
  const lanes = Array.from(
    { length: Math.min(limit, items.length) },
    () =>
      runLane().catch((error) => {
        failure.abort(error);
      }),
  );
  await Promise.all(lanes);
  signal.throwIfAborted();
}
