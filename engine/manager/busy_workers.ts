// The workers that do not answer: they are reported and counted. The manager remembers which model
// each ran, because the same model may block its next worker, too.

import type { WorkerBusyError } from "../errors.ts";
import type { Clock } from "./clock.ts";
import type { ManagedModel } from "./managed_model.ts";

/**
 * Milliseconds after which a worker that does not answer loses its model. A step takes less than a
 * second on a GPU, and up to a minute for a large model where the driver runs on the CPU.
 */
const LOST_MILLISECONDS = 2 * 60_000;

/** A worker that does not answer. */
export interface BusyWorker {
  /** Name of its model. */
  readonly name: string;
  /** Time at which it was first noticed, in milliseconds since 1970. */
  readonly since: number;
}

/** The list of workers that do not answer. */
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

  /** The workers that still do not answer. */
  get current(): readonly BusyWorker[] {
    return [...this.#busy.values()];
  }

  /** How many workers ever did not answer. */
  get total(): number {
    return this.#total;
  }

  /** Whether a worker of these files could not be closed. */
  wasStuck({ key }: ManagedModel): boolean {
    return this.#stuck.has(key);
  }

  /** Adds a worker that could not be closed. */
  addStuck(managed: ManagedModel, error: WorkerBusyError): void {
    this.#stuck.add(managed.key);
    this.add(managed, error);
  }

  /**
   * Adds a worker that does not answer. `lost` is called if it still does not answer after two
   * minutes.
   */
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
