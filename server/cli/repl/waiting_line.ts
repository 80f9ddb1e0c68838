// The line that is shown until an answer comes: a spinner, how far the model is loaded, how many
// requests come first. It disappears when the answer begins.

import type { Api } from "../client/mod.ts";
import { LiveLines, type ProgressRecord, type Terminal } from "../terminal/mod.ts";

/** How often the server is asked how far it is, in milliseconds. */
const INTERVAL = 250;

/** Shows what the program waits for, until disposal. */
export class WaitingLine implements Disposable {
  readonly #terminal: Terminal;
  #lines: LiveLines | undefined;
  #status: string | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(terminal: Terminal, status: string) {
    this.#terminal = terminal;
    this.show({ status });
  }

  /** Shows this in place of what stood there. */
  show(record: ProgressRecord): void {
    if (record.status !== this.#status) {
      this.#lines?.[Symbol.dispose]();
      this.#lines = new LiveLines(this.#terminal, { transient: true });
      this.#status = record.status;
    }
    this.#lines!.update(record);
  }

  /** Starts asking the server how far the model is loaded; errors end that silently. */
  watchLoad(api: Api, model: string): void {
    this.#timer = setTimeout(async () => {
      try {
        const { models } = await api.json("/api/ps");
        const running = models.find(({ name }) => name === model || name === `${model}:latest`);
        if (this.#timer === undefined) return;
        if (running?.loading) this.show({ status: `loading ${model}`, ...running.loading });
        this.watchLoad(api, model);
      } catch {
        // The answer will tell what is wrong.
      }
    }, INTERVAL);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#lines?.[Symbol.dispose]();
    this.#lines = undefined;
  }
}
