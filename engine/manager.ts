// Which models are in memory: loads on demand, one load per file at a time, keeps a model for a
// while after its last use, makes room by closing the idle one that was used longest ago.
// It runs nothing itself, and knows neither GGUF nor the GPU: models come from `open`.

import { ModelClosedError } from "./errors.ts";
import type { ModelStore, StoreEntry } from "./store.ts";
import type { ChatModel, LoadOptions } from "./types.ts";

/** Longest delay that timers can hold; a longer keep-alive ends after these 24.8 days. */
const LONGEST_TIMER = 2 ** 31 - 1;

/** Time, so that tests can do without waiting. In milliseconds. */
export interface Clock {
  now(): number;
  /** Calls back once after the delay; the returned function cancels it. */
  schedule(callback: () => void, milliseconds: number): () => void;
}

/** What a manager needs. */
export interface ManagerOptions {
  store: Pick<ModelStore, "find">;
  open: (path: string, options: LoadOptions) => Promise<ChatModel>;
  /** Most models in memory at a time. Default 3. */
  maxLoaded?: number;
  /** How long an idle model stays, in milliseconds; Infinity is for ever. Default 5 minutes. */
  keepAlive?: number;
  /** How a model is loaded unless the request says otherwise. */
  load?: Pick<LoadOptions, "contextLength" | "maxSequences">;
  clock?: Clock;
}

/** How one request wants its model. */
export interface AcquireOptions {
  /** Window in tokens that it needs. A smaller one loaded is replaced, a larger one is fine. */
  contextLength?: number;
  /** New keep-alive of the model in milliseconds; 0 closes it after the request. */
  keepAlive?: number;
  /** Ends the wait, not the load. */
  signal?: AbortSignal;
}

/** A loaded model that stays loaded until it is released. */
export interface Lease {
  readonly entry: StoreEntry;
  readonly model: ChatModel;
  /** How long the request waited for the model, in milliseconds. */
  readonly loadMilliseconds: number;
  /**
   * Gives the model back; later calls do nothing.
   *
   * @param cause what ended the use, if it failed: after a ModelClosedError the model is dropped
   */
  release(cause?: unknown): void;
}

/** A model in memory. */
export interface RunningModel {
  readonly entry: StoreEntry;
  readonly model: ChatModel;
  /** When it leaves if nobody asks for it; milliseconds since 1970, Infinity for never. */
  readonly expiresAt: number;
}

/** A model on its way into memory, in it, or out of it. */
class Slot {
  /** Set by whoever starts the load, right after the slot is made. */
  ready!: Promise<ChatModel>;
  model?: ChatModel;
  users = 0;
  cancelTimer?: () => void;
  closing?: Promise<void>;

  constructor(
    readonly entry: StoreEntry,
    readonly askedContextLength: number | undefined,
    public keepAlive: number,
    public lastUsed: number,
  ) {}
}

const systemClock: Clock = {
  now: () => Date.now(),
  schedule(callback, milliseconds) {
    const timer = setTimeout(callback, milliseconds);
    return () => clearTimeout(timer);
  },
};

/** Loads, lends and unloads models. */
export class ModelManager {
  readonly #options: ManagerOptions;
  readonly #clock: Clock;
  /** The slot that new requests get, by path. */
  readonly #slots = new Map<string, Slot>();
  /** Slots that hold memory: opening, open or closing. */
  readonly #open = new Set<Slot>();
  readonly #shutdown = new AbortController();
  #change = Promise.withResolvers<void>();

  constructor(options: ManagerOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  /**
   * Waits until the model is loaded and lends it.
   *
   * @throws {ModelNotFoundError} if the store has none of that name
   * @throws {ModelClosedError} after closeAll()
   */
  async acquire(name: string, options: AcquireOptions = {}): Promise<Lease> {
    const started = this.#clock.now();
    const entry = await this.#options.store.find(name);
    const wanted = Math.min(options.contextLength ?? 0, entry.info.trainedContextLength);
    for (;;) {
      const slot = this.#slots.get(entry.path) ?? this.#load(entry, options.contextLength);
      this.#take(slot, options.keepAlive);
      try {
        const model = await untilAborted(slot.ready, options.signal);
        if (wanted <= Math.max(model.contextLength, slot.askedContextLength ?? 0)) {
          return this.#lease(slot, model, this.#clock.now() - started);
        }
      } catch (error) {
        this.#release(slot, error);
        throw error;
      }
      this.#release(slot);
      void this.#retire(slot);
    }
  }

  /** Closes the model of that name as soon as nobody uses it; waits only if that is now. */
  async unload(name: string): Promise<void> {
    const { path } = await this.#options.store.find(name);
    const slot = this.#slots.get(path);
    if (!slot) return;
    slot.keepAlive = 0;
    if (slot.users === 0 && slot.model) await this.#retire(slot);
  }

  /** The models in memory, the one that leaves last first. */
  running(): RunningModel[] {
    const models: RunningModel[] = [];
    for (const { entry, model, users, lastUsed, keepAlive } of this.#slots.values()) {
      const idleSince = users > 0 ? this.#clock.now() : lastUsed;
      if (model) models.push({ entry, model, expiresAt: idleSince + keepAlive });
    }
    return models.sort((a, b) => b.expiresAt - a.expiresAt || 0);
  }

  /** Closes every model, ending what still runs; afterwards nothing can be acquired. */
  async closeAll(): Promise<void> {
    this.#shutdown.abort(new ModelClosedError("Cannot load a model: the server is shutting down"));
    this.#notify();
    await Promise.allSettled([...this.#open].map(async (slot) => {
      await slot.ready;
      await this.#close(slot);
    }));
  }

  #load(entry: StoreEntry, contextLength = this.#options.load?.contextLength): Slot {
    const keepAlive = this.#options.keepAlive ?? 5 * 60_000;
    const slot = new Slot(entry, contextLength, keepAlive, this.#clock.now());
    this.#slots.set(entry.path, slot);
    slot.ready = this.#openInto(slot);
    // Each waiting request gets the failure through its own await; there may be none left.
    slot.ready.catch(() => {});
    return slot;
  }

  async #openInto(slot: Slot): Promise<ChatModel> {
    try {
      await this.#makeRoomFor(slot);
      slot.model = await this.#options.open(slot.entry.path, {
        ...this.#options.load,
        ...(slot.askedContextLength !== undefined && { contextLength: slot.askedContextLength }),
        signal: this.#shutdown.signal,
      });
    } catch (error) {
      this.#forget(slot);
      this.#open.delete(slot);
      this.#notify();
      throw error;
    }
    if (slot.users === 0) this.#startTimer(slot);
    return slot.model;
  }

  /** Waits until there is a free place, and takes it. */
  async #makeRoomFor(slot: Slot): Promise<void> {
    const maxLoaded = this.#options.maxLoaded ?? 3;
    for (;;) {
      this.#shutdown.signal.throwIfAborted();
      const others = [...this.#open];
      // The memory of a model that is closing is not free yet, and no file is in memory twice.
      const wait = others.some(({ closing, entry }) => closing || entry.path === slot.entry.path);
      if (!wait && others.length < maxLoaded) {
        this.#open.add(slot);
        return;
      }
      if (!wait) {
        const idle = others.filter(({ model, users }) => model && users === 0);
        const oldest = idle.sort((a, b) => a.lastUsed - b.lastUsed)[0];
        if (oldest) void this.#retire(oldest);
      }
      await this.#change.promise;
      if (slot.users === 0) {
        this.#forget(slot);
        throw new ModelClosedError("Cannot load a model: nobody waits for it any more");
      }
    }
  }

  #take(slot: Slot, keepAlive: number | undefined): void {
    slot.users++;
    slot.cancelTimer?.();
    if (keepAlive !== undefined) slot.keepAlive = keepAlive;
  }

  #lease(slot: Slot, model: ChatModel, loadMilliseconds: number): Lease {
    let released = false;
    const release = (cause?: unknown) => {
      if (!released) this.#release(slot, cause);
      released = true;
    };
    return { entry: slot.entry, model, loadMilliseconds, release };
  }

  #release(slot: Slot, cause?: unknown): void {
    slot.users--;
    slot.lastUsed = this.#clock.now();
    if (cause instanceof ModelClosedError && slot.model) void this.#close(slot);
    if (slot.users === 0 && slot.model) this.#startTimer(slot);
    this.#notify();
  }

  #startTimer(slot: Slot): void {
    slot.cancelTimer?.();
    if (this.#slots.get(slot.entry.path) !== slot || slot.keepAlive === Infinity) return;
    if (slot.keepAlive <= 0) return void this.#retire(slot);
    const delay = Math.min(slot.keepAlive, LONGEST_TIMER);
    slot.cancelTimer = this.#clock.schedule(() => void this.#retire(slot), delay);
  }

  /** Gives the slot to no new request, and closes its model once the last user is gone. */
  async #retire(slot: Slot): Promise<void> {
    this.#forget(slot);
    while (slot.users > 0) await this.#change.promise;
    await this.#close(slot);
  }

  #forget(slot: Slot): void {
    slot.cancelTimer?.();
    if (this.#slots.get(slot.entry.path) === slot) this.#slots.delete(slot.entry.path);
  }

  #close(slot: Slot): Promise<void> {
    this.#forget(slot);
    return slot.closing ??= (async () => {
      try {
        await slot.model?.close();
      } catch {
        // A model that died cannot be closed in good order; its memory went with the device.
      }
      this.#open.delete(slot);
      this.#notify();
    })();
  }

  /** Wakes everybody who waits for a place or for a slot to fall idle. */
  #notify(): void {
    const { resolve } = this.#change;
    this.#change = Promise.withResolvers();
    resolve();
  }
}

/** The promise, or the reason of the signal if that comes first. */
async function untilAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return await promise;
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  signal.addEventListener("abort", abort);
  try {
    return await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
