// Estimates in workers: the client of estimate_worker.ts. Starting a worker blocks this thread for a
// twentieth of a second, and much longer on a busy machine: so there are few of them, each of which is
// at one model at a time, for all who plan its load, and then goes on to the next.

import type { WorkerThread } from "../../host/mod.ts";
import {
  ResourceError,
  startWorker,
  untilRoomForWorker,
  withWorkerFiles,
} from "../../kernels/mod.ts";
import { nextTask } from "../async.ts";
import { unpackError } from "../error_record.ts";
import { crashOfWorker, EngineError } from "../errors.ts";
import { deviceProfiles } from "./devices.ts";
import type { Estimate, FileSource, MemoryEstimate } from "./estimate.ts";
import type { EstimateAnswer, EstimateRequest } from "./estimate_worker.ts";

/** Longest that an estimate may take, in milliseconds. The largest models take a second. */
const LONGEST = 30_000;
/** Most workers: a file that takes long holds up its own alone. */
const MOST_WORKERS = 2;

const ATTEMPT = "Cannot plan the load of the model";

/** Estimates of one model. Disposing of it gives its worker back. */
export type DisposableEstimate = Estimate & Disposable;

/** A thread that also makes estimates (estimate_worker.ts), until it is given back. */
export interface LentThread {
  readonly worker: WorkerThread;
  giveBack(): void;
}

/**
 * Estimates of one model, whose files are read in a worker. Errors: those of createEstimate().
 *
 * @param borrow lends a thread that is there already, if there is one; default: a new one is started
 */
export async function estimateInWorker(
  source: FileSource,
  borrow: () => LentThread | undefined = () => undefined,
): Promise<DisposableEstimate> {
  const profiles = await deviceProfiles();
  let taken: Promise<EstimateWorker> | undefined = workers.take(source, borrow);
  await taken;
  const estimate: Estimate = ({ onProgress: _, signal: __, ...options }) =>
    withWorkerFiles(async () => {
      const mine = taken ??= workers.take(source, borrow);
      try {
        const worker = await mine;
        return await worker.ask({ turn: worker.turn, source, profiles, options });
      } catch (error) {
        // It got no files for its modules and has ended: the next try takes another.
        if (error instanceof ResourceError && mine === taken) taken = undefined;
        throw error;
      }
    });
  const giveBack = () => void taken?.then((worker) => workers.give(worker), () => {});
  return Object.assign(estimate, { [Symbol.dispose]: giveBack });
}

/** A worker that makes estimates. */
class EstimateWorker {
  readonly #worker: WorkerThread;
  readonly #giveBack: (() => void) | undefined;
  readonly #waiting = new Map<number, PromiseWithResolvers<MemoryEstimate>>();
  readonly #onEnd: () => void;
  #lastId = 0;
  #fault: Error | undefined;
  /** The model that it is at, of this number of users. */
  key: string;
  users = 0;
  /** Counts the models: what the worker has read for one is of no use for the next. */
  turn = 0;

  /** @param onEnd called when it is of no more use. Errors: ResourceError. */
  constructor(key: string, lent: LentThread | undefined, onEnd: () => void) {
    this.key = key;
    this.#onEnd = onEnd;
    this.#giveBack = lent?.giveBack;
    this.#worker = lent?.worker ??
      startWorker(new URL("./estimate_worker.ts", import.meta.url), ATTEMPT);
    this.#worker.onmessage = ({ data }: MessageEvent<EstimateAnswer>) => {
      const answer = this.#waiting.get(data.id);
      if ("error" in data) answer?.reject(unpackError(data.error));
      else answer?.resolve(data.estimate);
    };
    this.#worker.onerror = (event) => {
      event.preventDefault();
      this.end(crashOfWorker(ATTEMPT, event.message));
    };
  }

  /** An estimate with these options. */
  async ask(request: Omit<EstimateRequest, "id">): Promise<MemoryEstimate> {
    if (this.#fault) throw this.#fault;
    const id = ++this.#lastId;
    const answer = Promise.withResolvers<MemoryEstimate>();
    this.#waiting.set(id, answer);
    const late = new EngineError(`${ATTEMPT}: no answer within ${LONGEST / 1000} seconds`);
    const timer = setTimeout(() => this.end(late), LONGEST);
    try {
      this.#worker.postMessage({ id, ...request } satisfies EstimateRequest);
      return await answer.promise;
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(id);
    }
  }

  /** Ends it, or gives its thread back. */
  leave(): void {
    if (!this.#giveBack) return this.end();
    this.#onEnd();
    this.#giveBack();
  }

  /** Ends it. Who waits for an answer gets the error. */
  end(error = new EngineError(`${ATTEMPT}: its worker has ended`)): void {
    this.#fault ??= error;
    this.#worker.terminate();
    this.#onEnd();
    for (const { reject } of this.#waiting.values()) reject(error);
  }
}

/** Somebody who waits for a worker. */
interface Waiting extends PromiseWithResolvers<EstimateWorker> {
  readonly key: string;
  readonly borrow: () => LentThread | undefined;
}

/** The workers, and who waits for one. */
class EstimateWorkers {
  readonly #workers = new Set<EstimateWorker>();
  #waiting: Waiting[] = [];
  /** The models for which a worker is being started. */
  readonly #starting = new Set<string>();

  /** A worker for the model of these files. */
  async take(source: FileSource, borrow: Waiting["borrow"]): Promise<EstimateWorker> {
    const key = JSON.stringify(source);
    const waiting = { key, borrow, ...Promise.withResolvers<EstimateWorker>() };
    this.#waiting.push(waiting);
    for (const worker of this.#workers) this.#share(worker);
    if (this.#waiting.includes(waiting)) this.#startForNext();
    return await waiting.promise;
  }

  /** Gives a worker back. It goes on to the next model, or leaves if there is none. */
  give(worker: EstimateWorker): void {
    if (--worker.users > 0 || !this.#workers.has(worker)) return;
    const [next] = this.#waiting;
    if (!next) return worker.leave();
    worker.key = next.key;
    worker.turn++;
    this.#share(worker);
  }

  /** Gives a worker to all who wait for the model that it is at. */
  #share(worker: EstimateWorker): void {
    const [same, others] = [true, false].map((isSame) =>
      this.#waiting.filter(({ key }) => (key === worker.key) === isSame)
    );
    this.#waiting = others!;
    worker.users += same!.length;
    for (const { resolve } of same!) resolve(worker);
  }

  /** Starts a worker for the first model that needs one, unless there are as many as there may be. */
  #startForNext(): void {
    const next = this.#waiting.find(({ key }) => !this.#starting.has(key));
    if (!next || this.#workers.size + this.#starting.size >= MOST_WORKERS) return;
    const { key } = next;
    this.#starting.add(key);
    void this.#start(next).finally(() => this.#starting.delete(key)).then(
      () => this.#startForNext(),
      (error) => this.#fail(error),
    );
  }

  /** Ends the wait for a worker that cannot be started, unless there is one to wait for. */
  #fail(error: unknown): void {
    if (this.#workers.size > 0) return;
    for (const { reject } of this.#waiting.splice(0)) reject(error);
  }

  async #start({ key, borrow }: Waiting): Promise<void> {
    let lent = borrow();
    if (!lent) {
      // What else this turn has to do comes first.
      await nextTask();
      await untilRoomForWorker();
      // Another worker may have become free meanwhile.
      if (!this.#waiting.some((waiting) => waiting.key === key)) return;
      lent = borrow();
    }
    const worker: EstimateWorker = new EstimateWorker(key, lent, () => {
      this.#workers.delete(worker);
      this.#startForNext();
    });
    this.#workers.add(worker);
    this.#share(worker);
  }
}

const workers = new EstimateWorkers();
