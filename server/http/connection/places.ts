// The connections that a server holds, and which of them has to go where there are no more places: there
// is a bound on their number, and they leave files (descriptors) to others, since models, their
// threads and stores need some too, and Deno ends the process where a thread gets none.

import { countFreeFiles, FILES_OF_WORKER, nextTask } from "../../../engine/mod.ts";
import type { Log } from "../../log.ts";
import type { Connection } from "./connection.ts";

/**
 * Files that are left to others: for the workers of a model with all its threads, some more workers,
 * and what they read. Where the system gives few, a part of them.
 */
const RESERVED_FILES = FILES_OF_WORKER * (navigator.hardwareConcurrency + 8) + 16;
const RESERVED_PART = 3 / 4;
/** Connections that are held although it leaves less to others, so that the server can be asked at all. */
const FEWEST_CONNECTIONS = 4;
/** Connections after which the free files are counted again. */
const COUNTED_AT_ONCE = 16;
/**
 * How long a connection has its place for certain, before its first request and between two, because
 * what its client has sent may just be arriving. In milliseconds.
 */
const LEAST_STAY = 50;

/** Connections, each of which has a place. */
export class Places {
  /** Those that have one. Their owner adds and removes them. */
  readonly taken = new Set<Connection>();
  /** Files that are left to others. */
  readonly reserve: number;
  readonly #limit: number;
  readonly #log: Pick<Log, "warn">;
  /** How many more connections leave the reserve to others; 0 if it has to be counted. */
  #room = 0;
  #hasWarned = false;
  /** All that clients had sent by then has been read: who is idle since before that is idle indeed. */
  #readUntil = -Infinity;

  /** @param limit most connections */
  constructor(limit: number, log: Pick<Log, "warn">) {
    this.#limit = limit;
    this.#log = log;
    const free = countFreeFiles(2 * RESERVED_FILES);
    this.reserve = Math.floor(Math.min(RESERVED_FILES, RESERVED_PART * free));
  }

  /**
   * Whether there is a place for one more, if need be that of another: of the one that has been idle
   * longest, or else of the one whose client has kept it waiting longest. False if the server is at
   * work for all of them.
   */
  async hasRoom(): Promise<boolean> {
    while (!this.#isFree()) {
      const other = this.#idlest();
      if (!other) return false;
      if (other.since + LEAST_STAY <= this.#readUntil) return this.#end(other.connection);
      await this.#readAll(Math.max(0, other.since + LEAST_STAY - performance.now()));
    }
    return true;
  }

  /** Ends a connection that can be done without, if there is one. */
  async giveUpOne(): Promise<void> {
    await this.#readAll();
    this.#endIdlest();
  }

  /**
   * Ends connections that can be done without until others have the files that are theirs: models that
   * were loaded since may have taken of them.
   */
  async leaveFiles(): Promise<void> {
    const excess = this.taken.size - FEWEST_CONNECTIONS;
    if (excess <= 0) return;
    const missing = this.reserve - countFreeFiles(this.reserve);
    if (missing <= 0) return;
    this.#room = 0;
    this.#warnOfFiles();
    await this.#readAll();
    for (let ended = 0; ended < Math.min(missing, excess); ended++) this.#endIdlest();
  }

  /**
   * Waits so many milliseconds, and until what clients had sent by their end has been read. Where the
   * thread was busy, such as with the start of a worker, requests may have come that nobody has seen.
   */
  async #readAll(wait = 0): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, wait));
    const now = performance.now();
    await new Promise((resolve) => setTimeout(resolve));
    await nextTask();
    this.#readUntil = Math.max(this.#readUntil, now);
  }

  /** Whether one more keeps to the bound and leaves files to others. */
  #isFree(): boolean {
    const { size } = this.taken;
    if (size >= this.#limit) return false;
    if (size < FEWEST_CONNECTIONS) return true;
    if (this.#room === 0) {
      this.#room = Math.max(0, countFreeFiles(this.reserve + COUNTED_AT_ONCE) - this.reserve);
    }
    if (this.#room === 0) {
      this.#warnOfFiles();
      return false;
    }
    this.#room--;
    return true;
  }

  /**
   * The one that can be done without most, and since when. One that has just come is idle too, but it
   * is not waited for where another has had its time.
   */
  #idlest(): { connection: Connection; since: number } | undefined {
    const latest = this.#readUntil - LEAST_STAY;
    return this.#earliest(({ idleSince }) => idleSince, latest) ??
      this.#earliest(({ mayEndFrom }) => mayEndFrom, latest) ??
      this.#earliest(({ idleSince, mayEndFrom }) => idleSince ?? mayEndFrom, performance.now());
  }

  /** The connection with the earliest of some times, if that is not after a certain one. */
  #earliest(timeOf: (connection: Connection) => number | undefined, latest: number) {
    let earliest: { connection: Connection; since: number } | undefined;
    for (const connection of this.taken) {
      const since = timeOf(connection) ?? Infinity;
      if (since > latest) continue;
      latest = since;
      earliest = { connection, since };
    }
    return earliest;
  }

  #endIdlest(): void {
    const other = this.#idlest();
    if (other) this.#end(other.connection);
  }

  #end(connection: Connection): true {
    connection.close();
    this.taken.delete(connection);
    return true;
  }

  #warnOfFiles(): void {
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    this.#log.warn(
      `the system gives no more open files for connections: there are ${this.taken.size}, and ` +
        `${this.reserve} are left to models; raise the limit (ulimit -n) for more`,
    );
  }
}
