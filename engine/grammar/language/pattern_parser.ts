// Reads patterns in the syntax of ECMA-262 with the u flag, and what authors of schemas write beyond it: \- and
// other needless escapes, single ] { and }, and what the dialects of Python, Rust, Go, Java and PCRE have
// and agree on. What has several meanings is refused. Of back references those are held that are regular.

import { ANY_CHARACTER, type CharacterSet, characterSet, invertSet } from "./character_set.ts";
import { PatternError } from "./errors.ts";
import { cased, readClass, readEscapedSet } from "./pattern_class.ts";
import {
  boundaryNode,
  choiceNode,
  END,
  lookNode,
  type PatternNode,
  referenceNode,
  repeatNode,
  sequenceNode,
  setNode,
  START,
} from "./pattern_node.ts";
import { type PatternFlags, PatternReader } from "./pattern_reader.ts";
import { withoutReferences } from "./pattern_references.ts";
import { namedSet, VERTICAL } from "./pattern_sets.ts";

// What a pattern of another dialect than ECMA-262 means: the texts in which all dialects find a match. Where they
// differ about a part, such as the letters of \w, a match has to hold for all of them; within a negative
// look-around, one that any of them finds is in the way.

/** A part about which dialects differ. @param any what any of them finds, instead of what all do */
function differingNode(all: PatternNode, any: PatternNode): PatternNode {
  return { ...all, any };
}

/** A pattern with one meaning for each part. @param isWide whether to find what any dialect finds */
function inAllDialects(node: PatternNode, isWide = false): PatternNode {
  if (node.any) return isWide ? node.any : node;
  const inner = (part: PatternNode) => inAllDialects(part, isWide);
  switch (node.kind) {
    case "sequence":
      return sequenceNode(node.items.map(inner));
    case "choice":
      return choiceNode(node.items.map(inner));
    case "repeat":
      return repeatNode(inner(node.body), node.from, node.to, node.isLazy);
    case "look":
      return lookNode(node.back, node.not, inAllDialects(node.body, isWide !== node.not));
    default:
      return node;
  }
}

/** Deepest nesting of groups. */
const MAX_DEPTH = 100;

/** Longest pattern, in UTF-16 units. */
const MAX_LENGTH = 65_536;

/** Largest finite count of a quantifier. A larger one counts as infinite. */
const MAX_COUNT = 2 ** 30;

const LINE_END = setNode(characterSet([0xa, 0xa]));
/** ^ and $ with the flag m. In all dialects a line ends with \n, in some with others too. */
const LINE_START = lookNode(true, false, choiceNode([START, LINE_END]));
const BEFORE_LINE_END = lookNode(false, false, choiceNode([END, LINE_END]));
/** The end of a text. Python, PCRE and Java also see one before the end of the last line. */
const NEAR_END = differingNode(
  END,
  lookNode(false, false, choiceNode([END, sequenceNode([LINE_END, END])])),
);

/** \R */
const LINE_BREAK = choiceNode([
  sequenceNode([setNode(characterSet([0xd, 0xd])), LINE_END]),
  setNode(VERTICAL),
]);

/**
 * Reads a pattern.
 * @throws {PatternError} if it is invalid, has several meanings, or back references that are not regular
 */
export function parsePattern(source: string): PatternNode {
  if (source.length > MAX_LENGTH) {
    throw new PatternError(`it has over ${MAX_LENGTH} characters`);
  }
  const reader = new PatternReader(source);
  const pattern = readPattern(reader);
  // Which dialect a pattern is in is only known at its end.
  return reader.isForeign ? readPattern(new PatternReader(source, true)) : pattern;
}

function readPattern(reader: PatternReader): PatternNode {
  const node = readChoice(reader, 0);
  if (!reader.atEnd) throw reader.error("a ) closes nothing");
  const pattern = withoutReferences(node, reader.groups);
  return reader.knowsForeign ? inAllDialects(pattern) : pattern;
}

function readChoice(reader: PatternReader, depth: number): PatternNode {
  if (depth > MAX_DEPTH) throw reader.error(`groups nest deeper than ${MAX_DEPTH}`);
  const options: PatternNode[] = [];
  do options.push(readSequence(reader, depth)); while (reader.take("|"));
  return options.length === 1 ? options[0]! : choiceNode(options);
}

function readSequence(reader: PatternReader, depth: number): PatternNode {
  const items: PatternNode[] = [];
  for (;;) {
    if (!reader.isQuoting) reader.skipIgnored();
    if (reader.atEnd || !reader.isQuoting && (reader.sees("|") || reader.sees(")"))) break;
    items.push(...readTerm(reader, depth));
  }
  return items.length === 1 ? items[0]! : sequenceNode(items);
}

/** Reads a term: a node, or none for what only sets flags. */
function readTerm(reader: PatternReader, depth: number): PatternNode[] {
  const from = reader.position;
  const quoted = reader.quoted();
  const assertion = quoted === undefined ? readAssertion(reader) : undefined;
  if (assertion) return [assertion];
  const start = reader.position;
  const read = quoted === undefined ? readAtom(reader, depth) : characterNode(reader, quoted);
  const atom = read && withSpan(read, from, reader.position);
  if (atom === undefined || reader.isQuoting) return atom ? [atom] : [];
  reader.skipIgnored();
  const counts = readQuantifier(reader);
  if (!counts) return [atom];
  const [least, most] = counts;
  if (least > most) throw reader.error("a quantifier's numbers are out of order");
  const repeated = repeatNode(atom, least, most, reader.take("?"));
  return [reader.takeForeign("+") ? atomic(reader, repeated, start) : repeated];
}

/** A set of characters with where it stands, unless that is known. */
function withSpan(node: PatternNode, start: number, end: number): PatternNode {
  return node.kind === "set" && !node.span ? { ...node, span: [start, end] } : node;
}

function readAssertion(reader: PatternReader): PatternNode | undefined {
  const { multiline } = reader.flags;
  if (reader.take("^")) return multiline ? LINE_START : START;
  if (reader.take("$")) return multiline ? BEFORE_LINE_END : NEAR_END;
  const escape = reader.match(/\\[bB](?!\{)/y) ?? reader.matchForeign(/\\[AzZ]/y);
  if (!escape) return undefined;
  const letter = escape[0][1]!;
  if (letter === "A") return START;
  if (letter === "z" || letter === "Z") return letter === "z" ? END : NEAR_END;
  return boundary(reader, letter === "B");
}

/** \b or \B. Some dialects have other characters in words than ASCII's. */
function boundary(reader: PatternReader, not: boolean): PatternNode {
  const [narrow, wide] = [false, true].map((isWide) =>
    boundaryNode(
      not,
      cased(reader, namedSet("w", { isForeign: reader.knowsForeign, isWide }), isWide),
    )
  ) as [PatternNode, PatternNode];
  if (!reader.knowsForeign) return narrow;
  return differingNode(sequenceNode([narrow, wide]), choiceNode([narrow, wide]));
}

function readAtom(reader: PatternReader, depth: number): PatternNode | undefined {
  const start = reader.position;
  if (reader.take("(")) return readGroup(reader, depth);
  if (reader.take(".")) return readSet(reader, (isWide) => dot(reader, isWide));
  if (reader.take("[")) return readSet(reader, (isWide) => readClass(reader, isWide));
  if (reader.take("\\")) {
    if (reader.takeForeign("R")) return LINE_BREAK;
    return readReference(reader, start) ??
      readSet(reader, (isWide) => cased(reader, readEscapedSet(reader, isWide), isWide));
  }
  if (reader.sees("*") || reader.sees("+") || reader.sees("?") || readQuantifier(reader)) {
    throw reader.error("there is nothing to repeat", start);
  }
  if (reader.looksAt(/\{[\d\s,]*\d[\d\s,]*\}/y)) {
    throw reader.error("a count of this form has several meanings: write {m}, {m,} or {m,n}");
  }
  if (reader.sees("]") && reader.bracketWithin !== undefined) {
    const reason = "a [ within a class has several meanings: write \\[";
    throw reader.error(reason, reader.bracketWithin);
  }
  return characterNode(reader, reader.next());
}

function characterNode(reader: PatternReader, character: number): PatternNode {
  return readSet(reader, (isWide) => cased(reader, characterSet([character, character]), isWide));
}

/** A node of the set that is read here: as all dialects have it, and as any of them has it. */
function readSet(reader: PatternReader, read: (isWide: boolean) => CharacterSet): PatternNode {
  const start = reader.position;
  const node = setNode(read(false));
  if (!reader.knowsForeign) return node;
  reader.rewind(start);
  return differingNode(node, setNode(read(true)));
}

function dot({ flags, knowsForeign }: PatternReader, isWide: boolean): CharacterSet {
  if (flags.dotAll) return ANY_CHARACTER;
  return invertSet(namedSet(".", { isForeign: knowsForeign, isWide: !isWide }));
}

function readGroup(reader: PatternReader, depth: number): PatternNode | undefined {
  const start = reader.position - 1;
  const { flags } = reader;
  const opening = readGroupOpening(reader);
  if (opening.kind === "flags") return undefined;
  const body = opening.kind === "reference"
    ? referenceTo(reader, opening.name, start)
    : readChoice(reader, depth + 1);
  if (!reader.take(")")) throw reader.error("a group is not closed", start);
  reader.flags = flags;
  switch (opening.kind) {
    case "look":
      return lookNode(opening.back, opening.not, body);
    case "atomic":
      return atomic(reader, body, start);
    case "capture":
      // A node of its own, by which references find it.
      return reader.groups[opening.number] = sequenceNode([body]);
    default:
      return body;
  }
}

function atomic(reader: PatternReader, node: PatternNode, start: number): PatternNode {
  const found = atomicNode(node);
  if (found) return found;
  throw reader.error("what gives nothing back of several texts cannot be held", start);
}

/** Reads a back reference after its backslash. */
function readReference(reader: PatternReader, start: number): PatternNode | undefined {
  const number = reader.match(/[1-9]\d*/y) ?? reader.matchForeign(/g(?:\{(\d+)\}|(\d+))/y);
  const name = reader.match(/k<([^>]*)>/y) ??
    reader.matchForeign(/k\{(\w+)\}|k'(\w+)'|g\{([A-Za-z_]\w*)\}/y);
  const referred = number ?? name;
  return referred && referenceTo(reader, referred.findLast((one) => one !== undefined)!, start);
}

/** The text of a group by its number or name. */
function referenceTo(reader: PatternReader, which: string, start: number): PatternNode {
  const number = /^\d/.test(which) ? Number(which) : reader.names.get(which);
  if (number !== undefined && reader.groups[number]) {
    return referenceNode(number, reader.flags.ignoreCase, reader.columnOf(start));
  }
  throw reader.error(`a back reference to what is no single group before it: ${which}`, start);
}

/** Reads the counts of a quantifier; undefined if there is none. */
function readQuantifier(reader: PatternReader): [from: number, to: number] | undefined {
  if (reader.take("*")) return [0, Infinity];
  if (reader.take("+")) return [1, Infinity];
  if (reader.take("?")) return [0, 1];
  const braces = reader.match(/\{(\d+)(,?)(\d*)\}/y);
  if (!braces) return undefined;
  const from = Number(braces[1]);
  if (from > MAX_COUNT) throw reader.error(`a quantifier asks for more than ${MAX_COUNT}`);
  if (braces[2] === "") return [from, from];
  const to = braces[3] === "" ? Infinity : Number(braces[3]);
  return [from, to > MAX_COUNT ? Infinity : to];
}

/** The kind of a group, after what opens it was read. */
type GroupOpening =
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
function readGroupOpening(reader: PatternReader): GroupOpening {
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

// Atomic groups and possessive quantifiers of PCRE, Java and Python: they give nothing back of what they matched
// first. Where that is only one text, or the longest run of something, it is a plain pattern with a
// look-ahead behind it; the rest is not read.

/** A node that gives nothing back; undefined if that cannot be said plainly. */
function atomicNode(node: PatternNode): PatternNode | undefined {
  // What always takes the same number of characters can give nothing back.
  if (node.min === node.max) return node;
  switch (node.kind) {
    case "repeat":
      return longest(node);
    case "sequence": {
      const [last, before] = [node.items.at(-1)!, node.items.slice(0, -1)];
      const end = before.every(isFixed) ? atomicNode(last) : undefined;
      return end && sequenceNode([...before, end]);
    }
    case "choice": {
      // The first alternative that matches is the only one.
      const options = node.items.map((item, index) => {
        const earlier = node.items.slice(0, index).map((other) => lookNode(false, true, other));
        const option = atomicNode(item);
        return option && sequenceNode([...earlier, option]);
      });
      return options.every((option) => option !== undefined) ? choiceNode(options) : undefined;
    }
    default:
      return undefined;
  }
}

/** As many repetitions as there are, or as few as there may be. */
function longest(node: PatternNode & { kind: "repeat" }): PatternNode | undefined {
  const { body, from, to, isLazy } = node;
  if (!isFixed(body)) return undefined;
  if (isLazy) return repeatNode(body, from, from);
  const noMore = lookNode(false, true, body);
  if (to === Infinity) return sequenceNode([repeatNode(body, from, to), noMore]);
  return choiceNode([
    repeatNode(body, to, to),
    sequenceNode([repeatNode(body, from, to - 1), noMore]),
  ]);
}

function isFixed({ min, max }: PatternNode): boolean {
  return min === max;
}
