// One case of the attack set as it runs: asks the server, times every answer, and keeps what went wrong.

import type { Draws } from "../engine/grammar/fuzz/draws.ts";
import { CoreWaits } from "./core_waits.ts";
import type { Server } from "./server.ts";

/** Kinds of faults: the columns of the table. */
export const FAULT_KINDS = [
  "crash",
  "hang",
  "wrong",
  "status 500",
  "slow health",
  "pause",
] as const;

/** A kind of fault. */
export type FaultKind = typeof FAULT_KINDS[number];

/** A fault, and where it occurred. */
export interface Fault {
  kind: FaultKind;
  text: string;
}

/** A case: an attack, and the expected result. */
export interface Case {
  name: string;
  /**
   * Attacks.
   *
   * @returns how many checks it was, if not one
   */
  run(trial: Trial): Promise<number | void>;
  /** Requests that attack at once, each of which may hold /health up as long as one may. Default 1. */
  attackers?: number;
  /** Whether /health and the bystander's stream are not judged: the case ends or fills the server. */
  isUnwatched?: boolean;
}

/** Thrown by a case that this machine cannot run; says why. */
export class Unavailable extends Error {}

/** What cases are made from. */
export interface World {
  draws: Draws;
  seed: number;
  /** The folder of the models of the server that all share. */
  folder: string;
  /** A folder for files, which goes away at the end. */
  scratch: string;
  /** The fraction of the whole set for which there is time: 1 for all. */
  share: number;
  /** The number of things to do in this fraction, at least one. */
  count(all: number): number;
}

/** A part of the attack set. */
export interface Area {
  name: string;
  /** Its part of the time, relative to those of the others. */
  weight: number;
  cases(world: World): Case[] | Promise<Case[]>;
}

/** Longest that an answer may take where the work does not explain more. In seconds. */
const LIMIT = 5;

/** Bytes from which on a server may close the connection before it has read the body. */
const LARGE = 2 ** 20;

/** A request. */
export interface Ask {
  path: string;
  /** Objects become JSON; text and bytes are sent as they are. */
  body?: unknown;
  method?: string;
  headers?: Record<string, string>;
  /** Longest that the work explains, in seconds. Default: 5. */
  seconds?: number;
  /** The client hangs up after so many seconds; then no answer is missing. */
  hangUpAfter?: number;
}

/** An answer. */
export interface Answer {
  /** 0 if there was none. */
  status: number;
  text: string;
  seconds: number;
}

/** Words from the inside of a program, which tell a client nothing. */
export const INSIDE = new RegExp(
  [
    "undefined|Cannot read propert|is not (a function|iterable|defined|a constructor)",
    "Maximum call stack|Invalid (array|string|typed array|time)|\\[object \\w+\\]|out of memory",
    "\\bat .*\\.ts:\\d+|Cannot mix BigInt|Cannot convert|Array buffer allocation|out of bounds",
    "offset is out|should be a multiple|Unexpected (token|end of)|Bad resource|os error",
  ].join("|"),
);

/** Lines of a log that tell of a defect. */
const DEFECT = / ERROR |[Uu]ncaught|panicked|Fatal|unreachable/;

/** A case as it runs. */
export class Trial {
  readonly faults: Fault[] = [];
  readonly #server: Server | undefined;
  readonly #patience: number;
  readonly #waits: CoreWaits | undefined;
  #seenLines: number;

  constructor(server: Server | undefined, patience: number) {
    this.#server = server;
    this.#patience = patience;
    this.#waits = server && new CoreWaits(server.pid);
    this.#seenLines = server?.lines.length ?? 0;
  }

  /** The server that all cases share. */
  get server(): Server {
    if (!this.#server) throw new Error("this case has no server");
    return this.#server;
  }

  /** Notes a fault. */
  fault(kind: FaultKind, text: string): void {
    this.faults.push({ kind, text: text.length > 600 ? `${text.slice(0, 600)} ...` : text });
  }

  /**
   * Whether so many seconds of this case are more than may pass without work that explains them.
   */
  isLate(seconds: number): boolean {
    const machine = (this.#waits?.longest() ?? 0) / 1000;
    return seconds - machine > LIMIT * this.#patience;
  }

  /** Notes a fault unless something holds. */
  check(isRight: boolean, text: () => string): void {
    if (!isRight) this.fault("wrong", text());
  }

  /** Asks, and checks what can be checked of every answer. */
  async ask(request: Ask, server = this.server): Promise<Answer> {
    const { path, method = request.body === undefined ? "GET" : "POST", headers = {} } = request;
    const limit = (request.seconds ?? LIMIT) * this.#patience;
    const start = performance.now();
    const seconds = () => (performance.now() - start) / 1000;
    const client = new AbortController();
    const abort = () => client.abort();
    const machine = request.hangUpAfter === undefined ? new CoreWaits(server.pid) : undefined;
    using _timer = timeOut(request.hangUpAfter ?? limit, machine, abort);
    let status = 0;
    let text = "";
    try {
      const init = { method, headers, signal: client.signal, ...bodyOf(request.body) };
      const response = await fetch(server.url + path, init);
      status = response.status;
      for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
        text += piece;
      }
    } catch (error) {
      if (client.signal.aborted && request.hangUpAfter !== undefined) {
        return { status, text, seconds: seconds() };
      }
      if (client.signal.aborted) this.fault("hang", `${method} ${path}: over ${limit} s`);
      else if (status !== 0 || sizeOf(request.body) < LARGE) {
        this.fault("wrong", `${method} ${path}: ${(error as Error).message}`);
      }
    }
    this.judge(`${method} ${path}`, status, text);
    return { status, text, seconds: seconds() };
  }

  /** Judges a status and the words that came with it. */
  judge(asked: string, status: number, text: string): void {
    const error = errorOf(text, status);
    if (status === 500) this.fault("status 500", `${asked}: ${text}`);
    else if (error !== undefined && INSIDE.test(withoutQuotes(error))) {
      this.fault("wrong", `${asked}: ${status} in words from the inside: ${error}`);
    }
  }

  /** Judges what the server has logged since the case began. */
  judgeLog(): void {
    const { lines } = this.server;
    const at = lines.findIndex((line, index) => index >= this.#seenLines && DEFECT.test(line));
    this.#seenLines = lines.length;
    // A status 500 also logs what its answer said.
    const isTold = this.faults.some(({ kind }) => kind === "status 500");
    if (at !== -1 && !isTold) this.fault("wrong", `logged: ${lines.slice(at, at + 4).join(" | ")}`);
  }
}

/** Calls `expire` after so many seconds, and those that the machine took. Disposal calls it off. */
function timeOut(seconds: number, machine: CoreWaits | undefined, expire: () => void): Disposable {
  const start = performance.now();
  let timer: ReturnType<typeof setTimeout>;
  const look = () => {
    const left = seconds * 1000 + (machine?.longest() ?? 0) - (performance.now() - start);
    if (left <= 0) expire();
    else timer = setTimeout(look, left);
  };
  timer = setTimeout(look, seconds * 1000);
  return { [Symbol.dispose]: () => clearTimeout(timer) };
}

function bodyOf(body: unknown): RequestInit {
  if (body === undefined) return {};
  const isRaw = typeof body === "string" || ArrayBuffer.isView(body) ||
    body instanceof ReadableStream || body instanceof Blob;
  return { body: isRaw ? body as BodyInit : JSON.stringify(body) };
}

/** About the bytes of a body. */
function sizeOf(body: unknown): number {
  if (ArrayBuffer.isView(body)) return body.byteLength;
  return typeof body === "string" ? body.length : JSON.stringify(body ?? "").length;
}

/** The sentence of an error in any dialect, also at the end of a stream; undefined if there is none. */
export function errorOf(text: string, status: number): string | undefined {
  const last = text.trimEnd().split("\n").at(-1) ?? "";
  const json = last.replace(/^data: /, "");
  try {
    const { error } = JSON.parse(json);
    return typeof error === "string" ? error : error?.message;
  } catch {
    return status >= 400 ? text : undefined;
  }
}

/** A sentence without what it quotes, which may be the client's own words. */
function withoutQuotes(sentence: string): string {
  return sentence.replace(/"(?:[^"\\]|\\.)*"|'[^']*'|`[^`]*`/g, "");
}

/** The records of a streamed answer, or the one record of another. */
export function recordsOf(text: string): Record<string, unknown>[] {
  try {
    return text.trimEnd().split("\n").filter(Boolean).map((line) => JSON.parse(line));
  } catch {
    return [];
  }
}
