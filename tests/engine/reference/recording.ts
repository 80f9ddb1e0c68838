// What a reference model computes on its way, by the names of the engine's points.

import type { Vector } from "./numbers.ts";

/** Values by point, such as "residual.post[1]". */
export class Recording {
  readonly rows = new Map<string, readonly Vector[]>();
  #layer = 0;

  /** The values that follow are of a layer. */
  enter(layer: number): void {
    this.#layer = layer;
  }

  /** Keeps the values of a point in the layer. */
  keep(name: string, rows: readonly Vector[]): void {
    this.rows.set(`${name}[${this.#layer}]`, rows);
  }
}

/** The recording of the run that is under way. */
export let recording: Recording | undefined;

/** What a run computes on its way. */
export function record(run: () => void): Recording {
  const own = recording = new Recording();
  try {
    run();
  } finally {
    recording = undefined;
  }
  return own;
}
