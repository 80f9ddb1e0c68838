// Which models are in memory: loads on demand, one load per file at a time, keeps a model for a
// while after its last use, makes room by closing the idle one that was used longest ago.
// It runs nothing itself, and knows neither GGUF nor the GPU: models come from `open`.

import { GpuMemoryError } from "../../kernels/mod.ts";
import { ModelClosedError, WorkerBusyError } from "../errors.ts";
import type { StoreEntry } from "../store/types.ts";
import type { ChatModel } from "../types.ts";
import { untilAborted } from "../async.ts";
import { BusyWorkers } from "./busy_workers.ts";
import { type Clock, systemClock } from "./clock.ts";
import { Loader } from "./loader.ts";
import { whoLeaves } from "./room.ts";
import { keyOf, Slot } from "./slot.ts";
import type { AcquireOptions, AskedLoad, Lease, ManagerOptions, RunningModel } from "./types.ts";

/** What a model takes of whose memory nothing is known. */
const UNKNOWN_MEMORY = { weights: 0, keyValueCache: 0, scratch: 0 };

/** Loads, lends and unloads models. */
export class ModelManager {
  readonly #options: ManagerOptions;
  readonly #clock: Clock;
  readonly #loader: Loader;
  /** The slot that new requests get, by the key of its source. */
  readonly #slots = new Map<string, Slot>();
  /** Slots that hold memory: opening, open or closing. */
  readonly #open = new Set<Slot>();
  readonly #shutdown = new AbortController();
  readonly #busyWorkers: BusyWorkers;
  #change = Promise.withResolvers<void>();

  constructor(options: ManagerOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#loader = new Loader(options, this.#clock);
    this.#busyWorkers = new BusyWorkers(this.#clock, options.warn ?? (() => {}));
  }

  /**
   * Waits until the model is loaded and lends it.
   *
   * @throws {ModelNotFoundError} if the store has none of that name
   * @throws {InsufficientMemoryError} if it does not fit, even alone
   * @throws {ModelClosedError} after closeAll()
   */
  async acquire(name: string, options: AcquireOptions = {}): Promise<Lease> {
    const { keepAlive, signal } = options;
    const asked = askedOf(options);
    const started = this.#clock.now();
    const entry = await this.#options.store.find(name);
    for (;;) {
      const slot = this.#slots.get(keyOf(entry.source)) ?? this.#load(entry, asked);
      this.#take(slot, entry, keepAlive);
      try {
        const model = await untilAborted(slot.ready, signal);
        if (suffices(slot, model, asked)) {
          return this.#lease(slot, entry, this.#clock.now() - started);
        }
        // What cannot be loaded in its place is no reason to close it.
        await untilAborted(this.#loader.plan(entry, asked), signal);
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
    const { source } = await this.#options.store.find(name);
    const slot = this.#slots.get(keyOf(source));
    if (!slot) return;
    slot.keepAlive = 0;
    if (slot.isIdle) await this.#retire(slot);
  }

  /** The models in memory and on their way into it, the one that leaves last first. */
  running(): RunningModel[] {
    const models: RunningModel[] = [];
    for (const slot of this.#slots.values()) {
      const { entry, model, plan, progress, users, lastUsed, keepAlive } = slot;
      if (!this.#open.has(slot) || entry.source.kind === "remote") continue;
      const idleSince = users > 0 || !model ? this.#clock.now() : lastUsed;
      models.push({
        entry,
        ...(model ? { model } : progress && { progress }),
        memory: model?.memory ?? plan?.estimate.memory ?? UNKNOWN_MEMORY,
        contextLength: model?.contextLength ?? plan?.estimate.contextLength ??
          slot.asked.contextLength ?? 0,
        expiresAt: idleSince + keepAlive,
      });
    }
    return models.sort((a, b) => b.expiresAt - a.expiresAt || 0);
  }

  /** Workers that do not answer: which there are, and how many there ever were. */
  get busyWorkers(): Pick<BusyWorkers, "current" | "total"> {
    return this.#busyWorkers;
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

  #load(entry: StoreEntry, request: AskedLoad): Slot {
    const asked = { ...askedOf(this.#options.load ?? {}), ...request };
    const keepAlive = this.#options.keepAlive ?? 5 * 60_000;
    const key = keyOf(entry.source);
    const slot = new Slot(entry, key, asked, keepAlive, this.#clock.now());
    this.#slots.set(key, slot);
    slot.ready = this.#openInto(slot);
    // Each waiting request gets the failure through its own await; there may be none left.
    slot.ready.catch(() => {});
    return slot;
  }

  async #openInto(slot: Slot): Promise<ChatModel> {
    try {
      const plan = await this.#loader.plan(slot.entry, slot.asked);
      if (plan) slot.plan = plan;
      slot.model = await this.#openFitting(slot);
    } catch (error) {
      this.#forget(slot);
      this.#leave(slot);
      throw error;
    }
    if (slot.users === 0) this.#startTimer(slot);
    return slot.model;
  }

  /** Opens a model once there is room; where the GPU has less than was thought, a smaller one. */
  async #openFitting(slot: Slot): Promise<ChatModel> {
    const { entry, asked } = slot;
    for (;;) {
      await this.#makeRoomFor(slot);
      const { plan } = slot;
      try {
        return await this.#loader.open(entry, asked, {
          plan,
          signal: this.#shutdown.signal,
          onProgress: (progress) => void (slot.progress = progress),
          isolated: this.#isIsolated(slot),
          onBusy: (busy) => this.#busyWorkers.add(slot, busy, () => void this.#close(slot)),
        });
      } catch (error) {
        if (!(error instanceof GpuMemoryError)) throw error;
        this.#leave(slot);
        if (await this.#closeIdle()) continue;
        slot.plan = await this.#loader.planSmaller(entry, asked, { plan, error });
      }
    }
  }

  /** Waits until the slot's model fits, and takes its place. */
  async #makeRoomFor(slot: Slot): Promise<void> {
    this.#shutdown.signal.throwIfAborted();
    if (slot.entry.source.kind === "remote") return void this.#open.add(slot);
    const room = {
      ...await this.#loader.totalMemory(),
      count: this.#options.maxLoaded || Infinity,
    };
    for (;;) {
      this.#shutdown.signal.throwIfAborted();
      const others = [...this.#open].filter(({ entry }) => entry.source.kind !== "remote");
      // The memory of a model that is closing is not free yet, and no file is in memory twice.
      const wait = others.some(({ closing, key }) => closing || key === slot.key);
      const leaving = wait ? undefined : whoLeaves(others, slot, room);
      if (leaving?.length === 0) return void this.#open.add(slot);
      for (const idle of leaving ?? []) void this.#retire(idle);
      await this.#change.promise;
      if (slot.users === 0) {
        throw new ModelClosedError("Cannot load a model: nobody waits for it any more");
      }
    }
  }

  /** Closes what nobody uses. Gives whether there was any. */
  async #closeIdle(): Promise<boolean> {
    const idle = [...this.#open].filter(({ isIdle, entry }) =>
      isIdle && entry.source.kind !== "remote"
    );
    await Promise.all(idle.map((slot) => this.#retire(slot)));
    return idle.length > 0;
  }

  #take(slot: Slot, entry: StoreEntry, keepAlive: number | undefined): void {
    slot.users++;
    slot.entry = entry;
    slot.cancelTimer?.();
    if (keepAlive !== undefined) slot.keepAlive = keepAlive;
  }

  #lease(slot: Slot, entry: StoreEntry, loadMilliseconds: number): Lease {
    let released = false;
    const release = (cause?: unknown) => {
      if (!released) this.#release(slot, cause);
      released = true;
    };
    return { entry, model: slot.model!, loadMilliseconds, release };
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
    if (this.#slots.get(slot.key) !== slot || slot.keepAlive === Infinity) return;
    if (slot.keepAlive <= 0) return void this.#retire(slot);
    slot.cancelTimer = this.#clock.schedule(() => void this.#retire(slot), slot.keepAlive);
  }

  /** Gives the slot to no new request, and closes its model once the last user is gone. */
  async #retire(slot: Slot): Promise<void> {
    this.#forget(slot);
    while (slot.users > 0) await this.#change.promise;
    await this.#close(slot);
  }

  #forget(slot: Slot): void {
    slot.cancelTimer?.();
    if (this.#slots.get(slot.key) === slot) this.#slots.delete(slot.key);
  }

  #close(slot: Slot): Promise<void> {
    this.#forget(slot);
    return slot.closing ??= (async () => {
      try {
        await slot.model?.close();
      } catch (error) {
        // Any other model died: it cannot be closed in good order, and its memory went with the device.
        // A busy one gives its place to others, too: it may keep it for ever.
        if (error instanceof WorkerBusyError) this.#busyWorkers.addStuck(slot, error);
      }
      this.#leave(slot);
    })();
  }

  /** Whether a model is to run in a process of its own. */
  #isIsolated(slot: Slot): boolean {
    const { isolation = "auto" } = this.#options;
    return isolation === "process" || isolation === "auto" && this.#busyWorkers.wasStuck(slot);
  }

  /** Gives the slot's place free. */
  #leave(slot: Slot): void {
    this.#open.delete(slot);
    this.#notify();
  }

  /** Wakes everybody who waits for a place or for a slot to fall idle. */
  #notify(): void {
    const { resolve } = this.#change;
    this.#change = Promise.withResolvers();
    resolve();
  }
}

/** What a request asks of a load; what is automatic is not asked for. */
function askedOf({ contextLength, gpuLayers = -1 }: AskedLoad): AskedLoad {
  return {
    ...(contextLength !== undefined && { contextLength }),
    ...(gpuLayers >= 0 && { gpuLayers }),
  };
}

/** Whether a model is loaded as a request asks for, or as well as it can be. */
function suffices({ entry, asked, plan }: Slot, model: ChatModel, request: AskedLoad): boolean {
  const { source, info } = entry;
  if (source.kind === "remote") return true;
  const wanted = Math.min(request.contextLength ?? 0, info.trainedContextLength);
  if (wanted > Math.max(model.contextLength, asked.contextLength ?? 0)) return false;
  const layers = plan?.estimate.layout?.layers;
  if (request.gpuLayers === undefined || layers === undefined) return true;
  const loaded = plan?.options.gpuLayers ?? layers;
  return Math.min(request.gpuLayers, layers) === Math.min(loaded, layers);
}
