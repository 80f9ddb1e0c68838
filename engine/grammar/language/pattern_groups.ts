// Reads groups, apart from what is in them: their kind, names and flags, in the syntax of all dialects.

import type { PatternFlags, PatternReader } from "./pattern_reader.ts";

/** The kind of a group, after what opens it was read. */
export type GroupOpening =
  | { readonly kind: "plain" | "atomic" }
  | { readonly kind: "capture"; readonly number: number }
  | { readonly kind: "look"; readonly back: boolean; readonly not: boolean }
  /** No group, but flags for the rest of the one around. */
  | { readonly kind: "flags" }
  /** No group, but the text of an earlier one. */
  | { readonly kind: "reference"; readonly name: string };

const FLAGS: Readonly<Record<string, keyof PatternFlags>> = {
  i: "ignoreCase",
  m: "multiline",
  s: "dotAll",
  x: "extended",
};
/** Flags that change nothing about which texts match: greed, captures, and that text is Unicode. */
const NEUTRAL = "uUn";

/** Reads what opens a group, after its parenthesis. A group may change the flags. */
export function readGroupOpening(reader: PatternReader): GroupOpening {
  const start = reader.position - 1;
  if (!reader.sees("?")) return { kind: "capture", number: addGroup(reader) };
  if (reader.take("?:")) return { kind: "plain" };
  if (reader.takeForeign("?>")) return { kind: "atomic" };
  const look = reader.match(/\?(<?)([=!])/y);
  if (look) return { kind: "look", back: look[1] === "<", not: look[2] === "!" };
  const named = reader.match(/\?<([\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*)>/uy) ??
    reader.matchForeign(/\?P<([\p{ID_Start}_]\p{ID_Continue}*)>|\?'(\w+)'/uy);
  if (named) return { kind: "capture", number: addGroup(reader, named[1] ?? named[2]) };
  const reference = reader.matchForeign(/\?P=(\w+)(?=\))/y);
  if (reference) return { kind: "reference", name: reference[1]! };
  const flags = reader.match(/\?(?=[A-Za-z-])([A-Za-z]*)(?:-([A-Za-z]+))?([:)])/y);
  if (!flags) throw reader.error("no such kind of group can be held", start);
  const [, on = "", off = "", end] = flags;
  reader.flags = { ...reader.flags, ...flagsOf(on, true), ...flagsOf(off, false) };
  reader.isForeign ||= end === ")" || !/^[ims]*$/.test(on + off);
  return { kind: end === ")" ? "flags" : "plain" };

  function flagsOf(letters: string, value: boolean): Partial<PatternFlags> {
    const changed: { -readonly [name in keyof PatternFlags]?: boolean } = {};
    for (const letter of letters) {
      const name = FLAGS[letter];
      if (name !== undefined) changed[name] = value;
      else if (!NEUTRAL.includes(letter)) {
        throw reader.error(`the flag ${letter} has no meaning that all dialects share`, start);
      }
    }
    return changed;
  }
}

function addGroup(reader: PatternReader, name?: string): number {
  const number = reader.groups.push(undefined) - 1;
  if (name !== undefined) reader.names.set(name, reader.names.has(name) ? undefined : number);
  return number;
}
