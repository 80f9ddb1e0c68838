// The line that a person looks at until an answer comes: a spinner, how far the server has loaded the
// model, how many requests it answers first. It goes away with the wait.

import type { Api, OllamaProcess } from "../client/mod.ts";
import { LiveLines } from "../terminal/live_lines.ts";
import type { ProgressRecord, Terminal } from "../terminal/mod.ts";

/** How often the server is asked how far it is, in milliseconds. */
const INTERVAL = 250;

/** Shows what is waited for until it is disposed of. */
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

  /** Asks the server from now on how far it has loaded the model. One that does not say is let be. */
  watchLoad(api: Api, model: string): void {
    this.#timer = setTimeout(async () => {
      try {
        const { models } = await api.json<{ models: OllamaProcess[] }>("/api/ps");
        const running = models.find(({ name }) => name === model || name === `${model}:latest`);
        if (this.#timer === undefined) return;
        if (running?.loading) this.show({ status: `loading ${model}`, ...running.loading });
        this.watchLoad(api, model);
      } catch {
        // The answer that is waited for will tell.
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
