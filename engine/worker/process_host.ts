// A model's process, seen from its parent: a host that can be killed, and the core that it keeps
// busy is free again, which no thread can be (model_process.ts is the other side).

import { EngineError } from "../errors.ts";
import { MessageSender, readMessages } from "./message_pipe.ts";
import type { HostListener, ModelHost, ToClient, ToWorker } from "./protocol.ts";

/** How the process is started. */
export interface ProcessOptions {
  /**
   * Program and arguments that run serveModelProcess(). Default: this Deno with a file of ours; a
   * program that was compiled has to say it.
   */
  command?: readonly string[];
}

/** A process that takes the messages of a model's client. */
export class ProcessHost implements ModelHost {
  readonly #process: Deno.ChildProcess;
  readonly #sender: MessageSender;
  #listener: HostListener | undefined;

  /** Starts it. Errors: EngineError where that cannot be. */
  constructor({ command = defaultCommand() }: ProcessOptions = {}) {
    const [program, ...args] = command;
    try {
      this.#process = new Deno.Command(program!, {
        args,
        stdin: "piped",
        stdout: "piped",
        stderr: "inherit",
      }).spawn();
    } catch (error) {
      throw new EngineError(`Cannot start a process for a model: ${error}`, { cause: error });
    }
    this.#sender = new MessageSender(this.#process.stdin);
    void this.#hear();
  }

  /** Its number in the system. */
  get pid(): number {
    return this.#process.pid;
  }

  send(message: ToWorker): void {
    // Memory is shared among threads only: messages have to do.
    if (message.kind === "load") {
      // A process keeps blocks in memory of its own, which ends with it.
      const { closing: _, blocks, ...rest } = message;
      this.#sender.send({ ...rest, blocks: { ...blocks, isMirrored: false } });
    } else if (message.kind === "call") {
      const { cancelled: _, ...rest } = message;
      this.#sender.send(rest);
    } else {
      this.#sender.send(message);
    }
  }

  listen(listener: HostListener): void {
    this.#listener = listener;
  }

  /** Ends it at once. */
  end(): void {
    this.kill();
  }

  /** Ends it whatever it is at. */
  kill(): void {
    try {
      this.#process.kill("SIGKILL");
    } catch {
      // It has ended already.
    }
  }

  async #hear(): Promise<void> {
    try {
      for await (const message of readMessages(this.#process.stdout)) {
        this.#listener?.receive(message as ToClient);
      }
    } catch (error) {
      // What wrote there was not ours.
      this.kill();
      this.#listener?.crash(`what it says cannot be read: ${error}`);
    }
    const { code, signal } = await this.#process.status;
    this.#listener?.crash(signal ? `ended by ${signal}` : `ended with exit code ${code}`);
  }
}

function defaultCommand(): string[] {
  if (Deno.build.standalone) {
    throw new EngineError(
      "Cannot start a process for a model: a compiled program has to name the command for it",
    );
  }
  const module = new URL("./model_process.ts", import.meta.url).href;
  return [Deno.execPath(), "run", "--quiet", "--no-lock", "-A", module];
}
