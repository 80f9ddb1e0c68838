// Finds stop strings in text that comes in pieces. Gives out what can no longer be part of one.

/** Holds back the longest tail that could still become a stop string. */
export class StopStrings {
  readonly #stops: readonly string[];
  #held = "";

  constructor(stops: readonly string[]) {
    this.#stops = stops.filter((stop) => stop.length > 0);
  }

  /** Adds text; gives what is free to go, and the stop string if one has come: the text ends there. */
  push(text: string): { text: string; stop?: string } {
    const all = this.#held + text;
    let first = -1;
    let found: string | undefined;
    for (const stop of this.#stops) {
      const at = all.indexOf(stop);
      if (at >= 0 && (first < 0 || at < first)) [first, found] = [at, stop];
    }
    if (found !== undefined) {
      this.#held = "";
      return { text: all.slice(0, first), stop: found };
    }
    const keep = Math.max(0, ...this.#stops.map((stop) => overlap(all, stop)));
    this.#held = all.slice(all.length - keep);
    return { text: all.slice(0, all.length - keep) };
  }

  /** What was held back, at the end of the text. */
  flush(): string {
    const held = this.#held;
    this.#held = "";
    return held;
  }
}

/** Length of the longest end of `text` that begins `stop`. */
function overlap(text: string, stop: string): number {
  for (let length = Math.min(text.length, stop.length - 1); length > 0; length--) {
    if (text.endsWith(stop.slice(0, length))) return length;
  }
  return 0;
}
