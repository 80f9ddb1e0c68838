// The members of a language: all of them if they are few, and how long they are.

import { ANY_CHARACTER, hasCharacter } from "./character_set.ts";
import { type Expression, Flag, Kind } from "./expression_store.ts";
import type { LanguageTools } from "./ends.ts";
import { inTime } from "./errors.ts";

/** Most expressions that are visited before a question is given up. */
const MAX_VISITED = 2_000;

/** Most steps of derivation for one question. */
const MAX_WORK = 1_000_000;

/** Fewest and most characters of a language's members. */
export interface Lengths {
  /** Infinity if there are none. */
  readonly min: number;
  /** Infinity if there is no longest. */
  readonly max: number;
}

/** A language, and bounds of the number of characters that are kept apart from it. */
export interface CountedLanguage {
  /** The language without these bounds. */
  readonly language: Expression;
  /** Fewest characters. */
  readonly min: number;
  /** Most characters; Infinity: any number. */
  readonly max: number;
}

/**
 * The transitions from `language` that lead to an end, with their inclusive ranges of code points.
 */
function* waysOn(
  { expressions, derivatives, characters }: LanguageTools,
  language: Expression,
): Generator<[low: number, high: number, next: Expression]> {
  const { starts, targets } = derivatives.transitions(language);
  for (let i = 0; i < starts.length; i++) {
    const next = targets[i]!;
    if (next === expressions.empty || characters.of(next) === Infinity) continue;
    yield [starts[i]!, starts[i + 1]! - 1, next];
  }
}

/** All members if there are at most `limit`, the shortest first. */
export function finiteMembers(
  tools: LanguageTools,
  language: Expression,
  limit: number,
): string[] | undefined {
  const { characters, expressions: { store } } = tools;
  if (characters.of(language) === Infinity) return [];
  const members: string[] = [];
  let visited = 0;
  const deadline = tools.derivatives.work.done + MAX_WORK;
  for (let layer: [string, Expression][] = [["", language]]; layer.length > 0;) {
    const longer: [string, Expression][] = [];
    for (const [text, rest] of layer) {
      if (store.has(rest, Flag.Nullable)) members.push(text);
      for (const [low, high, next] of waysOn(tools, rest)) {
        // Each of these characters leads to at least one more member.
        if (longer.length + high - low + 1 > limit) return undefined;
        for (let character = low; character <= high; character++) {
          if (!hasCharacter(ANY_CHARACTER, character)) continue;
          longer.push([text + String.fromCodePoint(character), next]);
        }
      }
      visited++;
    }
    if (members.length + longer.length > limit || visited > limit + MAX_VISITED) return undefined;
    if (tools.derivatives.work.done > deadline) return undefined;
    layer = longer;
  }
  return members;
}

/** The lengths of the members; `max` is a bound where counting exactly takes too long. */
export function memberLengths(tools: LanguageTools, language: Expression): Lengths {
  const { characters, expressions: { store } } = tools;
  const min = characters.of(language);
  if (min === Infinity) return { min, max: 0 };
  const bound = store.max[language]!;
  if (store.has(language, Flag.Plain)) return { min, max: bound };
  return { min, max: inTime(() => longest(tools, language), () => undefined) ?? bound };
}

/**
 * The length of the longest member; Infinity if there is none, undefined if it cannot be
 * determined.
 */
function longest(tools: LanguageTools, language: Expression): number | undefined {
  const lengths = new Map<Expression, number>();
  const open = new Set<Expression>([language]);
  const path = [{ language, ways: waysOn(tools, language), most: 0 }];
  const deadline = tools.derivatives.work.done + MAX_WORK;
  for (;;) {
    if (tools.derivatives.work.done > deadline) return undefined;
    const top = path.at(-1)!;
    const { value, done } = top.ways.next();
    if (done) {
      lengths.set(top.language, top.most);
      open.delete(top.language);
      path.pop();
      const before = path.at(-1);
      if (!before) return top.most;
      before.most = Math.max(before.most, top.most + 1);
      continue;
    }
    const next = value[2];
    if (open.has(next)) return Infinity;
    const known = lengths.get(next);
    if (known !== undefined) {
      top.most = Math.max(top.most, known + 1);
      continue;
    }
    if (lengths.size + open.size > MAX_VISITED) return undefined;
    open.add(next);
    path.push({ language: next, ways: waysOn(tools, next), most: 0 });
  }
}

/**
 * Removes a count of single characters from the end of a language, so that its automaton need not
 * count: x{2,9} becomes x* with 2 to 9 characters. The members of the result with `min` to `max`
 * characters are the members of the original.
 */
export function withoutCount(tools: LanguageTools, language: Expression): CountedLanguage {
  const e = tools.expressions;
  const { kinds, first, second, third, flags, min, max } = e.store;
  const whole = { language, min: 0, max: Infinity };
  if (kinds[language] === Kind.And) {
    const parts = e.items(language, Kind.And).map((item) => withoutCount(tools, item));
    return {
      language: e.and(parts.map((part) => part.language)),
      min: Math.max(...parts.map((part) => part.min)),
      max: Math.min(...parts.map((part) => part.max)),
    };
  }
  const items = e.items(language, Kind.Concat);
  const last = items.pop()!;
  const before = items.reduceRight((rest, item) => e.concat(item, rest), e.epsilon);
  const fixed = min[before] === max[before] && flags[before]! & Flag.Plain;
  if (!fixed || kinds[last] !== Kind.Repeat || kinds[first[last]!] !== Kind.Set) return whole;
  const most = third[last] === -1 ? Infinity : third[last]!;
  if (most < 2) return whole;
  return {
    language: e.concat(before, e.repeat(first[last]!, 0, Infinity)),
    min: min[before]! + second[last]!,
    max: min[before]! + most,
  };
}
