// What a prompt found in the cache, and where it parts from an earlier one that it repeats: a clock or
// a list near its beginning costs all that follows. It compares with the last texts of the model.

import type { Tokenizer } from "../../tokenizer/mod.ts";
import type { CacheReport, Usage } from "../types/mod.ts";

/** Most texts, prompts with their answers, that are kept to compare with, and tokens of them. */
const MOST_TEXTS = 16;
const MOST_TOKENS = 2 ** 20;

/** Tokens in a row by which a text is found again. */
const RUN = 8;
/** Fewest tokens that count as lost. */
const LEAST_LOST = 32;
/** Tokens that are shown around the first one that differs. */
const SHOWN = 12;

/** The last texts of a model. */
export class TextHistory {
  /** The latest first. */
  #texts: (readonly number[])[] = [];

  /** Takes a prompt with its answer. */
  add(tokens: readonly number[]): void {
    let room = MOST_TOKENS;
    // A conversation that goes on takes the place of its beginning.
    const others = this.#texts.filter((text) => commonPrefix(text, tokens) < text.length);
    this.#texts = [tokens, ...others].slice(0, MOST_TEXTS)
      .filter((text, index) => (room -= text.length) >= 0 || index === 0);
  }

  /**
   * Where a prompt parts from the text of which it repeats the most, and how many tokens it repeats
   * behind that place; undefined if that is little.
   */
  parting(prompt: readonly number[]): Parting | undefined {
    const partings = this.#texts.map((earlier): Parting => {
      const at = commonPrefix(earlier, prompt);
      return {
        at,
        earlier,
        repeated: at < earlier.length ? repeatedAfter(at, earlier, prompt) : 0,
      };
    });
    // What another text has at the beginning is not lost.
    const longest = Math.max(0, ...partings.map(({ at }) => at));
    const [most] = partings.map((parting) => ({
      ...parting,
      repeated: parting.repeated - (longest - parting.at),
    })).sort((a, b) => b.repeated - a.repeated);
    return most && most.repeated >= LEAST_LOST ? most : undefined;
  }
}

/** Where a prompt parts from an earlier text. */
export interface Parting {
  /** Index of the first token that differs. */
  at: number;
  earlier: readonly number[];
  /** Tokens behind it that both have. */
  repeated: number;
}

/** The report of a prompt that has been read. */
export function cacheReport(
  prompt: readonly number[],
  parting: Parting | undefined,
  usage: Usage,
  tokenizer: Tokenizer,
): CacheReport {
  const { promptTokens, cachedTokens, fromMemoryTokens = 0, fromDiskTokens = 0 } = usage;
  const report = { promptTokens, cachedTokens, fromMemoryTokens, fromDiskTokens };
  if (!parting) return report;
  const { at, earlier, repeated } = parting;
  const text = (tokens: readonly number[]) => tokenizer.decode(tokens, { special: true });
  const perToken = usage.promptMilliseconds / Math.max(1, promptTokens - cachedTokens);
  return {
    ...report,
    lost: {
      tokens: repeated,
      milliseconds: repeated * perToken,
      token: at,
      offset: text(prompt.slice(0, at)).length,
      before: text(prompt.slice(Math.max(0, at - SHOWN), at)),
      was: text(earlier.slice(at, at + SHOWN)),
      is: text(prompt.slice(at, at + SHOWN)),
    },
  };
}

function commonPrefix(a: readonly number[], b: readonly number[]): number {
  const most = Math.min(a.length, b.length);
  let length = 0;
  while (length < most && a[length] === b[length]) length++;
  return length;
}

/** Tokens of a text behind a place that a prompt has behind it as well, in runs. */
function repeatedAfter(at: number, earlier: readonly number[], prompt: readonly number[]): number {
  const runs = new Set<string>();
  for (let i = at; i + RUN <= prompt.length; i++) runs.add(prompt.slice(i, i + RUN).join());
  let repeated = 0;
  for (let i = at; i + RUN <= earlier.length;) {
    const isThere = runs.has(earlier.slice(i, i + RUN).join());
    repeated += isThere ? RUN : 0;
    i += isThere ? RUN : 1;
  }
  return repeated;
}
