// A server under attack: `quern serve` as a process of its own, with a store and a port of its own, and
// what can be seen of it from outside: its address, its log, its memory, and how it ended.

import { freePort } from "../free_port.ts";
import { PROJECT_ROOT } from "../source_files.ts";

/** How long a server may take until it listens. In milliseconds. */
const START_MILLISECONDS = 60_000;
/** Milliseconds that a server may take to stop: 5 s for requests, 5 s to close, and some more. */
const STOP_MILLISECONDS = 15_000;
/** Lines of the log that are kept. */
const MAX_LINES = 20_000;

/** Options of a server. */
export interface ServerOptions {
  /** Folder of its models. */
  folder: string;
  /** Its environment beside ours. */
  environment?: Record<string, string>;
  /** Commands of a shell that come first, such as "ulimit -n 200". */
  before?: string;
  /** Where its log goes instead of here: to a full disk, or into a pipe that nobody reads. */
  log?: "full" | "unread";
}

const running = new Set<Server>();

/** The server's cache folder, by the folder of its models. */
export function cacheOf(folder: string): string {
  return `${folder}/.cache`;
}

/** A running server. */
export class Server implements AsyncDisposable {
  /** Lines of its log so far. */
  readonly lines: string[] = [];
  /** Its address. */
  url = "";
  /** The way in which it ended, once it has. */
  ended: Deno.CommandStatus | undefined;
  readonly #process: Deno.ChildProcess;
  readonly #reading: Promise<void>;
  readonly #listening = Promise.withResolvers<void>();

  private constructor({ folder, environment = {}, before = ":", log }: ServerOptions) {
    const program = [Deno.execPath(), "run", "-A", "--no-check", "mod.ts", "serve"];
    const to = log === "full" ? "2>/dev/full" : "";
    const args = ["-c", `${before}; exec "$@" ${to}`, "sh", ...program];
    const port = log ? freePort() : 0;
    // There before anybody looks what lies in the folder, if anything can be written there.
    try {
      Deno.mkdirSync(cacheOf(folder), { recursive: true });
    } catch {
      // Then nothing is kept.
    }
    this.#process = new Deno.Command("sh", {
      args,
      cwd: PROJECT_ROOT,
      env: {
        OLLAMA_MODELS: folder,
        QUERN_MODELS: folder,
        OLLAMA_HOST: `127.0.0.1:${port}`,
        QUERN_CACHE: cacheOf(folder),
        QUERN_NO_SETUP: "1",
        NO_COLOR: "1",
        ...environment,
      },
      stdin: "null",
      stdout: "null",
      stderr: "piped",
    }).spawn();
    this.#reading = log ? this.#find(port) : this.#read();
    running.add(this);
    this.#process.status.then((status) => {
      this.ended = status;
      running.delete(this);
      this.#listening.reject(new Error(`The server ended as it started:\n${this.tail()}`));
    });
  }

  /** Starts one and waits until it listens. */
  static async start(options: ServerOptions): Promise<Server> {
    const server = new Server(options);
    const timer = setTimeout(() => server.kill(), START_MILLISECONDS);
    try {
      await server.#listening.promise;
    } finally {
      clearTimeout(timer);
    }
    return server;
  }

  /** Ends all at once, so that none outlives the attack. */
  static killAll(): void {
    for (const server of running) server.kill();
  }

  /** Number of its process. */
  get pid(): number {
    return this.#process.pid;
  }

  /** The end of its log. */
  tail(): string {
    return this.lines.slice(-5).join(" | ");
  }

  /** Bytes of memory that it has; 0 where the system does not say. */
  memory(): number {
    return memoryOf(this.pid);
  }

  /** Files and connections that it has open; 0 where the system does not say. */
  openFiles(): number {
    try {
      return [...Deno.readDirSync(`/proc/${this.pid}/fd`)].length;
    } catch {
      return 0;
    }
  }

  /** Ends it at once. */
  kill(): void {
    try {
      this.#process.kill("SIGKILL");
    } catch {
      // The process has ended.
    }
  }

  /** Waits for the end of a server that was killed. */
  async untilEnded(): Promise<void> {
    await this.#process.status;
    await this.#reading;
  }

  /** Asks it to stop. Returns whether it did, in time and in good order. */
  async stop(): Promise<boolean> {
    if (!this.ended) {
      try {
        this.#process.kill("SIGTERM");
      } catch {
        // It is ending just now.
      }
    }
    const timer = setTimeout(() => this.kill(), STOP_MILLISECONDS);
    await this.untilEnded();
    clearTimeout(timer);
    return this.ended!.code === 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.kill();
    await this.untilEnded();
  }

  /** Waits for a server whose log is not here, which nobody reads to the end. */
  async #find(port: number): Promise<void> {
    const url = `http://127.0.0.1:${port}`;
    while (!this.ended && this.url === "") {
      await new Promise((resolve) => setTimeout(resolve, 50));
      const answer = await fetch(`${url}/health`).catch(() => undefined);
      await answer?.body?.cancel();
      if (answer) this.url = url;
    }
    this.#listening.resolve();
    await this.#process.status;
    await this.#process.stderr.cancel();
  }

  async #read(): Promise<void> {
    let text = "";
    for await (const piece of this.#process.stderr.pipeThrough(new TextDecoderStream())) {
      const lines = (text + piece).split("\n");
      text = lines.pop()!;
      this.lines.push(...lines);
      if (this.lines.length > MAX_LINES) this.lines.splice(0, this.lines.length - MAX_LINES);
      const [, url] = /listening on (http:\S+),/.exec(piece) ?? /listening on (http:\S+),/.exec(
        lines.join("\n"),
      ) ?? [];
      if (url && this.url === "") {
        this.url = url;
        this.#listening.resolve();
      }
    }
    if (text !== "") this.lines.push(text);
  }
}

/** Bytes of memory of a process; 0 where the system does not say, or it has ended. */
export function memoryOf(pid: number): number {
  try {
    const status = Deno.readTextFileSync(`/proc/${pid}/status`);
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}
