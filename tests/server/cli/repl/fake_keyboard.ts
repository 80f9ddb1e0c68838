// A keyboard that types what a test tells it to, each piece when the program reads, and then is gone.

import type { Keyboard, KeyboardMode } from "../../../../server/cli/repl/keys.ts";

/** A piece to type, or what must come before the next. */
export type Stroke = string | (() => void | Promise<void>);

/** The keyboard. */
export class FakeKeyboard implements Keyboard {
  mode: KeyboardMode = "lines";
  suspended = 0;
  readonly #strokes: Stroke[];
  readonly #resized = new Set<() => void>();

  constructor(strokes: Stroke[] = []) {
    this.#strokes = [...strokes];
  }

  setMode(mode: KeyboardMode): void {
    this.mode = mode;
  }

  async read(): Promise<Uint8Array | undefined> {
    for (;;) {
      const stroke = this.#strokes.shift();
      if (typeof stroke === "string") return new TextEncoder().encode(stroke);
      if (stroke === undefined) return undefined;
      await stroke();
    }
  }

  onResize(callback: () => void): () => void {
    this.#resized.add(callback);
    return () => this.#resized.delete(callback);
  }

  /** The window has another size. */
  resize(): void {
    for (const callback of this.#resized) callback();
  }

  suspend(): void {
    this.suspended++;
  }
}
