// Loads files in a process of its own. Tells of each whether it was refused, what its logits are,
// or that the process hung, died or took too much memory.

import { memoryOf } from "../server.ts";

/** More memory than this ends the process: 6 GB. */
const MAX_MEMORY = 6e9;
/** Milliseconds between two looks at the process. */
const INTERVAL = 50;
/** Files for each process, because WebGPU releases devices late. */
const FILES_PER_PROCESS = 60;
/**
 * Longest that a file may take. In seconds. A file that runs may need kernels that its driver has to
 * compile; on a software driver that is tens of seconds.
 */
const LIMIT = 60;

/** The result of a file. */
export interface Loaded {
  path: string;
  /** Logits of the last of some tokens. */
  logits?: number[];
  isFinite?: boolean;
  error?: { name: string; message: string; isKnown: boolean; seconds: number };
  /** The way in which the process failed. */
  end?: { kind: "crash" | "hang"; text: string };
}

/** A process that loads files, and the next one when it has ended. */
export class FileLoader implements AsyncDisposable {
  #process: Deno.ChildProcess | undefined;
  #lines: AsyncIterator<string> | undefined;
  #files = 0;

  /** Loads a file. */
  async load(path: string): Promise<Loaded> {
    if (this.#files++ >= FILES_PER_PROCESS) await this[Symbol.asyncDispose]();
    const process = this.#process ??= this.#start();
    const writer = process.stdin.getWriter();
    await writer.write(new TextEncoder().encode(`${path}\n`));
    writer.releaseLock();
    const end = Promise.withResolvers<Loaded>();
    const start = performance.now();
    const timer = setInterval(() => {
      const isLarge = memoryOf(process.pid) > MAX_MEMORY;
      if (isLarge) end.resolve({ path, end: { kind: "crash", text: "over 6 GB of memory" } });
      else if (performance.now() - start > LIMIT * 1000) {
        end.resolve({ path, end: { kind: "hang", text: `over ${LIMIT} s` } });
      }
    }, INTERVAL);
    const line = this.#lines!.next().then(({ value, done }): Loaded => {
      if (!done) return JSON.parse(value);
      return { path, end: { kind: "crash", text: "the process that loads it ended" } };
    });
    const loaded = await Promise.race([line, end.promise]);
    clearInterval(timer);
    if (loaded.end) await this[Symbol.asyncDispose]();
    return loaded;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const process = this.#process;
    this.#process = undefined;
    this.#files = 0;
    if (!process) return;
    try {
      process.kill("SIGKILL");
    } catch {
      // The process has ended.
    }
    await process.status;
    await process.stdin.close().catch(() => {});
  }

  #start(): Deno.ChildProcess {
    const script = new URL("load_program.ts", import.meta.url).pathname;
    const args = ["run", "-A", "--no-check", "--no-lock", script];
    const options = { args, stdin: "piped", stdout: "piped", stderr: "null" } as const;
    const process = new Deno.Command(Deno.execPath(), options).spawn();
    this.#lines = linesOf(process.stdout)[Symbol.asyncIterator]();
    return process;
  }
}

async function* linesOf(stream: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<string> {
  let text = "";
  for await (const piece of stream.pipeThrough(new TextDecoderStream())) {
    const lines = (text + piece).split("\n");
    text = lines.pop()!;
    yield* lines;
  }
}
