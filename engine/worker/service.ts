// The worker's side of protocol.ts: loads the model that `load` names, and answers the calls of its
// client (hosted_model.ts).

import { attachFlags, CancelFlag, cancellable, flagsOf } from "../cancellation.ts";
import {
  type BlockStoreOptions,
  MirroredStore,
  RemoteStore,
  type ToStore,
} from "../block_store/mod.ts";
import { packError } from "../error_record.ts";
import { WorkerBusyError } from "../errors.ts";
import {
  type ArgumentOf,
  askModel,
  type CapturedPoint,
  type ChatModel,
  type ChoiceOptions,
  type LoadOptions,
  MODEL_METHODS,
  type ModelMethod,
} from "../types/mod.ts";
import { askingFunctions, type ChoiceQuestion, type ChoiceReply } from "./choice_calls.ts";
import { Pace, PieceJoiner, sendPieces } from "./pieces.ts";
import type { BlockKeeping, CallMessage, ToClient, ToWorker } from "./protocol.ts";

/** Least time between two messages about what is taken while calls run, in milliseconds. */
const OCCUPANCY_INTERVAL = 200;

/** Pieces of a result that are sent before the client has taken the first of them. */
const PIECES_AHEAD = 4;

/** How often to look whether an aborted answer has given back what it took, in milliseconds. */
const FREE_INTERVAL = 20;

/** The function that loads the model of a file. */
export type LoadModel = (path: string, options: LoadOptions) => Promise<ChatModel>;

type LoadMessage = Extract<ToWorker, { kind: "load" }>;

/**
 * The part of DedicatedWorkerGlobalScope that is used here. Its own type is missing in programs
 * that import the library without the types of workers.
 */
export interface ModelThread {
  postMessage(message: ToClient, transfer: Transferable[]): void;
  addEventListener(type: "message", listener: (event: MessageEvent<ToWorker>) => void): void;
}

/** Answers the messages that a worker's thread receives. */
export function serveModel(thread: ModelThread, load: LoadModel): void {
  const service = new ModelService(load, (message, transfer = []) => {
    thread.postMessage(message, transfer);
  });
  thread.addEventListener("message", ({ data }) => service.receive(data));
}

/** A model that is loaded and called by messages. */
export class ModelService {
  readonly #load: LoadModel;
  readonly #send: (message: ToClient, transfer?: Transferable[]) => void;
  readonly #running = new Map<number, AbortController>();
  /** By running call: aborted where the answer is wanted now, without further thinking. */
  readonly #answering = new Map<number, AbortController>();
  /** How far the results that are sent in pieces have been taken. */
  readonly #paces = new Map<number, Pace>();
  /** Arguments of which the last piece is still to come. */
  readonly #arguments = new Map<number, PieceJoiner>();
  /** By running call: takes the client's answer to what it asks. */
  readonly #asked = new Map<number, (reply: ChoiceReply) => void>();
  readonly #closing = new AbortController();
  /** When the client was last told what is taken. */
  #occupancyTold = 0;
  #closingFlag = new CancelFlag();
  #loading: Promise<void> | undefined;
  #model: ChatModel | undefined;
  /** The blocks in memory: the client's as this thread sees them, or this process's own. */
  #mirror: MirroredStore | RemoteStore | undefined;

  /**
   * @param load loads the model
   * @param send sends a message to the client
   */
  constructor(load: LoadModel, send: (message: ToClient, transfer?: Transferable[]) => void) {
    this.#load = load;
    this.#send = send;
  }

  /** Handles one message. */
  async receive(message: ToWorker): Promise<void> {
    switch (message.kind) {
      case "load":
        return await (this.#loading = this.#open(message));
      case "piece":
        return this.#joinerOf(message.id).add(message.piece);
      case "call":
        return await this.#answer(message);
      case "blocks":
        return this.#mirror?.receive(message.message);
      case "taken":
        return this.#paces.get(message.id)?.taken();
      case "chosen":
        return this.#asked.get(message.id)?.(message.reply);
      case "cancel":
        this.#arguments.delete(message.id);
        return this.#running.get(message.id)?.abort();
      case "answer":
        return this.#answering.get(message.id)?.abort();
      case "close":
        this.#closing.abort();
        await this.#loading;
        try {
          await this.#model?.close();
        } catch (error) {
          // The worker within this process is stuck. The parent gets no "closed", and kills the
          // process.
          if (error instanceof WorkerBusyError) return;
          throw error;
        }
        return this.#send({ kind: "closed" });
    }
  }

  async #open({ path, options, blocks, closing }: LoadMessage): Promise<void> {
    this.#closingFlag = new CancelFlag(closing);
    try {
      const model = this.#model = await this.#load(path, {
        ...options,
        ...(options.tuning && { tuning: { ...options.tuning, warn: this.#warn } }),
        ...(options.proof && { proof: { ...options.proof, warn: this.#warn } }),
        blockStore: this.#blockStoreOf(blocks),
        signal: this.#closing.signal,
        onProgress: (progress) => this.#send({ kind: "progress", progress }),
        onBusy: ({ milliseconds, ended }) => {
          this.#send({ kind: "busy", milliseconds });
          void ended.then(() => this.#send({ kind: "free" }));
        },
      });
      const { info, contextLength, memory, occupancy, device, warnings, refusal } = model;
      const loaded = { info, contextLength, memory, occupancy, device, warnings, refusal };
      this.#send({ kind: "loaded", model: loaded });
      void model.lost?.then((error) => this.#send({ kind: "lost", error: packError(error) }));
    } catch (error) {
      this.#send({ kind: "failed", error: packError(error) });
    }
  }

  readonly #warn = (text: string) => this.#send({ kind: "warning", text });

  #blockStoreOf({ memory: owner, ...others }: BlockKeeping): BlockStoreOptions {
    const warn = this.#warn;
    if (!owner) return { ...others, warn };
    const send = (message: ToStore) => this.#send({ kind: "blocks", message });
    this.#mirror = owner === "worker" ? new RemoteStore(send) : new MirroredStore(send);
    return { memory: this.#mirror, ...others, warn };
  }

  #joinerOf(id: number): PieceJoiner {
    const joiner = this.#arguments.get(id) ?? new PieceJoiner();
    this.#arguments.set(id, joiner);
    return joiner;
  }

  /**
   * Sends a long result, which the client's thread would read in one turn, a few pieces ahead of the
   * client: it takes all that have come before anything else has a turn.
   */
  async #sendResult(id: number, result: unknown): Promise<void> {
    const pace = new Pace(PIECES_AHEAD);
    this.#paces.set(id, pace);
    try {
      const pieces = sendPieces(
        result,
        (piece, isLast) => this.#send({ kind: "piece", id, piece, isLast }),
        () => this.#running.has(id),
      );
      while (!pieces.next().done) await pace.next();
    } finally {
      this.#paces.delete(id);
    }
  }

  async #answer(
    { id, method, argument, cancelled, answering, functions }: CallMessage,
  ): Promise<void> {
    const model = this.#model!;
    const joiner = this.#joinerOf(id);
    this.#arguments.delete(id);
    joiner.add(argument);
    const abort = new AbortController();
    attachFlags(abort.signal, [new CancelFlag(cancelled), this.#closingFlag]);
    this.#running.set(id, abort);
    // The flag is seen within a step. The signal reaches the worker of a process, which has no flag.
    const answer = new AbortController();
    const { signal: answerNow } = answer;
    attachFlags(answerNow, [new CancelFlag(answering)]);
    this.#answering.set(id, answer);
    try {
      const { gives } = MODEL_METHODS[method];
      const ask = (question: ChoiceQuestion) => this.#askClient(id, question);
      const own = functions && askingFunctions(functions, ask);
      const signals = { ...own, signal: abort.signal, answerNow };
      for await (const event of run(model, method, joiner.whole, signals)) {
        if (gives === "pieces") await this.#sendResult(id, event);
        else this.#send({ kind: "event", id, event }, buffersOf(event));
        if (performance.now() > this.#occupancyTold + OCCUPANCY_INTERVAL) this.#tellOccupancy();
      }
      this.#tellOccupancy();
      this.#send({ kind: "end", id, memory: model.memory });
    } catch (error) {
      this.#tellOccupancy();
      this.#send({ kind: "end", id, memory: model.memory, error: packError(error) });
    } finally {
      this.#running.delete(id);
      this.#answering.delete(id);
      this.#asked.delete(id);
    }
    await this.#tellWhenFree();
  }

  /** Asks the client for the logits or the token of a call. Without an answer, the call's abort ends it. */
  #askClient(id: number, question: ChoiceQuestion): Promise<ChoiceReply> {
    const { promise, resolve } = Promise.withResolvers<ChoiceReply>();
    this.#asked.set(id, resolve);
    this.#send({ kind: "choose", id, question });
    return promise;
  }

  /** After the last answer: an aborted one ends at once, but has its slot until the step under way is read. */
  async #tellWhenFree(): Promise<void> {
    const isTaken = () =>
      this.#running.size === 0 && !this.#closing.signal.aborted &&
      (this.#model?.occupancy?.slots.used ?? 0) > 0;
    if (!isTaken()) return;
    while (isTaken()) await new Promise((resolve) => setTimeout(resolve, FREE_INTERVAL));
    this.#tellOccupancy();
  }

  #tellOccupancy(): void {
    const occupancy = this.#model?.occupancy;
    this.#occupancyTold = performance.now();
    if (occupancy) this.#send({ kind: "occupancy", occupancy });
  }
}

/** The events of a call; a single result is one event. */
async function* run(
  model: ChatModel,
  method: ModelMethod,
  argument: unknown,
  signals: ChoiceOptions & { readonly signal: AbortSignal; readonly answerNow: AbortSignal },
): AsyncGenerator<unknown, void> {
  const { takes, gives } = MODEL_METHODS[method];
  const given = takes === "request" ? { ...argument as object, ...signals } : argument;
  const ask = () => askModel(model, method, given as ArgumentOf<typeof method>);
  // A call's first synchronous part sees the flags, too.
  const result = cancellable(flagsOf(signals.signal), ask);
  if (gives === "events") yield* result as AsyncIterable<unknown>;
  else yield await result;
}

/**
 * The memory of an embedding's vectors, or of captured values. There may be megabytes of it, so it is
 * moved, not copied.
 */
function buffersOf(event: unknown): ArrayBuffer[] {
  if (typeof event !== "object" || event === null) return [];
  if ("captured" in event && "index" in event) {
    return [(event as { captured: CapturedPoint }).captured.values.buffer as ArrayBuffer];
  }
  if (!("embeddings" in event)) return [];
  const { embeddings } = event as { embeddings: Float32Array | Float32Array[] };
  const vectors = Array.isArray(embeddings) ? embeddings : [embeddings];
  return [...new Set(vectors.map(({ buffer }) => buffer as ArrayBuffer))];
}
