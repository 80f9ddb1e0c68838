// Reads patterns in the syntax of ECMA-262 with the u flag, and also what authors of schemas write
// although it is only allowed without the flag: \- and other needless escapes, single ] { and }.
// Back-references are refused, because they are not regular.

import { characterSet } from "./character_set.ts";
import { PatternError } from "./errors.ts";
import { PatternReader } from "./pattern_reader.ts";
import { readClass, readEscape } from "./pattern_class.ts";
import {
  boundaryNode,
  choiceNode,
  END,
  lookNode,
  type PatternNode,
  repeatNode,
  sequenceNode,
  setNode,
  START,
} from "./pattern_node.ts";
import { NOT_LINE_ENDS } from "./pattern_sets.ts";

/** Deepest nesting of groups. */
const MAX_DEPTH = 100;

/** Longest pattern, in UTF-16 units. */
const MAX_LENGTH = 65_536;

/** Largest finite count of a quantifier. A larger one counts as infinite. */
const MAX_COUNT = 2 ** 30;

/**
 * Reads a pattern.
 * @throws {PatternError} if it is invalid or has back-references
 */
export function parsePattern(source: string): PatternNode {
  if (source.length > MAX_LENGTH) {
    throw new PatternError(`Reading a pattern: it has over ${MAX_LENGTH} characters`);
  }
  const reader = new PatternReader(source);
  const node = readChoice(reader, 0);
  if (!reader.atEnd) throw reader.error("a ) closes nothing");
  return node;
}

function readChoice(reader: PatternReader, depth: number): PatternNode {
  if (depth > MAX_DEPTH) throw reader.error(`groups nest deeper than ${MAX_DEPTH}`);
  const options: PatternNode[] = [];
  do options.push(readSequence(reader, depth)); while (reader.take("|"));
  return options.length === 1 ? options[0]! : choiceNode(options);
}

function readSequence(reader: PatternReader, depth: number): PatternNode {
  const items: PatternNode[] = [];
  while (!reader.atEnd && !reader.sees("|") && !reader.sees(")")) {
    items.push(readTerm(reader, depth));
  }
  return items.length === 1 ? items[0]! : sequenceNode(items);
}

function readTerm(reader: PatternReader, depth: number): PatternNode {
  if (reader.take("^")) return START;
  if (reader.take("$")) return END;
  if (reader.take("\\b")) return boundaryNode(false);
  if (reader.take("\\B")) return boundaryNode(true);
  const atom = readAtom(reader, depth);
  const counts = readQuantifier(reader);
  if (!counts) return atom;
  reader.take("?"); // Lazy: the same language.
  const [from, to] = counts;
  if (from > to) throw reader.error("a quantifier's numbers are out of order");
  return repeatNode(atom, from, to);
}

function readAtom(reader: PatternReader, depth: number): PatternNode {
  if (reader.take("(")) return readGroup(reader, depth);
  if (reader.take(".")) return setNode(NOT_LINE_ENDS);
  if (reader.take("[")) return setNode(readClass(reader));
  if (reader.take("\\")) return setNode(readEscape(reader, false));
  if (reader.sees("*") || reader.sees("+") || reader.sees("?") || readQuantifier(reader)) {
    throw reader.error("there is nothing to repeat");
  }
  const character = reader.next();
  return setNode(characterSet([character, character]));
}

function readGroup(reader: PatternReader, depth: number): PatternNode {
  const look = reader.match(/\?(<?)([=!])/y);
  const named = look
    ? undefined
    : reader.match(/\?<[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*>/uy);
  if (!look && !named && !reader.take("?:") && reader.sees("?")) {
    throw reader.error("there is no such kind of group");
  }
  const body = readChoice(reader, depth + 1);
  if (!reader.take(")")) throw reader.error("a group is not closed");
  return look ? lookNode(look[1] === "<", look[2] === "!", body) : body;
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
