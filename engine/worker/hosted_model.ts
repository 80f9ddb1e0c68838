// A model in a worker or a process: the client's side of protocol.ts. It sends calls, passes on their
// events, and watches that the worker answers. Closing it, or a crash, ends the worker, and with it all
// that the model held on the GPU.

import { CancelFlag } from "../cancellation.ts";
import { unpackError } from "../error_record.ts";
import { inSlices } from "../async.ts";
import {
  type DeviceFailedError,
  ModelClosedError,
  ModelCrashedError,
  type ModelLostError,
  WorkerBusyError,
} from "../errors.ts";
import { EventQueue } from "../generate/mod.ts";
import {
  type ArgumentOf,
  type ChatModel,
  type ChoiceOptions,
  type DeviceRefusal,
  type EmbedInput,
  type EmbedOptions,
  type MemoryUse,
  MODEL_METHODS,
  type ModelInfo,
  type ModelMethod,
  type ModelMethods,
  modelMethods,
  type Occupancy,
} from "../types/mod.ts";
import { Session, type SessionModel, type SessionOptions } from "../session/mod.ts";
import { BlockHost } from "./block_host.ts";
import { askedFunctions, replyTo } from "./choice_calls.ts";
import { type Piece, PieceJoiner, sendPieces } from "./pieces.ts";
import type { CallMessage, LoadedModel, ModelHost, ToClient } from "./protocol.ts";

/** How long a worker may take to respond. */
export interface Patience {
  /**
   * Milliseconds until it has closed in good order. A worker that takes longer is busy with work that
   * does not look at its flags.
   */
  readonly close: number;
  /** Milliseconds until it sends a message after a call is cancelled. A step can take seconds. */
  readonly cancel: number;
  /**
   * Milliseconds without a message while calls run. A step of a large model on the CPU can take a minute;
   * a driver that hangs never ends it.
   */
  readonly step: number;
}

/** The signals and functions of a request, which are not sent. */
interface Unsent extends ChoiceOptions {
  readonly signal?: AbortSignal;
  readonly answerNow?: AbortSignal;
}

/** A call that has not ended yet. */
interface Call {
  readonly events: EventQueue<unknown>;
  readonly cancelled: CancelFlag;
  /** What the worker may ask for. */
  readonly functions: ChoiceOptions;
  /** Takes a piece of the result. */
  add(message: { piece: Piece; isLast: boolean }): void;
  /** Whether the worker has all pieces of the argument. */
  isSent: boolean;
  end(error?: Error): void;
}

/** What a hosted model needs beside its host. */
export interface HostedOptions {
  readonly blocks: BlockHost;
  readonly closing: CancelFlag;
  readonly onBusy: (busy: WorkerBusyError) => void;
  readonly onCrash: (error: ModelLostError) => void;
  readonly patience: Patience;
}

export interface HostedModel extends ModelMethods {}

export class HostedModel implements ChatModel, SessionModel {
  readonly info: ModelInfo;
  readonly contextLength: number;
  readonly device: string | undefined;
  readonly warnings: readonly string[];
  readonly refusal: DeviceRefusal | undefined;
  readonly #host: ModelHost;
  readonly #options: HostedOptions;
  #memory: MemoryUse;
  #occupancy: Occupancy | undefined;
  readonly #calls = new Map<number, Call>();
  /** Ids of the calls that were cancelled and have not ended yet. */
  readonly #cancelled = new Set<number>();
  #silence: ReturnType<typeof setTimeout> | undefined;
  /** When it sent its last message, or got something to do. */
  #heardAt = 0;
  /** Settled when a worker that was reported as busy sends a message again. */
  #busy: PromiseWithResolvers<void> | undefined;
  readonly #gone = Promise.withResolvers<void>();
  readonly #lost = Promise.withResolvers<DeviceFailedError>();
  #lastId = 0;
  #closing: Promise<void> | undefined;
  /** The error of all further calls, once the model is closed. */
  #closed: ModelClosedError | undefined;

  constructor(
    host: ModelHost,
    options: HostedOptions,
    { info, contextLength, memory, occupancy, device, warnings, refusal }: LoadedModel,
  ) {
    this.#host = host;
    this.#options = options;
    this.info = info;
    this.contextLength = contextLength;
    this.#memory = memory;
    this.#occupancy = occupancy;
    this.device = device;
    this.warnings = warnings;
    this.refusal = refusal;
    Object.assign(this, modelMethods((method, argument) => this.#ask(method, argument)));
    host.listen({
      receive: (message) => this.#receive(message),
      crash: (state) => {
        const isExpected = this.#closing !== undefined;
        const error = new ModelCrashedError(state);
        this.#refuse(error);
        this.#gone.resolve();
        this.#setFree();
        if (!isExpected) this.#options.onCrash(error);
      },
    });
  }

  get lost(): Promise<DeviceFailedError> {
    return this.#lost.promise;
  }

  get memory(): MemoryUse {
    return this.#memory;
  }

  get occupancy(): Occupancy | undefined {
    return this.#occupancy;
  }

  async embed(inputs: readonly EmbedInput[], options?: EmbedOptions): Promise<Float32Array[]> {
    return (await this.embedWithUsage({ ...options, inputs })).embeddings;
  }

  session(options?: SessionOptions): Session {
    return new Session(this, options);
  }

  close(): Promise<void> {
    return this.#closing ??= this.#close();
  }

  async #close(): Promise<void> {
    const reason = this.#busy ? ", because its worker did not answer" : "";
    this.#refuse(new ModelClosedError(`Cannot go on: the model was closed${reason}`));
    this.#unwatch();
    const { closing, patience } = this.#options;
    try {
      await closeHost(this.#host, { closing, gone: this.#gone, patience });
    } finally {
      this.#options.blocks[Symbol.dispose]();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Calls a method of the model. A single result, such as a rendered prompt, is a stream of one event. */
  #ask<M extends ModelMethod>(
    method: M,
    argument: ArgumentOf<M>,
  ): ReturnType<ChatModel[M]> {
    const { takes, gives } = MODEL_METHODS[method];
    const isRequest = takes === "request";
    const { signal, answerNow, logitsProcessors, sampler, ...request } =
      (isRequest ? argument : {}) as Unsent;
    const events = this.#call(method, isRequest ? request : argument, {
      ...(signal && { signal }),
      ...(answerNow && { answerNow }),
      ...(logitsProcessors && { logitsProcessors }),
      ...(sampler && { sampler }),
    });
    const result = gives === "events" ? events : only(events, signal);
    return result as ReturnType<ChatModel[M]>;
  }

  /** Starts a call. */
  #call(
    method: ModelMethod,
    argument: unknown,
    { signal, answerNow, ...functions }: Unsent,
  ): EventQueue<unknown> {
    const id = ++this.#lastId;
    const events = new EventQueue<unknown>(() => this.#cancel(id));
    if (this.#closed || signal?.aborted) {
      events.close({ error: this.#closed });
      return events;
    }
    const cancelled = new CancelFlag();
    const answering = answerNow && new CancelFlag();
    const answer = () => {
      answering?.set();
      if (this.#calls.get(id)?.isSent) this.#host.send({ kind: "answer", id });
    };
    answerNow?.addEventListener("abort", answer, { once: true });
    // The caller's stream ends now. The worker's end of the call arrives later and changes nothing.
    const abort = () => {
      this.#cancel(id);
      events.close();
    };
    signal?.addEventListener("abort", abort);
    const end = (error?: Error) => {
      this.#calls.delete(id);
      this.#cancelled.delete(id);
      if (this.#calls.size === 0) this.#unwatch();
      signal?.removeEventListener("abort", abort);
      answerNow?.removeEventListener("abort", answer);
      events.close({ error });
    };
    const result = new PieceJoiner();
    const add: Call["add"] = ({ piece, isLast }) => {
      result.add(piece);
      if (isLast) events.push(result.whole);
    };
    if (this.#calls.size === 0) this.#heardAt = performance.now();
    this.#calls.set(id, { events, cancelled, functions, add, end, isSent: false });
    this.#watch();
    const asked = askedFunctions(functions);
    const flags = {
      ...(cancelled.sent && { cancelled: cancelled.sent }),
      ...(answering?.sent && { answering: answering.sent }),
      ...asked && { functions: asked },
    };
    // A large argument takes several turns of the event loop, another none.
    inSlices(this.#sendPieces({ id, method, ...flags }, argument)).then(() => {
      if (answerNow?.aborted) answer();
    }).catch(end);
    return events;
  }

  /** Sends an argument in pieces, the last one with the call, unless the call ends meanwhile. */
  #sendPieces(
    call: Omit<CallMessage, "kind" | "argument">,
    argument: unknown,
  ): Generator<void, void> {
    const { id } = call;
    const send = (piece: Piece, isLast: boolean) => {
      if (!isLast) return this.#host.send({ kind: "piece", id, piece });
      this.#calls.get(id)!.isSent = true;
      this.#host.send({ kind: "call", ...call, argument: piece });
    };
    return sendPieces(argument, send, () => this.#calls.has(id));
  }

  #cancel(id: number): void {
    const call = this.#calls.get(id);
    if (!call || this.#closed) return;
    call.cancelled.set();
    this.#host.send({ kind: "cancel", id });
    if (!call.isSent) return call.end();
    this.#cancelled.add(id);
    if (this.#cancelled.size > 1) return;
    this.#heardAt = performance.now();
    this.#unwatch();
    this.#watch();
  }

  #receive(message: ToClient): void {
    if (message.kind === "piece") {
      this.#calls.get(message.id)?.add(message);
      if (!this.#closed && !message.isLast) this.#host.send({ kind: "taken", id: message.id });
    }
    if (message.kind === "event") this.#calls.get(message.id)?.events.push(message.event);
    if (message.kind === "choose") void this.#choose(message);
    if (message.kind === "occupancy") this.#occupancy = message.occupancy;
    if (message.kind === "end") {
      this.#memory = message.memory;
      this.#calls.get(message.id)?.end(message.error && unpackError(message.error));
    }
    this.#options.blocks.receive(message);
    if (message.kind === "closed") this.#gone.resolve();
    if (message.kind === "lost") this.#lose(unpackError(message.error) as DeviceFailedError);
    if (message.kind === "busy") return this.#setBusy(message.milliseconds);
    this.#setFree();
    this.#heardAt = performance.now();
    this.#watch();
  }

  /** Answers a question of a call. What its functions throw ends the call. */
  async #choose({ id, question }: Extract<ToClient, { kind: "choose" }>): Promise<void> {
    const call = this.#calls.get(id);
    if (!call) return;
    try {
      const reply = await replyTo(call.functions, question);
      // The worker is not silent while its client thinks.
      this.#heardAt = performance.now();
      if (!this.#closed && this.#calls.has(id)) this.#host.send({ kind: "chosen", id, reply });
    } catch (error) {
      this.#cancel(id);
      call.events.close({ error });
    }
  }

  /** Starts the time within which a worker with calls has to send a message, unless it runs. */
  #watch(): void {
    const limit = this.#patience;
    if (limit === undefined || this.#silence !== undefined) return;
    const left = this.#heardAt + limit - performance.now();
    this.#silence = setTimeout(() => {
      this.#silence = undefined;
      const patience = this.#patience ?? Infinity;
      if (performance.now() >= this.#heardAt + patience) this.#setBusy(patience);
      else this.#watch();
    }, left);
  }

  #unwatch(): void {
    clearTimeout(this.#silence);
    this.#silence = undefined;
  }

  /** How long it may be silent; undefined if it has nothing to do. */
  get #patience(): number | undefined {
    const { cancel, step } = this.#options.patience;
    if (this.#closed) return undefined;
    return this.#cancelled.size > 0 ? cancel : this.#calls.size > 0 ? step : undefined;
  }

  #setBusy(milliseconds: number): void {
    this.#busy ??= Promise.withResolvers();
    this.#options.onBusy(new WorkerBusyError(milliseconds, this.#busy.promise));
  }

  #setFree(): void {
    this.#busy?.resolve();
    this.#busy = undefined;
  }

  #lose(error: DeviceFailedError): void {
    this.#refuse(error);
    this.#lost.resolve(error);
    if (!this.#closing) this.#options.onCrash(error);
  }

  /** Ends all running calls with an error, and refuses new ones. */
  #refuse(error: ModelClosedError): void {
    this.#closed ??= error;
    for (const { end } of [...this.#calls.values()]) end(error);
  }
}

/** The result of a call that gives one. Errors: those of the call; the signal's reason. */
async function only(events: EventQueue<unknown>, signal?: AbortSignal): Promise<unknown> {
  const { value } = await events.next();
  signal?.throwIfAborted();
  return value;
}

/**
 * Asks a worker to free everything, and ends it. Errors: WorkerBusyError if the worker takes longer
 * than `patience` allows. A process is killed then. A thread goes on: terminate() does not end a
 * thread in a loop, and after it no message would tell when the loop ends.
 */
export async function closeHost(
  host: ModelHost,
  { closing, gone, patience }: {
    closing: CancelFlag;
    gone: PromiseWithResolvers<void>;
    patience: Patience;
  },
): Promise<void> {
  closing.set();
  host.send({ kind: "close" });
  const ended = gone.promise.then(() => host.end());
  const grace = Promise.withResolvers<void>();
  const timer = setTimeout(() => {
    const consequence = host.kill && "its process is ended by force";
    grace.reject(new WorkerBusyError(patience.close, ended, consequence));
    host.kill?.();
  }, patience.close);
  try {
    await Promise.race([ended, grace.promise]);
  } finally {
    clearTimeout(timer);
  }
}
