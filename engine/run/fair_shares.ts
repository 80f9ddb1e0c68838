// Shares the model among those who ask: whoever has had the least for its weight is read first, admitted
// first, and gets a slot from whoever holds more than its share of them. Start-time fair queueing (Goyal
// et al. 1996), counted in tokens that were run, with no say while only one asks.

import type { Sequence } from "./sequence.ts";

/** What is known of one who asks. */
interface Account {
  readonly weight: number;
  /** Tokens that were run for it, for its weight. */
  served: number;
  running: number;
}

/** The sequences of a scheduler, by who asks. */
export class FairShares {
  #accounts = new Map<string, Account>();
  /** The tokens of each sequence that were counted. */
  readonly #counted = new WeakMap<Sequence, number>();

  /** Notes who asks now and what was run for each. */
  update(running: readonly Sequence[], waiting: readonly Sequence[]): void {
    const isNamed = ({ share }: Sequence) => share.id !== "";
    if (this.#accounts.size === 0 && !running.some(isNamed) && !waiting.some(isNamed)) return;
    const before = this.#accounts;
    const accounts = new Map<string, Account>();
    for (const [sequences, isRunning] of [[running, true], [waiting, false]] as const) {
      for (const { share: { id, weight } } of sequences) {
        const account = accounts.get(id) ??
          { weight, served: before.get(id)?.served ?? NaN, running: 0 };
        accounts.set(id, account);
        if (isRunning) account.running++;
      }
    }
    for (const sequence of running) {
      const { submitted, share: { id, weight } } = sequence;
      const counted = this.#counted.get(sequence) ?? submitted;
      accounts.get(id)!.served += Math.max(0, submitted - counted) / weight;
      this.#counted.set(sequence, submitted);
    }
    // Whoever begins to ask has no claim for the time in which it did not, but comes first among equals.
    const served = [...accounts.values()].map((account) => account.served).filter(Number.isFinite);
    const least = served.length > 0 ? Math.min(...served) : 0;
    for (const account of accounts.values()) {
      if (Number.isNaN(account.served)) account.served = least - 1;
    }
    this.#accounts = accounts;
  }

  /** Whether several ask, so that anything has to be shared. */
  get isShared(): boolean {
    return this.#accounts.size > 1;
  }

  /** Notes that a sequence was admitted: what it has from the cache costs nothing. */
  admitted(sequence: Sequence): void {
    this.#counted.set(sequence, sequence.submitted);
    const account = this.#accounts.get(sequence.share.id);
    if (account) account.running++;
  }

  /** The sequences of those who were served least first; of each in the given order. */
  order(sequences: readonly Sequence[]): readonly Sequence[] {
    if (!this.isShared) return sequences;
    return sequences.toSorted((a, b) =>
      Number(a.isBehind) - Number(b.isBehind) || this.#servedOf(a) - this.#servedOf(b)
    );
  }

  /**
   * The running sequence that gives its slot to a waiting one: the youngest of whoever has the most beyond
   * its share. Undefined where nobody has more than its share, or the waiting one would.
   */
  victim(waiting: Sequence, running: readonly Sequence[], slots: number): Sequence | undefined {
    const own = this.#accounts.get(waiting.share.id);
    if (!this.isShared || !own || waiting.isBehind) return undefined;
    const accounts = [...this.#accounts.values()];
    const weights = accounts.reduce((sum, { weight }) => sum + weight, 0);
    // Where there are more who ask than slots, each has one at a time.
    const excess = (account: Account, running: number) =>
      running - Math.max(1, slots * account.weight / weights);
    if (excess(own, own.running + 1) > 0) return undefined;
    const [id, worst] = [...this.#accounts].sort(([, a], [, b]) =>
      excess(b, b.running) - excess(a, a.running)
    )[0]!;
    if (excess(worst, worst.running) <= 0) return undefined;
    return running.findLast(({ share }) => share.id === id);
  }

  #servedOf({ share: { id } }: Sequence): number {
    return this.#accounts.get(id)?.served ?? 0;
  }
}
