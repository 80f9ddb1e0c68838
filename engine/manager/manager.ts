// The manager of loaded models. It loads models on demand, each file once, keeps a model for a
// while after its last use, and evicts the least recently used idle models if memory is needed. It
// knows neither GGUF nor the GPU: models come from the option `open`.

import { DeviceLostError, GpuMemoryError } from "../../kernels/mod.ts";
import {
  DeviceFailedError,
  ModelClosedError,
  type ModelLostError,
  RequestError,
  WorkerBusyError,
} from "../errors.ts";
import type { StoreEntry } from "../store/types.ts";
import type { ChatModel } from "../types/mod.ts";
import { untilAborted } from "../async.ts";
import { BusyWorkers } from "./busy_workers.ts";
import { type Clock, systemClock } from "./clock.ts";
import { DeviceLosses } from "./device_losses.ts";
import { compareOptions, demandsOf, Loader, namesOptions, windowFor } from "./loader.ts";
import { chooseEvictions } from "./eviction.ts";
import { keyOf, ManagedModel } from "./managed_model.ts";
import { WindowedModel } from "./windowed_model.ts";
import type {
  AcquireOptions,
  AskedLoad,
  Lease,
  LoadEstimate,
  ManagerOptions,
  RunningModel,
} from "./types.ts";

/** Memory of a model about which nothing is known. */
const UNKNOWN_MEMORY = { weights: 0, keyValueCache: 0, scratch: 0 };

/** The manager of loaded models: gives leases on them, loads and unloads them. */
export class ModelManager {
  readonly #options: ManagerOptions;
  readonly #clock: Clock;
  readonly #loader: Loader;
  /** The model that new requests get, by the key of its source. */
  readonly #current = new Map<string, ManagedModel>();
  /** Models that hold memory: opening, open or closing. */
  readonly #open = new Set<ManagedModel>();
  readonly #shutdown = new AbortController();
  readonly #busyWorkers: BusyWorkers;
  readonly #losses: DeviceLosses;
  #change = Promise.withResolvers<void>();

  constructor(options: ManagerOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#loader = new Loader(options, this.#clock);
    this.#busyWorkers = new BusyWorkers(this.#clock, options.warn ?? (() => {}));
    this.#losses = new DeviceLosses(this.#clock, options.warn ?? (() => {}));
  }

  /**
   * Waits until the model is loaded and gives a lease on it.
   *
   * @throws {ModelNotFoundError} if the store has no model of that name
   * @throws {InsufficientMemoryError} if it does not fit, even alone
   * @throws {ModelClosedError} after closeAll()
   */
  async acquire(name: string, options: AcquireOptions = {}): Promise<Lease> {
    const { keepAlive, signal } = options;
    const started = this.#clock.now();
    const entry = await this.#options.store.find(name);
    const asked = await this.#demandsOf(entry, options);
    let before: ManagedModel | undefined;
    for (;;) {
      const managed = this.#current.get(keyOf(entry.source)) ?? this.#load(entry, asked, before);
      this.#take(managed, entry, keepAlive);
      // A request may have found its files before they changed, and the loaded model be the newer.
      let isOutdated = false;
      try {
        const model = await untilAborted(managed.ready, signal);
        const isSame = managed.stamp === entry.stamp;
        isOutdated = !isSame && (await this.#options.store.find(name)).stamp !== entry.stamp;
        const window = await untilAborted(this.#windowOf(managed, asked), signal);
        if (isSame && window !== undefined && this.#hasOptions(managed, asked)) {
          const lent = window < model.contextLength ? new WindowedModel(model, window) : model;
          return this.#lease(managed, { entry, model: lent, asked }, started);
        }
        // The loaded model is closed only if the wanted one can be loaded instead of it.
        if (!isOutdated) await untilAborted(this.#loader.fit(entry, asked), signal);
      } catch (error) {
        this.#release(managed, error);
        throw error;
      }
      if (isOutdated) {
        this.#release(managed);
        return await this.acquire(name, options);
      }
      this.#release(managed);
      void this.#retire(managed);
      before = managed;
    }
  }

  /**
   * Closes the model of that name as soon as nobody uses it. Waits for that only if nobody uses it
   * now.
   */
  async unload(name: string): Promise<void> {
    const { source } = await this.#options.store.find(name);
    const managed = this.#current.get(keyOf(source));
    if (!managed) return;
    managed.keepAlive = 0;
    if (managed.isIdle) await this.#retire(managed);
  }

  /**
   * The memory that a model would take if it were loaded alone; nothing is loaded. Undefined if
   * that is not known, and for models on other servers.
   *
   * @throws {ModelNotFoundError} if the store has no model of that name
   * @throws {InsufficientMemoryError} if it does not fit
   */
  async estimate(name: string, request: AskedLoad = {}): Promise<LoadEstimate | undefined> {
    const entry = await this.#options.store.find(name);
    const fitted = await this.#loader.fit(entry, await this.#demandsOf(entry, request));
    if (!fitted) return undefined;
    const { bytes, systemBytes } = await this.#loader.totalMemory();
    return {
      memory: fitted.estimate.memory,
      contextLength: fitted.estimate.contextLength,
      isShrunk: fitted.isShrunk,
      total: bytes,
      ...(systemBytes < Infinity && { systemTotal: systemBytes }),
    };
  }

  /**
   * The window that a request gets now, in tokens: of the loaded model, or of what a load would give.
   * Undefined if that is not known. Errors: those of estimate().
   */
  async windowOf(entry: StoreEntry, request: AskedLoad = {}): Promise<number | undefined> {
    const asked = await this.#demandsOf(entry, request);
    const managed = this.#current.get(keyOf(entry.source));
    const isCurrent = managed?.model && managed.stamp === entry.stamp;
    const lent = isCurrent ? await this.#windowOf(managed, asked) : undefined;
    return lent ?? await this.#loader.windowOf(entry, asked);
  }

  /** The models that are loaded or loading, the one that expires last first. */
  running(): RunningModel[] {
    const models: RunningModel[] = [];
    for (const managed of this.#current.values()) {
      const { entry, model, fitted, progress, users, lastUsed, keepAlive } = managed;
      if (!this.#open.has(managed) || entry.source.kind === "remote") continue;
      const idleSince = users > 0 || !model ? this.#clock.now() : lastUsed;
      models.push({
        entry,
        ...(model ? { model } : progress && { progress }),
        users,
        memory: model?.memory ?? fitted?.estimate.memory ?? UNKNOWN_MEMORY,
        contextLength: model?.contextLength ?? fitted?.estimate.contextLength ??
          managed.asked.contextLength ?? 0,
        expiresAt: idleSince + keepAlive,
      });
    }
    return models.sort((a, b) => b.expiresAt - a.expiresAt || 0);
  }

  /** Workers that do not answer: the current ones, and how many there ever were. */
  get busyWorkers(): Pick<BusyWorkers, "current" | "total"> {
    return this.#busyWorkers;
  }

  /** Closes every model and ends what still runs. Afterwards nothing can be acquired. */
  async closeAll(): Promise<void> {
    this.#shutdown.abort(new ModelClosedError("Cannot load a model: the server is shutting down"));
    this.#notify();
    await Promise.allSettled([...this.#open].map(async (managed) => {
      await managed.ready;
      await this.#close(managed);
    }));
  }

  /**
   * The demands of a request, or the server's where it has none, with the path of the draft model
   * that it or the model's creator names.
   */
  async #demandsOf({ source }: StoreEntry, request: AskedLoad): Promise<AskedLoad> {
    const asked = { ...demandsOf(this.#options.load ?? {}), ...demandsOf(request) };
    if (source.kind === "remote") {
      const { draft: _, ...others } = asked;
      return others;
    }
    const draft = asked.draft ? await this.#pathOf(asked.draft) : asked.draft ?? source.draft;
    return { ...asked, ...(draft !== undefined && { draft }) };
  }

  async #pathOf(draft: string): Promise<string> {
    const { source } = await this.#options.store.find(draft);
    if (source.kind === "files") return source.path;
    throw new RequestError(`Cannot draft with "${draft}": it runs on another server`);
  }

  /** @param before the same model with other options, whose place it takes */
  #load(entry: StoreEntry, asked: AskedLoad, before: ManagedModel | undefined): ManagedModel {
    const keepAlive = before?.keepAlive || (this.#options.keepAlive ?? 5 * 60_000);
    const key = keyOf(entry.source);
    const managed = new ManagedModel(entry, key, asked, keepAlive, this.#clock.now(), before);
    this.#current.set(key, managed);
    managed.ready = this.#openInto(managed);
    // Each waiting request gets the failure through its own await. This one is for the case that no
    // request waits any more.
    managed.ready.catch(() => {});
    return managed;
  }

  async #openInto(managed: ManagedModel): Promise<ChatModel> {
    try {
      if (managed.entry.source.kind === "files") this.#options.startAhead?.();
      const fitted = await this.#loader.fit(managed.entry, this.#askedOf(managed));
      if (fitted) managed.fitted = fitted;
      managed.model = await this.#openFitting(managed);
    } catch (error) {
      this.#forget(managed);
      this.#leave(managed);
      throw error;
    }
    if (managed.users === 0) this.#startTimer(managed);
    return managed.model;
  }

  /**
   * Opens a model once it fits. If the GPU has less memory than estimated, the window gets smaller.
   */
  async #openFitting(managed: ManagedModel): Promise<ChatModel> {
    const { entry } = managed;
    for (;;) {
      await this.#evictFor(managed);
      const asked = this.#askedOf(managed);
      const { fitted } = managed;
      try {
        return await this.#loader.open(entry, asked, {
          fitted,
          signal: this.#shutdown.signal,
          onProgress: (progress) => void (managed.progress = progress),
          isolated: this.#isIsolated(managed),
          onBusy: (busy) => this.#busyWorkers.add(managed, busy, () => void this.#close(managed)),
          onCrash: (error) => this.#lose(managed, error),
        });
      } catch (error) {
        if (error instanceof DeviceLostError) {
          this.#leave(managed);
          await this.#refit(managed, error);
          continue;
        }
        if (!(error instanceof GpuMemoryError)) throw error;
        this.#leave(managed);
        if (await this.#closeIdle()) continue;
        managed.fitted = await this.#loader.fitSmaller(entry, asked, { fitted, error });
      }
    }
  }

  /** Drops a model that ended by itself. */
  #lose(managed: ManagedModel, error: ModelLostError): void {
    if (error instanceof DeviceFailedError) this.#losses.add(managed, error);
    void this.#close(managed);
  }

  /** Plans the next try of a load during which the device was lost. Errors: that loss, on the CPU. */
  async #refit(managed: ManagedModel, error: DeviceLostError): Promise<void> {
    if (this.#askedOf(managed).gpuLayers === 0) throw error;
    this.#losses.add(managed, new DeviceFailedError(error));
    const fitted = await this.#loader.fit(managed.entry, this.#askedOf(managed));
    if (fitted) managed.fitted = fitted;
  }

  /** What is asked of a load: the CPU, if the device failed too often. */
  #askedOf({ key, asked }: ManagedModel): AskedLoad {
    return this.#losses.isOnCpu(key) ? { ...asked, gpuLayers: 0 } : asked;
  }

  /** Waits until the model fits beside the others, and counts it among the open ones. */
  async #evictFor(managed: ManagedModel): Promise<void> {
    this.#shutdown.signal.throwIfAborted();
    if (managed.entry.source.kind === "remote") return void this.#open.add(managed);
    const limits = {
      ...await this.#loader.totalMemory(),
      count: this.#options.maxLoaded || Infinity,
    };
    for (;;) {
      this.#shutdown.signal.throwIfAborted();
      const others = [...this.#open].filter(({ entry }) => entry.source.kind !== "remote");
      // The memory of a closing model is not free yet. The same file is never in memory twice.
      const wait = others.some(({ closing, key }) => closing || key === managed.key);
      const evicted = wait ? undefined : chooseEvictions(others, managed, limits);
      if (evicted?.length === 0) return void this.#open.add(managed);
      for (const idle of evicted ?? []) void this.#retire(idle);
      await this.#change.promise;
      if (managed.users === 0) {
        throw new ModelClosedError("Cannot load a model: nobody waits for it any more");
      }
    }
  }

  /** Closes all idle models. Gives whether there were any. */
  async #closeIdle(): Promise<boolean> {
    const idle = [...this.#open].filter(({ isIdle, entry }) =>
      isIdle && entry.source.kind !== "remote"
    );
    await Promise.all(idle.map((managed) => this.#retire(managed)));
    return idle.length > 0;
  }

  #take(managed: ManagedModel, entry: StoreEntry, keepAlive: number | undefined): void {
    managed.users++;
    managed.entry = entry;
    managed.cancelTimer?.();
    if (keepAlive !== undefined) managed.keepAlive = keepAlive;
  }

  /** The window that a request gets of a loaded model; undefined if it is too small. */
  async #windowOf(managed: ManagedModel, request: AskedLoad): Promise<number | undefined> {
    const { entry, asked, model } = managed;
    if (asked.contextLength === undefined) {
      managed.automaticWindow = model!.contextLength;
    } else if (request.contextLength === undefined && entry.source.kind !== "remote") {
      managed.automaticWindow ??= (await this.#loader.fit(entry, request))?.estimate.contextLength;
    }
    return windowFor(managed, request, managed.automaticWindow);
  }

  /** Whether a request gets the other options of a loaded model. */
  #hasOptions(managed: ManagedModel, request: AskedLoad): boolean {
    const { claim } = managed;
    const agreement = compareOptions(managed, request);
    if (agreement !== "unnamed") return agreement === "same";
    const now = this.#clock.now();
    if (claim.stays(now)) return true;
    claim.giveWay(now);
    return false;
  }

  #lease(
    managed: ManagedModel,
    { entry, model, asked }: Pick<Lease, "entry" | "model"> & { asked: AskedLoad },
    started: number,
  ): Lease {
    const now = this.#clock.now();
    const claim = namesOptions(asked) ? managed.claim.enter(now) : undefined;
    let released = false;
    const release = (cause?: unknown) => {
      if (released) return;
      released = true;
      claim?.[Symbol.dispose]();
      this.#release(managed, cause);
    };
    return { entry, model, loadMilliseconds: now - started, release };
  }

  #release(managed: ManagedModel, cause?: unknown): void {
    managed.users--;
    managed.lastUsed = this.#clock.now();
    if (cause instanceof ModelClosedError && managed.model) void this.#close(managed);
    if (managed.users === 0 && managed.model) this.#startTimer(managed);
    this.#notify();
  }

  #startTimer(managed: ManagedModel): void {
    managed.cancelTimer?.();
    if (this.#current.get(managed.key) !== managed || managed.keepAlive === Infinity) return;
    if (managed.keepAlive <= 0) return void this.#retire(managed);
    managed.cancelTimer = this.#clock.schedule(() => void this.#retire(managed), managed.keepAlive);
  }

  /** Gives the model to no new request, and closes it after its last user. */
  async #retire(managed: ManagedModel): Promise<void> {
    this.#forget(managed);
    while (managed.users > 0) await this.#change.promise;
    await this.#close(managed);
  }

  #forget(managed: ManagedModel): void {
    managed.cancelTimer?.();
    if (this.#current.get(managed.key) === managed) this.#current.delete(managed.key);
  }

  #close(managed: ManagedModel): Promise<void> {
    this.#forget(managed);
    return managed.closing ??= (async () => {
      try {
        await managed.model?.close();
      } catch (error) {
        // Errors other than "busy" mean that the model died, and its memory was freed with its
        // device. A busy worker may stay busy for ever, so its memory is given to other models,
        // too.
        if (error instanceof WorkerBusyError) this.#busyWorkers.addStuck(managed, error);
      }
      this.#leave(managed);
    })();
  }

  /** Whether the model has to run in a process of its own. */
  #isIsolated(managed: ManagedModel): boolean {
    const { isolation = "auto" } = this.#options;
    return isolation === "process" || isolation === "auto" && this.#busyWorkers.wasStuck(managed);
  }

  /** Removes the model from the open ones. */
  #leave(managed: ManagedModel): void {
    this.#open.delete(managed);
    this.#notify();
  }

  /** Wakes all that wait for memory or for an idle model. */
  #notify(): void {
    const { resolve } = this.#change;
    this.#change = Promise.withResolvers();
    resolve();
  }
}
