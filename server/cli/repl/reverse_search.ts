// Ctrl-R: a search backwards through the history that narrows with each key. Pure.

import type { Key } from "./keys.ts";

/** Whether the search continues, ended with a match, or was cancelled. */
export type SearchOutcome = "searching" | "found" | "given up";

/** One search, from the newest text to the oldest. */
export class ReverseSearch {
  readonly #history: readonly string[];
  /** The index of the match in the history; at first, the index after the newest entry. */
  #place: number;
  #query = "";

  constructor(history: readonly string[]) {
    this.#history = history;
    this.#place = history.length;
  }

  get query(): string {
    return this.#query;
  }

  /** The text found, if one was. */
  get match(): string | undefined {
    return this.#history[this.#place];
  }

  /** Takes a key; one that is none of the search ends it, and then has its own effect. */
  press(key: Key): SearchOutcome {
    if (key.name === "ctrl+g" || key.name === "ctrl+c" || key.name === "escape") return "given up";
    if (key.name === "text") this.#narrow(this.#query + key.text);
    else if (key.name === "backspace") this.#restart([...this.#query].slice(0, -1).join(""));
    else if (key.name === "ctrl+r") this.#find(this.#place - 1);
    else return "found";
    return "searching";
  }

  #narrow(query: string): void {
    this.#query = query;
    this.#find(Math.min(this.#place, this.#history.length - 1));
  }

  #restart(query: string): void {
    this.#place = this.#history.length;
    this.#narrow(query);
  }

  /** Stays where it is if there is no older match. */
  #find(from: number): void {
    const found = this.#history.findLastIndex((text, place) =>
      place <= from && text.includes(this.#query)
    );
    if (found >= 0) this.#place = found;
  }
}
