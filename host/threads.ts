// Threads, and the memory that they share: workers of Deno, Bun and browsers, threads of Node. A page
// shares memory only if its server isolates it from others (COOP and COEP); one thread alone needs none
// of that.

import { HostError, isNode, nodeModule, runtime } from "./runtime.ts";

/** A thread, as the one that started it sees it: what is used of a browser's `Worker`. */
export type WorkerThread = Pick<Worker, "onerror" | "onmessage" | "postMessage" | "terminate">;

/** What a thread sees of the one that started it: what is used of a browser's `DedicatedWorkerGlobalScope`. */
export interface ThreadScope {
  onmessage: ((event: MessageEvent) => void) | null;
  postMessage(message: unknown, transfer?: Transferable[]): void;
  addEventListener(type: "message", listener: (event: MessageEvent) => void): void;
  /** Ends this thread. */
  close(): void;
}

/**
 * A thread that runs a module of this program.
 *
 * @throws {HostError} where there are none, as in a browser's worklets
 * @throws {Error} if the system starts no more threads
 */
export function makeWorker(module: URL): WorkerThread {
  if (isNode()) return new NodeThread(module);
  if (!("Worker" in globalThis)) throw new HostError("Cannot start a worker: there are none here");
  return new Worker(module, { type: "module" });
}

/** What this thread sees of the one that started it. */
export function threadScope(): ThreadScope {
  if (isNode()) return nodeScope();
  return globalThis as unknown as ThreadScope;
}

/**
 * Why this thread cannot compute together with others, as a clause; undefined if it can: there have to be
 * workers, memory that can be sent to them, and this thread has to be one that may wait for them.
 */
export function aloneBecause(): string | undefined {
  if (runtime() || isNode()) return undefined;
  if (!("Worker" in globalThis)) return "there are no workers here";
  if (!canShareMemory()) return "this page is not cross-origin isolated";
  // A page's own thread may not wait. Only there is a document.
  return "document" in globalThis ? "a page's own thread cannot wait for others" : undefined;
}

/** Whether memory can be sent to other threads, which then share it. */
export function canShareMemory(): boolean {
  return "SharedArrayBuffer" in globalThis &&
    (globalThis as { crossOriginIsolated?: boolean }).crossOriginIsolated !== false;
}

/**
 * Memory of the type that threads share. A page that is not isolated has it too, but cannot send it, and
 * does not name its class.
 */
export function sharedBuffer(bytes: number): SharedArrayBuffer {
  return new (sharedClass())(bytes);
}

let found: typeof SharedArrayBuffer | undefined;

function sharedClass(): typeof SharedArrayBuffer {
  return found ??= globalThis.SharedArrayBuffer ??
    new WebAssembly.Memory({ initial: 0, maximum: 0, shared: true }).buffer.constructor;
}

/** A thread of Node as a worker. */
class NodeThread implements WorkerThread {
  onmessage: WorkerThread["onmessage"] = null;
  onerror: WorkerThread["onerror"] = null;
  readonly #thread: import("node:worker_threads").Worker;

  constructor(module: URL) {
    const { Worker } = nodeModule("worker_threads")!;
    this.#thread = new Worker(module);
    this.#thread.on("message", (data: unknown) => {
      this.onmessage?.call(this as unknown as Worker, { data } as MessageEvent);
    });
    this.#thread.on("error", (error: unknown) => {
      const message = error instanceof Error ? error.message : String(error);
      const event = { message, error, preventDefault() {} } as unknown as ErrorEvent;
      this.onerror?.call(this as unknown as Worker, event);
    });
  }

  postMessage(message: unknown, transfer: Transferable[] | StructuredSerializeOptions = []): void {
    const list = Array.isArray(transfer) ? transfer : transfer.transfer ?? [];
    this.#thread.postMessage(message, list as import("node:worker_threads").Transferable[]);
  }

  terminate(): void {
    void this.#thread.terminate();
  }
}

let scope: ThreadScope | undefined;

/** The scope of a thread of Node. */
function nodeScope(): ThreadScope {
  if (scope) return scope;
  const { parentPort } = nodeModule("worker_threads")!;
  if (!parentPort) throw new HostError("Cannot answer another thread: this is the first one");
  const made: ThreadScope = {
    onmessage: null,
    postMessage: (message, transfer = []) =>
      parentPort.postMessage(message, transfer as import("node:worker_threads").Transferable[]),
    addEventListener: (_, listener) =>
      parentPort.on("message", (data: unknown) => listener({ data } as MessageEvent)),
    close: () => nodeModule("process")!.exit(),
  };
  parentPort.on("message", (data: unknown) => made.onmessage?.({ data } as MessageEvent));
  return scope = made;
}
