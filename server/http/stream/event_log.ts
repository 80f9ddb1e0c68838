// What streams have sent, kept so that a client whose connection was lost gets the rest: a log for each
// answer, which the generation writes whether or not anybody listens, and all logs of a server, bounded
// in memory and in time. Knows bytes, and where events begin; no API and no HTTP.

import { HttpError } from "../errors.ts";

/** The bounds of logs. */
export interface EventLogLimits {
  /** Most bytes of one log; beyond that its beginning is dropped. */
  log: number;
  /** Most bytes of all logs together. */
  all: number;
  /** Most logs of answers that have ended. */
  ended: number;
  /** How long a log is kept after its answer has ended, in milliseconds. */
  age: number;
}

const LIMITS: EventLogLimits = {
  log: 4 * 2 ** 20,
  all: 64 * 2 ** 20,
  ended: 256,
  age: 600_000,
};

/** About how many bytes an entry takes besides its text. */
const OVERHEAD = 128;
/** Entries that were dropped from the front of a log before the array is cut. */
const MOST_HOLES = 1024;

/** A piece of a stream: an event, or a comment, which has no number. */
interface Entry {
  bytes: Uint8Array;
  /** Where it begins in the stream, in bytes. */
  offset: number;
  /** How many events come before it. */
  number: number;
}

/** From where a client reads. */
export type LogPosition =
  & ({ /** The number of the last event that it has, from 0. */ after: number } | {
    /** How many bytes it has. */
    from: number;
  })
  & { /** The member of its request that says so, for errors. */ member?: string };

/** The stream of one answer, as far as it exists. It has one writer and any number of readers. */
export class EventLog {
  /** When it was begun, and when its answer ended. Milliseconds since 1970. */
  readonly began = Date.now();
  ended: number | undefined;
  readonly #limits: EventLogLimits;
  readonly #abort = new AbortController();
  #entries: Entry[] = [];
  /** Index of the first entry that is kept, and the number that index 0 had at first. */
  #first = 0;
  #cut = 0;
  /** Bytes and events so far, with those that were dropped; and the bytes that are held. */
  #size = 0;
  #events = 0;
  #held = 0;
  #failure: unknown;
  #change = Promise.withResolvers<void>();

  /** @param state tells what the answer is so far, as its API has it */
  constructor(limits: Partial<EventLogLimits> = {}, readonly state: () => unknown = () => {}) {
    this.#limits = { ...LIMITS, ...limits };
  }

  /** Aborts when nobody wants the answer any more. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Bytes of the stream so far. */
  get size(): number {
    return this.#size;
  }

  /** Events of the stream so far: the number of the next one. */
  get events(): number {
    return this.#events;
  }

  /** Bytes of memory that it takes. */
  get held(): number {
    return this.#held;
  }

  /** Makes the answer end. Its writer ends the log. */
  cancel(): void {
    this.#abort.abort();
  }

  /** Adds an event, or a comment, as it is sent. After the end it is dropped. */
  add(bytes: Uint8Array, isEvent: boolean): void {
    if (this.ended !== undefined) return;
    this.#entries.push({ bytes, offset: this.#size, number: this.#events });
    this.#size += bytes.length;
    if (isEvent) this.#events++;
    this.#held += bytes.length + OVERHEAD;
    while (this.#held > this.#limits.log && this.#first < this.#entries.length - 1) {
      this.dropOldest();
    }
    this.#tell();
  }

  /** Drops the first entry that is kept; returns whether there was one. */
  dropOldest(): boolean {
    const oldest = this.#entries[this.#first];
    if (!oldest) return false;
    this.#held -= oldest.bytes.length + OVERHEAD;
    this.#first++;
    if (this.#first > MOST_HOLES) {
      this.#entries.splice(0, this.#first);
      this.#cut += this.#first;
      this.#first = 0;
    }
    return true;
  }

  /** Ends the log, with the error by which readers learn that the answer is not complete. */
  end(failure?: unknown): void {
    if (this.ended !== undefined) return;
    this.ended = Date.now();
    this.#failure = failure;
    this.#tell();
  }

  /** Settles when the log has ended. */
  async whenEnded(): Promise<void> {
    while (this.ended === undefined) await this.#change.promise;
  }

  /**
   * Reads the stream from a position on: what there is, and what is still to come. Each reader gets each
   * byte behind its position once.
   *
   * @throws {HttpError} at once, 400 if the position is beyond the end of the stream so far, or before
   *   what is kept; while it is read, 503 if the reader is so slow that what it wants is dropped
   */
  read(position: LogPosition): AsyncGenerator<Uint8Array> {
    const { from, number } = this.#locate(position);
    return this.#follow(from, number);
  }

  /** The position in bytes, and the first event that the client does not have. */
  #locate(position: LogPosition): { from: number; number: number } {
    const [asked, most, unit] = "after" in position
      ? [position.after + 1, this.#events, "events"]
      : [position.from, this.#size, "bytes"];
    if (asked > most) {
      const state = `the stream has ${most} ${unit} so far, and ${asked} are said to have come`;
      throw new HttpError(400, `${state}: it is another stream`, position.member);
    }
    const first = this.#entries[this.#first];
    const lost = "after" in position ? first?.number ?? this.#events : first?.offset ?? this.#size;
    if (asked < lost) {
      const state = `the first ${lost} ${unit} of the stream are no longer kept, and ${asked} of ` +
        "them have come";
      throw new HttpError(400, `${state}: ask for the answer as a whole, or anew`, position.member);
    }
    return "after" in position ? { from: 0, number: asked } : { from: asked, number: 0 };
  }

  async *#follow(from: number, number: number): AsyncGenerator<Uint8Array> {
    // Comments before the first event that is wanted are skipped with the events before it.
    let index = this.#cut +
      this.#entries.findIndex((entry, at) =>
        at >= this.#first && entry.number >= number && entry.offset + entry.bytes.length > from
      );
    if (index < this.#cut) index = this.#cut + this.#entries.length;
    for (;;) {
      if (index < this.#cut + this.#first) {
        throw new HttpError(503, "the client reads too slowly: what comes next is no longer kept");
      }
      const entry = this.#entries[index - this.#cut];
      if (entry) {
        index++;
        yield entry.offset < from ? entry.bytes.subarray(from - entry.offset) : entry.bytes;
        continue;
      }
      if (this.ended !== undefined) break;
      await this.#change.promise;
    }
    if (this.#failure !== undefined) throw this.#failure;
  }

  #tell(): void {
    const { resolve } = this.#change;
    this.#change = Promise.withResolvers();
    resolve();
  }
}

/** The logs of a server, by name. */
export class EventLogs {
  readonly #limits: EventLogLimits;
  /** In the order in which they were begun. */
  readonly #logs = new Map<string, EventLog>();

  constructor(limits: Partial<EventLogLimits> = {}) {
    this.#limits = { ...LIMITS, ...limits };
  }

  /** Bytes of memory that all of them take. */
  get held(): number {
    return this.#logs.values().reduce((sum, log) => sum + log.held, 0);
  }

  /** Begins a log. An earlier one of the name is dropped, and its answer ends. */
  open(name: string, state?: () => unknown): EventLog {
    this.#expire();
    this.remove(name);
    const log = new EventLog(this.#limits, state);
    this.#logs.set(name, log);
    return log;
  }

  /** The log of a name; undefined if there is none, or not any more. */
  find(name: string): EventLog | undefined {
    this.#expire();
    return this.#logs.get(name);
  }

  /** The logs whose names are right, with their names. */
  matching(isMeant: (name: string) => boolean): [name: string, log: EventLog][] {
    this.#expire();
    return [...this.#logs].filter(([name]) => isMeant(name));
  }

  /** Drops a log, and ends its answer; returns whether there was one. */
  remove(name: string): boolean {
    this.#logs.get(name)?.cancel();
    return this.#logs.delete(name);
  }

  /** Drops a log whose answer never began, and tells its readers why. */
  discard(log: EventLog, failure: unknown): void {
    log.end(failure);
    for (const [name, other] of this.#logs) if (other === log) this.#logs.delete(name);
  }

  /**
   * Makes room after a log has grown: logs of answers that have ended go first, then the beginnings of
   * the others.
   */
  trim(): void {
    let held = this.held;
    if (held <= this.#limits.all) return;
    for (const [name, log] of this.#logs) {
      if (log.ended === undefined) continue;
      held -= log.held;
      this.#logs.delete(name);
      if (held <= this.#limits.all) return;
    }
    const bySize = [...this.#logs.values()].sort((a, b) => b.held - a.held);
    for (const log of bySize) {
      while (held > this.#limits.all) {
        const before = log.held;
        if (!log.dropOldest()) break;
        held -= before - log.held;
      }
    }
  }

  /** Drops the logs of answers that ended too long ago, and the oldest of too many. */
  #expire(): void {
    const ended = [...this.#logs].filter(([, log]) => log.ended !== undefined);
    const until = Date.now() - this.#limits.age;
    const over = ended.length - this.#limits.ended;
    for (const [index, [name, log]] of ended.entries()) {
      if (index < over || log.ended! <= until) this.#logs.delete(name);
    }
  }
}
