// The workers that do not answer: told of, counted, and remembered by what they ran, because it may
// get the next one stuck, too.

import type { WorkerBusyError } from "../errors.ts";
import type { Clock } from "./clock.ts";
import type { ManagedModel } from "./managed_model.ts";

/**
 * How long a worker that does not answer keeps its model, in milliseconds. With a GPU a step takes
 * less than a second; where the driver runs on the CPU, those of a large model take a minute.
 */
const LOST_MILLISECONDS = 2 * 60_000;

/** A worker that does not answer. */
export interface BusyWorker {
  /** Name of its model. */
  readonly name: string;
  /** Since when that is known; milliseconds since 1970. */
  readonly since: number;
}

/** Keeps account of them. */
export class BusyWorkers {
  readonly #clock: Clock;
  readonly #warn: (message: string) => void;
  readonly #busy = new Map<ManagedModel, BusyWorker>();
  readonly #stuck = new Set<string>();
  #total = 0;

  constructor(clock: Clock, warn: (message: string) => void) {
    this.#clock = clock;
    this.#warn = warn;
  }

  /** Those that still do not answer. */
  get current(): readonly BusyWorker[] {
    return [...this.#busy.values()];
  }

  /** How many there ever were. */
  get total(): number {
    return this.#total;
  }

  /** Whether a worker of these files could not be closed. */
  wasStuck({ key }: ManagedModel): boolean {
    return this.#stuck.has(key);
  }

  /** Tells of a worker that could not be closed. */
  addStuck(managed: ManagedModel, error: WorkerBusyError): void {
    this.#stuck.add(managed.key);
    this.add(managed, error);
  }

  /** Tells of a worker that does not answer; `lost` is called if that does not change. */
  add(managed: ManagedModel, { message, ended }: WorkerBusyError, lost?: () => void): void {
    const { entry: { name } } = managed;
    this.#warn(`${name}: ${message}`);
    if (this.#busy.has(managed)) return;
    const since = this.#clock.now();
    this.#busy.set(managed, { name, since });
    this.#total++;
    const cancel = lost && this.#clock.schedule(lost, LOST_MILLISECONDS);
    void ended.then(() => {
      cancel?.();
      this.#busy.delete(managed);
      const seconds = Math.round((this.#clock.now() - since) / 1000);
      this.#warn(`${name}: its worker answers again, or has ended, ${seconds} seconds later`);
    });
  }
}
