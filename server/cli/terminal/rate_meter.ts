// How fast a value grows, over a sliding window: steady enough to read, and quick to show a stall.

const WINDOW_MILLISECONDS = 5000;
/** The shortest time over which a rate is given. */
const SHORTEST_MILLISECONDS = 500;

/** Measures a value that grows. Times are in milliseconds. */
export class RateMeter {
  #samples: { time: number; value: number }[] = [];

  /** Notes what the value is now. A value that has gone back, as by a retry, begins anew. */
  add(value: number, time: number): void {
    const last = this.#samples.at(-1);
    if (last && value < last.value) this.#samples = [];
    this.#samples.push({ time, value });
    this.#forget(time);
  }

  /** Growth per second, undefined while there is too little to tell. */
  rate(time: number): number | undefined {
    this.#forget(time);
    const [first] = this.#samples;
    if (!first || time - first.time < SHORTEST_MILLISECONDS) return undefined;
    return 1000 * (this.#samples.at(-1)!.value - first.value) / (time - first.time);
  }

  /** Keeps the last sample before the window, which says what the value was where it begins. */
  #forget(time: number): void {
    const start = time - WINDOW_MILLISECONDS;
    const inside = this.#samples.findIndex((sample) => sample.time >= start);
    const first = inside === -1 ? this.#samples.length : inside;
    const [before] = this.#samples.splice(0, first).slice(-1);
    if (before) this.#samples.unshift({ time: start, value: before.value });
  }
}
