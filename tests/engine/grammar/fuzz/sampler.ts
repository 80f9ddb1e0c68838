// Writes documents at random under the mask, each allowed token as likely as any other, and looks
// after what masks promise on the way. What the documents say is judged elsewhere.

import type { Matcher } from "../../../../engine/grammar/mod.ts";
import type { Draws } from "./draws.ts";
import type { Vocabulary } from "./vocabularies.ts";

/** A document that was written. */
export interface Sample {
  readonly bytes: Uint8Array;
  /** What completion() made of it at some place. */
  readonly completed: Uint8Array | undefined;
  /** What is wrong with the way it came about. */
  readonly faults: readonly string[];
}

/** How to write one. */
export interface SampleOptions {
  /** Tokens in which the document should be complete, if that is enough for one. */
  readonly budget: number;
  /** Whether tokens that end strings and values come more often than their share. */
  readonly favorsStructure?: boolean;
  /** Looks at a matcher before each token, after the bytes so far. */
  readonly observe?: (matcher: Matcher, bytes: Uint8Array) => void;
}

/** The number of bits of a mask that are set. */
export function countTokens(mask: Uint32Array): number {
  let count = 0;
  for (let word of mask) for (; word !== 0; word &= word - 1) count++;
  return count;
}

/** Whether a mask has a token. */
export function hasToken(mask: Uint32Array, token: number): boolean {
  return ((mask[token >>> 5]! >>> (token & 31)) & 1) === 1;
}

/** The token at a place among those of a mask. */
export function tokenAt(mask: Uint32Array, place: number): number {
  for (let index = 0; index < mask.length; index++) {
    for (let word = mask[index]!; word !== 0; word &= word - 1) {
      if (place-- === 0) return 32 * index + 31 - Math.clz32(word & -word);
    }
  }
  throw new RangeError("Choosing a token: the mask has fewer");
}

/** Writes a document. Stops at the first fault of a mask. */
export function sampleDocument(
  matcher: Matcher,
  { bytes: bytesOf, structural, tokenizer }: Vocabulary,
  draws: Draws,
  { budget, favorsStructure = false, observe }: SampleOptions,
): Sample {
  const shortest = matcher.completion()?.length ?? Infinity;
  // Every byte can be a token of its own.
  const limit = Math.max(budget, shortest);
  const lookAt = draws.below(budget);
  let forced: { start: number; bytes: Uint8Array } | undefined;
  let completed: Uint8Array | undefined;
  const bytes: number[] = [];
  const faults: string[] = [];
  const sample = () => ({ bytes: Uint8Array.from(bytes), completed, faults });
  for (let used = 0; !matcher.isEnded; used++) {
    if (used === limit) {
      if (matcher.isComplete) break;
      faults.push(`no end within ${limit} tokens; the shortest has ${shortest} bytes`);
      return sample();
    }
    if (used === lookAt) {
      forced = { start: bytes.length, bytes: matcher.forced() };
      const rest = matcher.completion();
      completed = rest && Uint8Array.from([...bytes, ...rest]);
    }
    observe?.(matcher, Uint8Array.from(bytes));
    const mask = matcher.mask({ remaining: limit - used });
    const count = countTokens(mask);
    if (count === 0) {
      faults.push("a mask is empty");
      return sample();
    }
    const favored = favorsStructure && draws.oneIn(3)
      ? structural.filter((token) => hasToken(mask, token))
      : [];
    const token = favored.length > 0 ? draws.one(favored) : tokenAt(mask, draws.below(count));
    const isEnd = tokenizer.endOfGeneration.has(token);
    if (isEnd && !matcher.isComplete) faults.push("an end token may come too soon");
    if (!matcher.accept(token)) {
      faults.push(`token ${token} is in the mask and not accepted`);
      return sample();
    }
    if (!isEnd) { for (const byte of bytesOf[token]!) bytes.push(byte); }
  }
  if (matcher.isEnded && countTokens(matcher.mask()) > 0) {
    faults.push("a mask after the end is not empty");
  }
  const follows = forced && bytes.slice(forced.start, forced.start + forced.bytes.length);
  if (forced && follows!.join() !== forced.bytes.join()) {
    faults.push(`${new TextDecoder().decode(forced.bytes)} was forced at byte ${forced.start}`);
  }
  return sample();
}
