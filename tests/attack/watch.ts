// The watch over a server under attack: what /health took and how long a bystander's stream paused
// since the last look. It sits in a thread of its own, so that an attacker's busy thread is not
// taken for a slow server.

import type { Server } from "./server.ts";

/** Tokens that the bystander asks for at a time: a stream of some seconds. */
export const BYSTANDER_TOKENS = 400;

/** What was seen since the last look. Times in milliseconds. */
export interface Sight {
  /** Of all answers of /health. */
  slowest: number;
  /**
   * The slowest answer less what a server that does nothing took at the same moment, or what those who
   * answer waited for a core, whichever is more.
   */
  beyondMachine: number;
  /** Between two pieces of the bystander's stream, less what the server waited for a core. */
  longestPause: number;
  /** Pieces of its streams. */
  pieces: number;
  /** Answers of /health. */
  questions: number;
  /** Most that the server had, in bytes. */
  memory: number;
  /** What the bystander read that it should not have. */
  wrong: string[];
  /** Whether the server was killed for its size. */
  isTooLarge: boolean;
}

/** What is to be watched. */
export interface WatchOrder {
  url: string;
  pid: number;
  /** Whether a bystander reads streams of it. */
  isListening: boolean;
}

/** The thread that watches. */
export class Watch implements AsyncDisposable {
  readonly #worker: Worker;
  readonly #control: Deno.ChildProcess;
  #answer = Promise.withResolvers<Sight>();

  private constructor(control: Deno.ChildProcess) {
    this.#control = control;
    this.#worker = new Worker(new URL("watch_worker.ts", import.meta.url), { type: "module" });
    this.#worker.onmessage = ({ data }) => this.#answer.resolve(data);
  }

  /** Starts it. It watches nothing yet. */
  static async start(): Promise<Watch> {
    const script = new URL("control.ts", import.meta.url).pathname;
    const args = ["run", "-A", "--no-check", "--no-lock", script];
    const control = new Deno.Command(Deno.execPath(), { args, stdin: "piped", stdout: "piped" })
      .spawn();
    const reader = control.stdout.getReader();
    const { value } = await reader.read();
    reader.releaseLock();
    const watch = new Watch(control);
    const port = new TextDecoder().decode(value).trim();
    watch.#worker.postMessage({ control: `http://127.0.0.1:${port}/` });
    return watch;
  }

  /** Watches a server from now on, or none. */
  over(server: Server | undefined, isListening = true): void {
    const order: WatchOrder | undefined = server && {
      url: server.url,
      pid: server.pid,
      isListening,
    };
    this.#worker.postMessage({ order });
  }

  /** What was seen since the last look. */
  look(): Promise<Sight> {
    this.#answer = Promise.withResolvers();
    this.#worker.postMessage({ look: true });
    return this.#answer.promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#worker.terminate();
    await this.#control.stdin.close();
    await this.#control.stdout.cancel();
    await this.#control.status;
  }
}
