// Small rewrites of a tag's tokens, for the parts of Jinja that the library's parser lacks: tests
// with arguments, chains of comparisons, `do`, `with`, `generation`, recursive loops and commas
// before a bracket closes.
// Each turns a form into another of the same meaning that the parser knows.

import type { tokenize } from "../dependencies.ts";

import { JinjaError } from "./errors.ts";

type Token = ReturnType<typeof tokenize>[number];

/** The name of the filter that applies the test `name`; "not " goes in front of a negated one. */
export const TEST_PREFIX = "is ";

/** The name of the filter that marks what a recursive loop visits. */
export const RECURSIVE = "for recursive";

/** The name of the filter that makes a tuple of a list. */
export const TUPLE = "as tuple";

/** The name of the function that calls the block it is given: a scope of its own. */
export const WITH = "with";

/** Rewrites the tokens of one tag, its delimiters included. */
export function rewriteTag(tokens: Token[]): Token[] {
  const statement = tokens[0]?.type === "OpenStatement" ? tokens[1]?.value : undefined;
  if (statement === "generation" || statement === "endgeneration") return [];
  const plain = withoutTrailingCommas(withoutChains(withTestsAsFilters(tokens)));
  switch (statement) {
    case "do":
      return [plain[0]!, name("set"), name("do"), token("Equals", "="), ...plain.slice(2)];
    case "with":
      return [
        ...[plain[0]!, name("call"), token("OpenParen", "(")],
        ...plain.slice(2, -1),
        ...[token("CloseParen", ")"), name(WITH), token("OpenParen", "(")],
        ...[token("CloseParen", ")"), plain.at(-1)!],
      ];
    case "endwith":
      return [plain[0]!, name("endcall"), ...plain.slice(2)];
    case "for":
      return withRecursion(plain);
    default:
      return plain;
  }
}

/** `x is odd(3)` and `x is eq 3` as `x | is…(3)`: the parser takes tests without arguments only. */
function withTestsAsFilters(tokens: Token[]): Token[] {
  const result: Token[] = [];
  for (let i = 0; i < tokens.length; i++) {
    const isTest = isName(tokens[i], "is") && i > 0 && tokens[i - 1]!.type !== "Dot";
    if (!isTest) {
      result.push(tokens[i]!);
      continue;
    }
    const isNegated = isName(tokens[i + 1], "not");
    const test = i + (isNegated ? 2 : 1);
    const argument = argumentAfter(tokens, test);
    const filter = (isNegated ? "not " : "") + TEST_PREFIX + tokens[test]?.value;
    result.push(token("Pipe", "|"), name(filter));
    i = test;
    if (argument > 0) {
      const inner = withTestsAsFilters(tokens.slice(test + 1, test + 1 + argument));
      result.push(token("OpenParen", "("), ...inner, token("CloseParen", ")"));
      i += argument;
    }
  }
  return result;
}

/** How many tokens after a test's name are its bare argument; 0 for none or one in parentheses. */
function argumentAfter(tokens: Token[], test: number): number {
  const first = tokens[test + 1];
  const isLiteral = first?.type === "StringLiteral" || first?.type === "NumericLiteral";
  const isVariable = first?.type === "Identifier" &&
    !["and", "or", "else", "if", "is", "in", "not", "recursive"].includes(first.value);
  if (isLiteral) return 1;
  if (first?.type === "OpenSquareBracket" || first?.type === "OpenCurlyBracket") {
    return groupLength(tokens, test + 1);
  }
  if (!isVariable) return 0;
  let length = 1;
  for (;;) {
    const next = tokens[test + 1 + length];
    if (next?.type === "Dot") length += 2;
    else if (next?.type === "OpenSquareBracket" || next?.type === "OpenParen") {
      length += groupLength(tokens, test + 1 + length);
    } else return length;
  }
}

const OPENING = ["OpenParen", "OpenSquareBracket", "OpenCurlyBracket"];
const CLOSING = ["CloseParen", "CloseSquareBracket", "CloseCurlyBracket"];

function groupLength(tokens: Token[], start: number): number {
  let depth = 0;
  for (let i = start; i < tokens.length; i++) {
    if (OPENING.includes(tokens[i]!.type)) depth++;
    if (CLOSING.includes(tokens[i]!.type) && --depth === 0) return i - start + 1;
  }
  return tokens.length - start;
}

/** Tokens that chains of comparisons may become, for each that they have. */
const MOST_WRITTEN = 8;
const ENDS_OF_COMPARISONS = ["and", "or", "not", "if", "else"];

/** `a < b < c` as `a < b and b < c`. */
function withoutChains(tokens: Token[]): Token[] {
  const result: Token[] = [];
  /** Where the right side of the last comparison begins, for each open bracket. */
  const starts: (number | undefined)[] = [undefined];
  for (const current of tokens) {
    const start = starts.at(-1);
    if (current.type === "ComparisonBinaryOperator") {
      if (start !== undefined) {
        // What is in brackets is written twice, and what is in its brackets four times.
        if (result.length > MOST_WRITTEN * tokens.length) {
          throw new JinjaError("chains of comparisons nest too deeply");
        }
        result.push(name("and"), ...result.slice(start));
      }
      starts[starts.length - 1] = result.length + 1;
    } else if (OPENING.includes(current.type)) starts.push(undefined);
    else if (CLOSING.includes(current.type)) starts.pop();
    else if (current.type === "Comma" || current.type === "Colon") {
      starts[starts.length - 1] = undefined;
    } else if (ENDS_OF_COMPARISONS.some((word) => isName(current, word))) {
      starts[starts.length - 1] = undefined;
    }
    result.push(current);
  }
  return result;
}

/** `(a, b,)` as `(a, b)`, and the tuples `(a,)` and `()` as `[a] | tuple` and `[] | tuple`. */
function withoutTrailingCommas(tokens: Token[]): Token[] {
  const result: Token[] = [];
  const open: { at: number; commas: number }[] = [];
  for (const current of tokens) {
    if (OPENING.includes(current.type)) open.push({ at: result.length, commas: 0 });
    if (current.type === "Comma" && open.length > 0) open.at(-1)!.commas++;
    const group = CLOSING.includes(current.type) ? open.pop() : undefined;
    const isEmpty = group?.at === result.length - 1;
    const hasComma = result.at(-1)?.type === "Comma";
    if (!group || !(hasComma || isEmpty)) {
      result.push(current);
      continue;
    }
    if (hasComma) result.pop();
    const isTuple = current.type === "CloseParen" && group.commas < 2 &&
      !isCall(result[group.at - 1]);
    if (isTuple) {
      result[group.at] = token("OpenSquareBracket", "[");
      result.push(token("CloseSquareBracket", "]"), token("Pipe", "|"), name(TUPLE));
    } else {
      result.push(current);
    }
  }
  return result;
}

/** Whether a parenthesis after this token opens a call. */
function isCall(before: Token | undefined): boolean {
  if (before?.type === "CloseParen" || before?.type === "CloseSquareBracket") return true;
  const keywords = ["in", "if", "else", "and", "or", "not", "is"];
  return before?.type === "Identifier" && !keywords.includes(before.value);
}

function withRecursion(tokens: Token[]): Token[] {
  if (!isName(tokens.at(-2), "recursive")) return tokens;
  return [...tokens.slice(0, -2), token("Pipe", "|"), name(RECURSIVE), tokens.at(-1)!];
}

function isName(candidate: Token | undefined, value: string): boolean {
  return candidate?.type === "Identifier" && candidate.value === value;
}

function name(value: string): Token {
  return token("Identifier", value);
}

function token(type: Token["type"], value: string): Token {
  return { type, value };
}
