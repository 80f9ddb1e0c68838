// An HTTP/1.1 server over TCP: accepts connections, bounds their number, closes those that keep it
// waiting, and goes on serving where the system has no more file descriptors.
//
// Deno.serve does none of these: it notices that a client left only if the body came together with the
// head, it ends at the first accept that fails, and it never closes idle connections. node:http stops
// accepting, without an error, after the first accept that fails.

import { countFreeFiles, FILES_OF_WORKER, isOutOfFiles, nextTask } from "../../../engine/mod.ts";
import type { Log } from "../../log.ts";
import { type Admission, Connection, type Handler, type Patience } from "./connection.ts";
import type { RequestHead } from "./request_head.ts";

/** Bounds of a server; each has a default. */
export interface HttpServerOptions {
  log: Pick<Log, "warn">;
  /** Most connections at a time. */
  maxConnections?: number;
  patience?: Partial<Patience>;
  /** Whether a request is answered at once, however many others wait to begin. Default: none is. */
  isUrgent?: (request: Pick<RequestHead, "method" | "url">) => boolean;
}

/** More than twice the requests that may wait; each idle one costs some 10 KB. */
const MAX_CONNECTIONS = 1024;
/** How many connections beyond the bound are answered with 503; any further ones are just closed. */
const MAX_REFUSED = 32;
/** Longer than clients keep idle connections, of which Go's 90 seconds are the longest. */
const PATIENCE: Patience = {
  idle: 120_000,
  head: 15_000,
  body: 30_000,
  linger: 2000,
  answer: 120_000,
};
/** Connections that are accepted before others have a turn of the event loop: some milliseconds. */
const ACCEPTED_AT_ONCE = 16;
/** How long to wait after an accept that failed, in milliseconds. */
const RETRY_MILLISECONDS = 50;
/** How long a refused client has to read the answer, in milliseconds. */
const REFUSAL_MILLISECONDS = 1000;

const BUSY_BODY = '{"error":"server busy: it has as many connections as it can hold"}';
const BUSY = new TextEncoder().encode(
  "HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\nconnection: close\r\n" +
    "content-type: application/json; charset=utf-8\r\n" +
    `content-length: ${BUSY_BODY.length}\r\n\r\n${BUSY_BODY}`,
);

/** A server that runs until `shutdown`. */
export class HttpServer {
  readonly #listener: Deno.TcpListener;
  readonly #handler: Handler;
  readonly #admit: Admission;
  readonly #patience: Patience;
  readonly #held: HeldConnections;
  readonly #served = new Set<Promise<void>>();
  readonly #accepting: Promise<void>;
  readonly #starts = new StartQueue(nextTask);
  readonly #sweep: ReturnType<typeof setInterval>;
  #refused = 0;
  #closed = false;

  /** Serves on a listener, which it closes in the end. */
  constructor(listener: Deno.TcpListener, handler: Handler, options: HttpServerOptions) {
    this.#listener = listener;
    const { isUrgent = () => false } = options;
    this.#handler = handler;
    this.#admit = async (head) => {
      if (!isUrgent(head)) await this.#starts.wait();
    };
    this.#held = new HeldConnections(options.maxConnections ?? MAX_CONNECTIONS, options.log);
    this.#patience = { ...PATIENCE, ...options.patience };
    // Timeouts are checked once a second, or as often as the shortest of them needs.
    const finest = Math.min(...Object.values(this.#patience)) / 4;
    this.#sweep = setInterval(() => this.#expire(), Math.min(1000, Math.ceil(finest)));
    this.#accepting = this.#accept();
  }

  /** The address at which it listens. */
  get addr(): Deno.NetAddr {
    return this.#listener.addr;
  }

  /** Connections that are open. */
  get connections(): number {
    return this.#held.taken.size;
  }

  /** Lets the process end although it listens. */
  unref(): void {
    this.#listener.unref();
    Deno.unrefTimer(Number(this.#sweep));
  }

  /** Stops accepting, and settles when the answers in progress are complete. */
  async shutdown(): Promise<void> {
    this.#closed = true;
    this.#listener.close();
    for (const connection of this.#held.taken) connection.finish();
    await Promise.all([this.#accepting, ...this.#served]);
    clearInterval(this.#sweep);
  }

  async #accept(): Promise<void> {
    for (let accepted = 1; !this.#closed; accepted++) {
      try {
        await this.#take(await this.#listener.accept());
        this.#starts.arrive();
        // Connections that wait already are all accepted without anybody else in between.
        if (accepted % ACCEPTED_AT_ONCE === 0) await nextTask();
      } catch (error) {
        if (this.#closed) return;
        if (isOutOfFiles(error)) await this.#held.giveUpOne();
        await new Promise((resolve) => setTimeout(resolve, RETRY_MILLISECONDS));
      }
    }
  }

  async #take(accepted: Deno.TcpConn): Promise<void> {
    if (!await this.#held.hasRoom()) return void this.#refuse(accepted).catch(() => {});
    accepted.setNoDelay(true);
    const connection = new Connection(accepted, {
      handler: this.#handler,
      admit: this.#admit,
      patience: this.#patience,
    });
    if (this.#closed) return connection.close();
    this.#held.taken.add(connection);
    const served = connection.serve().finally(() => {
      this.#held.taken.delete(connection);
      this.#served.delete(served);
    });
    this.#served.add(served);
  }

  async #refuse(accepted: Deno.TcpConn): Promise<void> {
    using connection = accepted;
    if (this.#refused >= Math.min(MAX_REFUSED, this.#held.reserve / 4)) return;
    this.#refused++;
    const timer = setTimeout(() => connection.close(), REFUSAL_MILLISECONDS);
    try {
      await connection.write(BUSY);
      await connection.closeWrite();
      // Closing with the request unread would reset the connection, and the answer with it.
      while (await connection.read(new Uint8Array(4096)) !== null);
    } finally {
      clearTimeout(timer);
      this.#refused--;
    }
  }

  #expire(): void {
    const now = performance.now();
    for (const connection of this.#held.taken) connection.expire(now);
    void this.#held.leaveFiles();
  }
}

// The order in which requests begin. If a thousand came at once and all began together, nobody else
// would be served until each has had its part of the event loop. Here one begins in each turn of the
// event loop, after new connections were accepted. Urgent requests do not come here.

/** How many turns of the event loop with new connections may pass before the next request begins. */
const MOST_ARRIVALS = 8;

/** Lets requests begin one after the other. */
export class StartQueue {
  readonly #nextTask: () => Promise<void>;
  #last = Promise.resolve();
  #waiting = 0;
  #arrivals = 0;

  /** @param nextTask settles in a later turn of the event loop */
  constructor(nextTask: () => Promise<void>) {
    this.#nextTask = nextTask;
  }

  /** How many requests wait. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Notes that a connection was accepted: more may follow, with urgent requests. */
  arrive(): void {
    this.#arrivals++;
  }

  /** Settles when the caller's request may begin, in the order of the calls. */
  wait(): Promise<void> {
    this.#waiting++;
    return this.#last = this.#last.then(async () => {
      await this.#acceptOthers();
      this.#waiting--;
    });
  }

  async #acceptOthers(): Promise<void> {
    for (let passed = 0; passed < MOST_ARRIVALS; passed++) {
      const before = this.#arrivals;
      await this.#nextTask();
      if (this.#arrivals === before) return;
    }
  }
}

// The connections that a server holds, and which of them has to go where there are no more places: there
// is a bound on their number, and they leave files (descriptors) to others, since models, their
// threads and stores need some too, and Deno ends the process where a thread gets none.

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
class HeldConnections {
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
