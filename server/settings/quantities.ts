// Durations and sizes of memory as settings and requests write them: 90s, 5m, 1h30m; 512MiB, 24GB.

import type { CacheTypes } from "../../engine/mod.ts";

const UNITS: Record<string, number> = {
  ns: 1e-6,
  us: 1e-3,
  "µs": 1e-3,
  "μs": 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

const PART = /(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)/g;
const WHOLE = /^[-+]?((\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h))+$/;

/**
 * Milliseconds of a duration: a number, or a text that is one, is seconds. Negative is Infinity.
 *
 * @throws {RangeError} if the text is no duration
 */
export function parseDuration(value: string | number): number {
  const text = String(value).trim();
  const milliseconds = text !== "" && Number.isFinite(Number(text))
    ? Number(text) * 1000
    : parseGoDuration(text);
  return milliseconds < 0 ? Infinity : milliseconds;
}

function parseGoDuration(text: string): number {
  if (!WHOLE.test(text)) throw new RangeError(`time: invalid duration "${text}"`);
  let sum = 0;
  for (const [, count, unit] of text.matchAll(PART)) sum += Number(count) * UNITS[unit!]!;
  return text.startsWith("-") ? -sum : sum;
}

const SIZE = /^(\d+\.?\d*|\.\d+)\s*(?:([kmgt])(i?b)?|b)?$/i;
const POWERS = ["k", "m", "g", "t"];

const CACHE_TYPE = /^(f16|q8_0|q4_0)$/i;

/**
 * What keys and values are in the KV cache: one type for both, or one for each, as in q8_0/q4_0.
 *
 * @throws {RangeError} if the text is none
 */
export function parseCacheType(text: string): CacheTypes {
  const types = text.toLowerCase().split("/");
  const [keys, values = keys] = types;
  if (types.length > 2 || !types.every((type) => CACHE_TYPE.test(type))) {
    throw new RangeError(`invalid type of KV cache "${text}"`);
  }
  return { keys, values } as CacheTypes;
}

/**
 * A folder and the bytes that it may hold, with a colon between.
 *
 * @throws {RangeError} if the text is none
 */
export function parseFolderSize(text: string): { folder: string; bytes: number } {
  const colon = text.lastIndexOf(":"); // there may be one in the folder's path: C:\cache:20GiB
  const folder = text.slice(0, Math.max(0, colon)).trim();
  if (folder === "") throw new RangeError(`invalid folder and size "${text}"`);
  return { folder, bytes: parseByteSize(text.slice(colon + 1)) };
}

/**
 * Bytes of a size.
 *
 * @throws {RangeError} if the text is no size
 */
export function parseByteSize(text: string): number {
  const [match, number, letter, ending = "iB"] = SIZE.exec(text.trim()) ?? [];
  if (match === undefined) throw new RangeError(`invalid size "${text}"`);
  const base = ending.toLowerCase() === "b" ? 1000 : 1024;
  const power = letter === undefined ? 0 : POWERS.indexOf(letter.toLowerCase()) + 1;
  return Math.floor(Number(number) * base ** power);
}
