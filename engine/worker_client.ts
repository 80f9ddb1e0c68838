// A model in a worker of its own, for programs that must not stand still while the GPU works: the
// client's side of worker_protocol.ts. Closing it, or a crash, ends the worker, and with it all
// that the model held on the GPU.

import { CancelFlag } from "./cancellation.ts";
import { unpackError } from "./error_record.ts";
import { EngineError, ModelClosedError, WorkerBusyError } from "./errors.ts";
import { EventQueue } from "./text/event_queue.ts";
import type {
  ChatEvent,
  ChatModel,
  ChatRequest,
  EmbedInput,
  EmbedOptions,
  EmbedRequest,
  EmbedResult,
  GenerateEvent,
  GenerateRequest,
  ImageEmbedding,
  LoadOptions,
  MemoryUse,
  ModelInfo,
} from "./types.ts";
import type { LoadedModel, Method, ToClient, ToWorker } from "./worker_protocol.ts";

/**
 * How long a worker may take to close in good order. One that takes longer is in the midst of work that
 * does not look at its flags: terminate() would not end that either, and nobody would hear of its end.
 */
const CLOSE_MILLISECONDS = 3000;

/**
 * Loads a GGUF model in a worker. The stream of a call raises what went wrong at its first read.
 *
 * @param path a file path
 * @throws as loadModel() does; files that cannot be opened: EngineError
 */
export async function openModelInWorker(
  path: string,
  { onProgress, signal, ...options }: LoadOptions = {},
): Promise<ChatModel> {
  signal?.throwIfAborted();
  const worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
  const closing = new CancelFlag();
  const { promise: loaded, resolve, reject } = Promise.withResolvers<LoadedModel>();
  const gone = Promise.withResolvers<void>();
  const abort = () => reject(signal?.reason);
  signal?.addEventListener("abort", abort);
  listen(worker, {
    receive(message) {
      if (message.kind === "progress") onProgress?.(message.progress);
      if (message.kind === "loaded") resolve(message.model);
      if (message.kind === "failed") reject(unpackError(message.error));
      if (message.kind === "closed") gone.resolve();
    },
    crash(state) {
      reject(new EngineError(`Cannot load "${path}": its worker crashed: ${state}`));
      gone.resolve();
    },
  });
  try {
    send(worker, { kind: "load", path, options, closing: closing.memory });
    return new WorkerModel(worker, closing, await loaded);
  } catch (error) {
    // What is on the GPU already is given back by the thread itself.
    if (signal?.aborted) await closeWorker(worker, closing, gone).catch(() => {});
    else worker.terminate();
    throw error;
  } finally {
    signal?.removeEventListener("abort", abort);
  }
}

/** An image to embed. */
interface ImageRequest {
  readonly image: Uint8Array | string;
  readonly signal?: AbortSignal;
}

/** A call whose end is still to come. */
interface Call {
  readonly events: EventQueue<unknown>;
  readonly cancelled: CancelFlag;
  end(error?: Error): void;
}

class WorkerModel implements ChatModel {
  readonly info: ModelInfo;
  readonly contextLength: number;
  readonly warnings: readonly string[];
  readonly #worker: Worker;
  readonly #closingFlag: CancelFlag;
  #memory: MemoryUse;
  readonly #calls = new Map<number, Call>();
  readonly #gone = Promise.withResolvers<void>();
  #lastId = 0;
  #closing: Promise<void> | undefined;
  /** Why there are no more answers. */
  #closed: ModelClosedError | undefined;

  constructor(
    worker: Worker,
    closing: CancelFlag,
    { info, contextLength, memory, warnings }: LoadedModel,
  ) {
    this.#worker = worker;
    this.#closingFlag = closing;
    this.info = info;
    this.contextLength = contextLength;
    this.#memory = memory;
    this.warnings = warnings;
    listen(worker, {
      receive: (message) => this.#receive(message),
      crash: (state) => {
        this.#refuse(new ModelClosedError(`Cannot go on: the model's worker crashed: ${state}`));
        this.#gone.resolve();
      },
    });
  }

  get memory(): MemoryUse {
    return this.#memory;
  }

  generate(request: GenerateRequest): AsyncIterableIterator<GenerateEvent> {
    return this.#call("generate", request);
  }

  chat(request: ChatRequest): AsyncIterableIterator<ChatEvent> {
    return this.#call("chat", request);
  }

  async renderChat(request: ChatRequest): Promise<string> {
    const { value } = await this.#call<string>("renderChat", request).next();
    return value;
  }

  async countTokens(request: ChatRequest): Promise<number> {
    const { value } = await this.#call<number>("countTokens", request).next();
    return value;
  }

  async embed(inputs: readonly EmbedInput[], options?: EmbedOptions): Promise<Float32Array[]> {
    return (await this.embedWithUsage({ ...options, inputs })).embeddings;
  }

  async embedWithUsage(request: EmbedRequest): Promise<EmbedResult> {
    const { value } = await this.#call<EmbedResult>("embedWithUsage", request).next();
    request.signal?.throwIfAborted();
    return value;
  }

  async embedImage(image: Uint8Array | string): Promise<ImageEmbedding> {
    const { value } = await this.#call<ImageEmbedding>("embedImage", { image }).next();
    return value;
  }

  close(): Promise<void> {
    return this.#closing ??= this.#close();
  }

  async #close(): Promise<void> {
    this.#refuse(new ModelClosedError("Cannot go on: the model was closed"));
    await closeWorker(this.#worker, this.#closingFlag, this.#gone);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** A single result, such as a rendered prompt, is a stream of one event. */
  #call<T>(
    method: Method,
    { signal, ...request }: GenerateRequest | ChatRequest | EmbedRequest | ImageRequest,
  ): EventQueue<T> {
    const id = ++this.#lastId;
    const events = new EventQueue<T>(() => this.#cancel(id));
    if (this.#closed || signal?.aborted) {
      events.close({ error: this.#closed });
      return events;
    }
    const cancelled = new CancelFlag();
    send(this.#worker, { kind: "call", id, method, request, cancelled: cancelled.memory });
    // The worker's own end comes later, and finds the stream ended.
    const abort = () => {
      this.#cancel(id);
      events.close();
    };
    signal?.addEventListener("abort", abort);
    const end = (error?: Error) => {
      this.#calls.delete(id);
      signal?.removeEventListener("abort", abort);
      events.close({ error });
    };
    this.#calls.set(id, { events, cancelled, end });
    return events;
  }

  #cancel(id: number): void {
    const call = this.#calls.get(id);
    if (!call || this.#closed) return;
    call.cancelled.set();
    send(this.#worker, { kind: "cancel", id });
  }

  #receive(message: ToClient): void {
    if (message.kind === "event") this.#calls.get(message.id)?.events.push(message.event);
    if (message.kind === "end") {
      this.#memory = message.memory;
      this.#calls.get(message.id)?.end(message.error && unpackError(message.error));
    }
    if (message.kind === "closed") this.#gone.resolve();
  }

  /** Ends what runs and takes no more. */
  #refuse(error: ModelClosedError): void {
    this.#closed ??= error;
    for (const { end } of [...this.#calls.values()]) end(error);
  }
}

/** Has a worker give everything back, and ends it. Errors: WorkerBusyError if it does not in time. */
async function closeWorker(
  worker: Worker,
  closing: CancelFlag,
  gone: PromiseWithResolvers<void>,
): Promise<void> {
  closing.set();
  send(worker, { kind: "close" });
  const ended = gone.promise.then(() => worker.terminate());
  const grace = Promise.withResolvers<void>();
  const timer = setTimeout(
    () => grace.reject(new WorkerBusyError(CLOSE_MILLISECONDS, ended)),
    CLOSE_MILLISECONDS,
  );
  try {
    await Promise.race([ended, grace.promise]);
  } finally {
    clearTimeout(timer);
  }
}

function send(worker: Worker, message: ToWorker): void {
  worker.postMessage(message);
}

/** Hears a worker, in place of whoever did before. `crash` gets what was not caught in it. */
function listen(
  worker: Worker,
  { receive, crash }: { receive: (message: ToClient) => void; crash: (state: string) => void },
): void {
  worker.onmessage = ({ data }: MessageEvent<ToClient>) => receive(data);
  worker.onerror = (event) => {
    event.preventDefault();
    crash(event.message);
  };
}
