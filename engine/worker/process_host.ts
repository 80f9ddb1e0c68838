// The process of a model, seen from its parent: a host that can be killed, which frees its core,
// while a thread cannot be killed. model_process.ts is the other side.

import { type ChildProcess, isOutOfFiles, isSystemError, processes } from "../../host/mod.ts";
import { countFreeThreads, ResourceError } from "../../kernels/mod.ts";
import { EngineError } from "../errors.ts";
import { MessageSender, readMessages } from "./message_pipe.ts";
import type { BlockKeeping, HostListener, ModelHost, ToClient, ToWorker } from "./protocol.ts";

const ATTEMPT = "Cannot start a process for the model";
/** Threads that a process of Deno has as it starts and loads a model, roughly. */
const THREADS = 16;

/** How a model's process is started. */
export interface ProcessOptions {
  /**
   * Program and arguments that run serveModelProcess(). Default: this Deno with model_process.ts. A
   * compiled program has no default.
   */
  command?: readonly string[];
}

/** A process that takes the messages of a model's client. */
export class ProcessHost implements ModelHost {
  readonly #process: ChildProcess;
  readonly #sender: MessageSender;
  #listener: HostListener | undefined;

  /** Starts the process. Errors: EngineError if that is impossible, ResourceError if it is now. */
  constructor({ command = defaultCommand() }: ProcessOptions = {}) {
    const [program, ...args] = command;
    if (countFreeThreads() < THREADS) {
      throw lackOf("threads (ulimit -u, or a container's --pids-limit)");
    }
    const { Command } = processes();
    try {
      this.#process = new Command(program!, {
        args,
        stdin: "piped",
        stdout: "piped",
        stderr: "inherit",
      }).spawn();
    } catch (error) {
      throw processError(error);
    }
    this.#sender = new MessageSender(this.#process.stdin);
    void this.#hear();
  }

  /** The process id. */
  get pid(): number {
    return this.#process.pid;
  }

  send(message: ToWorker): void {
    // Threads share memory with each other, processes do not. So flags are not sent.
    if (message.kind === "load") {
      // The process keeps blocks in its own memory, which is freed when it ends.
      const { closing: _, blocks, ...rest } = message;
      const keeping: BlockKeeping = { ...blocks, ...(blocks.memory && { memory: "worker" }) };
      this.#sender.send({ ...rest, blocks: keeping });
    } else if (message.kind === "call") {
      const { cancelled: _cancelled, answering: _answering, ...rest } = message;
      this.#sender.send(rest);
    } else {
      this.#sender.send(message);
    }
  }

  listen(listener: HostListener): void {
    this.#listener = listener;
  }

  /** Ends the process at once. */
  end(): void {
    this.kill();
  }

  /** Ends the process, whatever it is doing. */
  kill(): void {
    try {
      this.#process.kill("SIGKILL");
    } catch {
      // The process has ended already.
    }
  }

  async #hear(): Promise<void> {
    try {
      for await (const message of readMessages(this.#process.stdout)) {
        this.#listener?.receive(message as ToClient);
      }
    } catch (error) {
      // Something else wrote to the process's standard output.
      this.kill();
      this.#listener?.crash(`what it says cannot be read: ${error}`);
    }
    const { code, signal } = await this.#process.status;
    this.#listener?.crash(signal ? `ended by ${signal}` : `ended with exit code ${code}`);
  }
}

/** The error of a process that could not be started. The system's own words have paths in them. */
function processError(cause: unknown): Error {
  if (isOutOfFiles(cause)) return lackOf("open files (ulimit -n)", { cause });
  if (isSystemError(cause, "WouldBlock")) return lackOf("processes (ulimit -u)", { cause });
  return new EngineError(`${ATTEMPT}: the system does not run the program for it`, { cause });
}

function lackOf(what: string, options?: ErrorOptions): ResourceError {
  return new ResourceError(`${ATTEMPT}: the system gives no more ${what}`, options);
}

function defaultCommand(): string[] {
  const { build, execPath } = processes();
  if (build.standalone) {
    throw new EngineError(
      "Cannot start a process for a model: a compiled program has to name the command for it",
    );
  }
  const module = new URL("./model_process.ts", import.meta.url).href;
  return [execPath(), "run", "--quiet", "--no-lock", "-A", module];
}
