// What is known of one key while the server runs: its limits and what it has used. A limit is a bucket
// that holds what a minute allows and fills at that rate, so that a client that waits has its whole
// minute at once, and never two.

import type { KeyEntry } from "./key_file.ts";

const MINUTE = 60_000;

/** What a key has used since the server began. */
export interface KeyUsage {
  requests: number;
  /** Those that were refused by a limit. */
  refused: number;
  promptTokens: number;
  cachedTokens: number;
  completionTokens: number;
}

/** A limit as an answer tells it. */
export interface LimitState {
  readonly kind: "requests" | "tokens";
  /** What a minute allows. */
  readonly limit: number;
  /** What is left now. */
  readonly remaining: number;
  /** Until all of it is there again, in milliseconds. */
  readonly resetMilliseconds: number;
}

/** Holds at most what a minute allows; it may owe. */
class Bucket {
  readonly perMinute: number;
  #level: number;
  #at: number;

  constructor(perMinute: number, now: number) {
    this.perMinute = perMinute;
    // A limit below one a minute still admits one.
    this.#level = Math.max(1, perMinute);
    this.#at = now;
  }

  level(now: number): number {
    const filled = this.#level + (now - this.#at) * this.perMinute / MINUTE;
    this.#at = now;
    return this.#level = Math.min(Math.max(1, this.perMinute), filled);
  }

  take(amount: number, now: number): void {
    this.#level = this.level(now) - amount;
  }

  /** Until there is so much, in milliseconds. */
  wait(amount: number, now: number): number {
    return Math.max(0, (amount - this.level(now)) * MINUTE / this.perMinute);
  }
}

/** The limits and the use of a key. */
export class KeyAccount {
  readonly entry: KeyEntry;
  readonly usage: KeyUsage = {
    requests: 0,
    refused: 0,
    promptTokens: 0,
    cachedTokens: 0,
    completionTokens: 0,
  };
  readonly #now: () => number;
  readonly #requests: Bucket | undefined;
  readonly #tokens: Bucket | undefined;

  /** @param now a clock in milliseconds */
  constructor(entry: KeyEntry, now: () => number = () => performance.now()) {
    const { requests_per_minute: requests, tokens_per_minute: tokens } = entry;
    this.entry = entry;
    this.#now = now;
    if (requests !== undefined) this.#requests = new Bucket(requests, now());
    if (tokens !== undefined) this.#tokens = new Bucket(tokens, now());
  }

  /**
   * Counts a request, unless a limit is reached.
   *
   * @returns what is reached, and in how many milliseconds another request may come
   */
  begin(): { kind: LimitState["kind"]; limit: number; waitMilliseconds: number } | undefined {
    const now = this.#now();
    const reached = this.#buckets().flatMap(([kind, bucket]) => {
      // How many tokens a request takes is known when it is over, so one begins while any are left.
      const waitMilliseconds = bucket.wait(1, now);
      return waitMilliseconds > 0 ? [{ kind, limit: bucket.perMinute, waitMilliseconds }] : [];
    });
    if (reached.length > 0) {
      this.usage.refused++;
      return reached.sort((a, b) => b.waitMilliseconds - a.waitMilliseconds)[0];
    }
    this.#requests?.take(1, now);
    this.usage.requests++;
    return undefined;
  }

  /** Counts tokens. Of cached ones only the usage is counted: they cost next to nothing. */
  charge({ promptTokens, cachedTokens = 0, completionTokens = 0 }: {
    promptTokens: number;
    cachedTokens?: number;
    completionTokens?: number;
  }): void {
    this.usage.promptTokens += promptTokens;
    this.usage.cachedTokens += cachedTokens;
    this.usage.completionTokens += completionTokens;
    this.#tokens?.take(promptTokens - cachedTokens + completionTokens, this.#now());
  }

  /** What is left of its limits. */
  limits(): LimitState[] {
    const now = this.#now();
    return this.#buckets().map(([kind, bucket]) => ({
      kind,
      limit: bucket.perMinute,
      remaining: Math.max(0, Math.floor(bucket.level(now))),
      resetMilliseconds: bucket.wait(bucket.perMinute, now),
    }));
  }

  /** How requests with the key stand to those with others. */
  get standing(): { background?: true; share: { id: string; weight?: number } } {
    const { name: id, weight, priority } = this.entry;
    return {
      ...(priority === "background" && { background: true }),
      share: { id, ...(weight !== undefined && { weight }) },
    };
  }

  /** Goes on with what another account of the name has used, under limits that may have changed. */
  continue(former: KeyAccount): void {
    Object.assign(this.usage, former.usage);
  }

  #buckets(): [LimitState["kind"], Bucket][] {
    return [
      ...this.#requests ? [["requests", this.#requests] as ["requests", Bucket]] : [],
      ...this.#tokens ? [["tokens", this.#tokens] as ["tokens", Bucket]] : [],
    ];
  }
}
