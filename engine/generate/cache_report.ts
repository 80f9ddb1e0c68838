// What prompts found in the cache, by conversation, and where a prompt parts from an earlier one that it
// repeats: a clock or a list near its beginning costs all that follows. Keys and values of a token depend
// on all tokens before it in every layer but the first, so what follows a change cannot be kept, wherever
// it is moved. A prompt is compared with the last texts of the model.

import type { Tokenizer } from "../../tokenizer/mod.ts";
import type { TokenKey } from "../prompt/mod.ts";
import type {
  CachedConversation,
  CacheReport,
  KeptTokens,
  RequestSession,
  Usage,
} from "../types/mod.ts";

/** Most texts, prompts with their answers, that are kept to compare with, and tokens of them. */
const MOST_TEXTS = 32;
const MOST_TOKENS = 2 ** 20;

/** Tokens in a row by which a text is found again. */
const RUN = 8;
/** Fewest tokens that count as lost. */
const LEAST_LOST = 32;
/** Tokens that are shown around the first one that differs. */
const SHOWN = 12;
/** Tokens of a template after the last message that may be others in the next turn. */
const TEMPLATE_END = 3;

/** What is told of a position that costs a prompt its cache. */
const ADVICE =
  "All that follows a change is read again, because each token depends on those before " +
  "it: what changes from prompt to prompt belongs at the end, into the last message.";

/** A prompt that has been answered. */
export interface AnsweredPrompt {
  /** Prompt and answer. */
  readonly tokens: readonly TokenKey[];
  readonly promptLength: number;
  readonly opening: Opening;
  readonly title: string;
  readonly session?: RequestSession | undefined;
  /** On whose behalf it was asked, who alone is told of it; empty: nobody's in particular. */
  readonly owner: string;
  readonly report: CacheReport;
}

/** How a prompt stands to the texts before it. */
export interface Opening {
  /** Tokens at its beginning that one of them has, too. */
  readonly common: number;
  /** These tokens, if the prompt of that text goes on there in another way. */
  readonly partsAt?: number | undefined;
  /** Where it parts from the text of which it repeats the most behind that; undefined if that is little. */
  readonly parting?: Parting | undefined;
}

/** Where a prompt parts from an earlier text. */
export interface Parting {
  /** Index of the first token that differs. */
  readonly at: number;
  readonly earlier: readonly TokenKey[];
  /** Tokens behind it that both have. */
  readonly repeated: number;
}

interface Conversation extends Omit<AnsweredPrompt, "opening"> {
  readonly requests: number;
  readonly lastUsed: number;
}

/** The last conversations of a model. */
export class TextHistory {
  /** The latest first. */
  #conversations: readonly Conversation[] = [];

  /** How a prompt stands to what was said so far on the same behalf. */
  opening(prompt: readonly TokenKey[], owner: string): Opening {
    const texts = this.#conversations.filter((one) => one.owner === owner);
    const positions = texts.map(({ tokens }) => commonPrefix(tokens, prompt));
    const common = Math.max(0, ...positions);
    const { promptLength = 0 } = texts[positions.indexOf(common)] ?? {};
    const partsAt = common < promptLength - TEMPLATE_END ? common : undefined;
    const opening = { common, ...(partsAt && { partsAt }) };
    // What another text has at the beginning is not lost.
    if (prompt.length - common < LEAST_LOST) return opening;
    const runs = runsOf(prompt, common);
    const [parting] = texts.map(({ tokens: earlier }, i): Parting => {
      const at = positions[i]!;
      return { at, earlier, repeated: repeatedAfter(at, earlier, prompt, runs) };
    }).sort((a, b) => b.repeated - a.repeated);
    return parting && parting.repeated >= LEAST_LOST ? { ...opening, parting } : opening;
  }

  /** Takes a prompt with its answer, which takes the place of the conversation that it goes on from. */
  add(answered: AnsweredPrompt): void {
    const isBefore = (other: Conversation) => goesOn(other, answered);
    const before = this.#conversations.filter(isBefore);
    const requests = before.reduce((sum, other) => sum + other.requests, 1);
    const others = this.#conversations.filter((other) => !isBefore(other));
    const { opening: _, ...kept } = answered;
    let room = MOST_TOKENS;
    this.#conversations = [{ ...kept, requests, lastUsed: Date.now() }, ...others]
      .slice(0, MOST_TEXTS)
      .filter(({ tokens }, index) => (room -= tokens.length) >= 0 || index === 0);
  }

  /** Forgets all of them. */
  clear(): void {
    this.#conversations = [];
  }

  /** The conversations, the latest first. @param keptOf how much of a text is kept */
  conversations(keptOf: (tokens: readonly TokenKey[]) => KeptTokens): CachedConversation[] {
    return this.#conversations.map((one) => {
      const { title, owner, session, requests, lastUsed, tokens, report } = one;
      return {
        title,
        ...(owner !== "" && { owner }),
        ...(session && { session }),
        requests,
        lastUsed,
        tokens: tokens.length,
        kept: keptOf(tokens),
        lastPrompt: report,
      };
    });
  }
}

/** Whether a prompt continues a conversation: it repeats its prompt, be it with another beginning. */
function goesOn(
  { tokens, promptLength, session, owner }: Conversation,
  next: AnsweredPrompt,
): boolean {
  const isSame = owner === next.owner && session?.id === next.session?.id &&
    (session?.isBeside ?? false) === (next.session?.isBeside ?? false);
  if (!isSame) return false;
  const { parting } = next.opening;
  if (parting?.earlier === tokens) return 2 * parting.repeated >= tokens.length - parting.at;
  return commonPrefix(tokens, next.tokens) >= promptLength - TEMPLATE_END;
}

/** A prompt that has been read. */
export interface ReadPrompt {
  readonly prompt: readonly TokenKey[];
  readonly opening: Opening;
  readonly usage: Usage;
  /** Time that reading it took. */
  readonly milliseconds: number;
  readonly tokenizer: Tokenizer;
  /** The message of a chat in which a position of the prompt's text lies. */
  readonly locate?: ((offset: number) => number | undefined) | undefined;
}

/** The report of a prompt. */
export function cacheReport(
  { prompt, opening, usage, milliseconds, tokenizer, locate }: ReadPrompt,
): CacheReport {
  const { promptTokens, cachedTokens, fromMemoryTokens = 0, fromDiskTokens = 0 } = usage;
  const { common: commonTokens, parting } = opening;
  const report = { promptTokens, commonTokens, cachedTokens, fromMemoryTokens, fromDiskTokens };
  if (!parting || !tokenizer.hasText) return report;
  const { at, earlier, repeated } = parting;
  const text = (keys: readonly TokenKey[]) =>
    tokenizer.decode(keys.filter((key) => typeof key === "number"), { special: true });
  const offset = text(prompt.slice(0, at)).length;
  const message = locate?.(offset);
  return {
    ...report,
    lost: {
      tokens: repeated,
      milliseconds: repeated * milliseconds / Math.max(1, promptTokens - cachedTokens),
      token: at,
      offset,
      before: text(prompt.slice(Math.max(0, at - SHOWN), at)),
      was: text(earlier.slice(at, at + SHOWN)),
      is: text(prompt.slice(at, at + SHOWN)),
      ...(message !== undefined && { message }),
      advice: ADVICE,
    },
  };
}

function commonPrefix(a: readonly TokenKey[], b: readonly TokenKey[]): number {
  const most = Math.min(a.length, b.length);
  let length = 0;
  while (length < most && a[length] === b[length]) length++;
  return length;
}

/** Where each run of a text begins from a position on, by its hash. */
function runsOf(text: readonly TokenKey[], from: number): Map<number, number> {
  const runs = new Map<number, number>();
  for (let i = from; i + RUN <= text.length; i++) runs.set(hashOf(text, i), i);
  return runs;
}

function hashOf(text: readonly TokenKey[], from: number): number {
  let hash = 17;
  for (let i = from; i < from + RUN; i++) {
    const key = text[i]!;
    hash = Math.imul(hash ^ (typeof key === "number" ? key : key.length), 0x01000193);
  }
  return hash;
}

/**
 * Tokens of a text behind a position that a prompt has in those of its runs. Only every eighth run of the
 * text is looked up, which is enough to find what is repeated for twice as long.
 */
function repeatedAfter(
  at: number,
  earlier: readonly TokenKey[],
  prompt: readonly TokenKey[],
  runs: ReadonlyMap<number, number>,
): number {
  let repeated = 0;
  let done = at;
  for (let i = at; i + RUN <= earlier.length;) {
    const start = runs.get(hashOf(earlier, i));
    const isSame = (index: number) => earlier[index] === prompt[index - i + start!];
    if (start === undefined || !isSame(i)) {
      i += RUN;
      continue;
    }
    let [first, end] = [i, i];
    while (first > done && isSame(first - 1)) first--;
    while (end < earlier.length && isSame(end)) end++;
    repeated += end - first;
    i = done = Math.max(end, i + 1);
  }
  return repeated;
}
