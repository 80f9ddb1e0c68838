// Which models lost their device lately: after the second time the CPU answers for a while, since what
// takes a device down once may do so again and again.

import type { DeviceFailedError } from "../errors.ts";
import type { Clock } from "./clock.ts";
import type { ManagedModel } from "./managed_model.ts";

/** Losses count together within this time, in milliseconds; then the device is tried again. */
const WITHIN = 10 * 60_000;

/** Losses after which a model is loaded on the CPU. */
const MOST = 2;

/** The losses of devices, by the keys of the models that ran on them. */
export class DeviceLosses {
  readonly #clock: Clock;
  readonly #warn: (message: string) => void;
  readonly #times = new Map<string, number[]>();

  constructor(clock: Clock, warn: (message: string) => void) {
    this.#clock = clock;
    this.#warn = warn;
  }

  /** Notes that the device of a model failed. */
  add({ key, entry: { name } }: ManagedModel, { message }: DeviceFailedError): void {
    this.#times.set(key, [...this.#lately(key), this.#clock.now()]);
    const consequence = this.isOnCpu(key)
      ? `the device failed twice within ${WITHIN / 60_000} minutes, so the CPU answers for as long`
      : "the model is loaded anew";
    this.#warn(`${name}: ${message}; ${consequence}`);
  }

  /** Whether a model is to be loaded on the CPU. */
  isOnCpu(key: string): boolean {
    return this.#lately(key).length >= MOST;
  }

  #lately(key: string): number[] {
    const now = this.#clock.now();
    return (this.#times.get(key) ?? []).filter((time) => now - time < WITHIN);
  }
}
