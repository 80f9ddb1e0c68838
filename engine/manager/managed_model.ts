// A model that a manager loads, keeps and closes: its state between the first request and its end.

import { type FittedLoad, totalOf } from "../memory/mod.ts";
import type { ModelSource, StoreEntry } from "../store/types.ts";
import type { ChatModel, LoadProgress } from "../types/mod.ts";
import type { AskedLoad } from "./types.ts";

/** A model that is loading, loaded or closing. */
export class ManagedModel {
  /** Set by the code that starts the load, right after the constructor. */
  ready!: Promise<ChatModel>;
  model?: ChatModel;
  /**
   * Options and memory of the load. Undefined until they are known, and if memory is not estimated.
   */
  fitted?: FittedLoad;
  /** Progress of a load that is running. */
  progress?: LoadProgress;
  users = 0;
  cancelTimer?: () => void;
  closing?: Promise<void>;
  /** The window in tokens of a load that names none; undefined if it is not known. */
  automaticWindow: number | undefined;
  readonly claim: Claim;
  /** The stamp of its files when the load began. */
  readonly stamp: string | undefined;

  constructor(
    /** The entry that was requested last. */
    public entry: StoreEntry,
    readonly key: string,
    readonly asked: AskedLoad,
    public keepAlive: number,
    public lastUsed: number,
    /** The model, with other options or files perhaps, that this one replaces. */
    before?: ManagedModel,
  ) {
    this.stamp = entry.stamp;
    if (before?.stamp === this.stamp) this.automaticWindow = before?.automaticWindow;
    this.claim = new Claim(lastUsed, before?.claim);
  }

  /** Bytes that it takes, or will take, of the device that models are on. */
  get bytes(): number {
    const { model, fitted } = this;
    return model ? totalOf(model.memory) - this.systemBytes : fitted?.bytes ?? 0;
  }

  /** Bytes that it takes, or will take, of the system's memory beside a GPU. */
  get systemBytes(): number {
    const { model, fitted } = this;
    return model && fitted?.estimate.layout ? model.memory.onCpu ?? 0 : fitted?.systemBytes ?? 0;
  }

  /** Whether it is loaded and has no user. */
  get isIdle(): boolean {
    return this.model !== undefined && this.users === 0 && !this.closing;
  }
}

/**
 * The key of a source. All names of the same files have the same key, so that the files are loaded
 * once.
 */
export function keyOf(source: ModelSource): string {
  return source.kind === "files"
    ? JSON.stringify([source.path, source.projector, ...source.adapters])
    : JSON.stringify([source.host, source.model]);
}

// Who has a say in the options of a load besides its window. They only decide how fast answers come.
// So one request that names some must not decide for all that follow, and two clients that want
// different ones must not have the model loaded anew for each of their requests.

/**
 * Milliseconds for which options that are named again and again are kept for requests that name
 * none.
 */
const HOLD = 5 * 60_000;

/**
 * The claim of requests that name options on the load that they got. A load with named options gives
 * way to a request that names none, unless one that named them is at work. Where they are named again
 * soon after that, the next load with them stays until nobody has named them for a while.
 */
class Claim {
  /** Requests at work that named options. */
  #users = 0;
  #heldUntil = -Infinity;
  /** Time at which such a load last gave way. */
  #gaveWayAt: number;

  /**
   * The claim on a load that takes the place of another.
   *
   * @param before the claim on that one
   */
  constructor(now: number, before?: Claim) {
    this.#gaveWayAt = before ? before.#gaveWayAt : -Infinity;
    if (now - this.#gaveWayAt < HOLD) this.#heldUntil = now + HOLD;
  }

  /** A request that names options is at work, until the result is disposed of. */
  enter(now: number): Disposable {
    this.#users++;
    if (this.#heldUntil > now) this.#heldUntil = now + HOLD;
    return { [Symbol.dispose]: () => void this.#users-- };
  }

  /** Whether the load stays as it is, although a request names none of its options. */
  stays(now: number): boolean {
    return this.#users > 0 || this.#heldUntil > now;
  }

  /** The load gives way to one without its options. */
  giveWay(now: number): void {
    this.#gaveWayAt = now;
    this.#heldUntil = -Infinity;
  }
}
