// Makes parts of a grammar's nodes: rules that do not recur are inserted where they are named,
// control tokens are separated from text, and everything regular becomes languages.

import {
  type Grammar,
  GrammarError,
  type GrammarRules,
  type JsonGrammar,
  type StringGrammar,
} from "../grammar.ts";
import type { LanguageId, Languages } from "../language/mod.ts";
import type { TokenTable } from "../machine/token_table.ts";
import type { TypeId } from "../types.ts";
import { type Part, Parts, splitControls } from "./part.ts";

/** What a grammar refers to. */
export interface Surroundings {
  readonly languages: Languages;
  readonly table: TokenTable;
  /** The type of a schema's documents; undefined if there are none of the types that are asked for. */
  readonly documentOf: (document: JsonGrammar) => TypeId | undefined;
  /** The strings that a schema allows. */
  readonly stringsOf: (strings: StringGrammar) => LanguageId;
}

/** Largest text of a rule that is inserted wherever it is named. */
const MAX_INLINE = 1000;

/** Simplifies the rules of a grammar. */
export class Simplifier {
  readonly #grammar: GrammarRules;
  readonly #surroundings: Surroundings;
  readonly #parts: Parts;
  readonly #recursive: ReadonlySet<string>;
  readonly #rules = new Map<string, Part>();

  /** Errors: GrammarError if a rule is missing. */
  constructor(grammar: GrammarRules, surroundings: Surroundings) {
    this.#grammar = grammar;
    this.#surroundings = surroundings;
    this.#parts = new Parts(surroundings.languages);
    this.#recursive = recursiveRules(grammar);
  }

  /** The whole grammar. */
  root(): Part {
    return this.#simplify(this.#grammar.root);
  }

  rule(name: string): Part {
    let part = this.#rules.get(name);
    if (!part) {
      part = this.#within(name, this.#grammar.rules!.get(name)!);
      this.#rules.set(name, part);
    }
    return part;
  }

  #simplify(grammar: Grammar): Part {
    const { languages, documentOf, stringsOf } = this.#surroundings;
    const parts = this.#parts;
    switch (grammar.type) {
      case "literal":
        return this.#literal(grammar.text);
      case "token":
        return this.#token(grammar.token, grammar.negated ?? false);
      case "characters":
        return parts.text(languages.character(grammar.ranges, grammar.negated), 1);
      case "sequence":
        return parts.sequence(grammar.parts.map((part) => this.#simplify(part)));
      case "choice":
        return parts.choice(grammar.options.map((option) => this.#simplify(option)));
      case "repeat":
        return this.#repeat(grammar.part, grammar.min, grammar.max);
      case "rule":
        return this.#named(grammar.name);
      case "text":
        return this.#textWithout(grammar.without);
      case "pattern":
        return parts.text(
          languages.pattern(grammar.source, grammar.isWhole),
          grammar.source.length,
        );
      case "both":
        return this.#both(grammar.parts);
      case "json": {
        const root = documentOf(grammar);
        return root === undefined ? parts.text(languages.none(), 1) : { type: "document", root };
      }
      case "string":
        return this.#counted(stringsOf(grammar));
    }
  }

  /** Adds the name of the rule to errors within it. */
  #within(name: string, rule: Grammar): Part {
    try {
      return this.#simplify(rule);
    } catch (error) {
      const isUnnamed = error instanceof GrammarError && error.rule === undefined;
      throw isUnnamed ? new GrammarError(error.reason, undefined, name) : error;
    }
  }

  #named(name: string): Part {
    if (this.#recursive.has(name)) return { type: "rule", name };
    const part = this.rule(name);
    const isShort = part.type === "text" && (part.size <= MAX_INLINE || part.size === Infinity);
    return isShort || part.type === "control" || part.type === "document"
      ? part
      : { type: "rule", name };
  }

  #literal(text: string): Part {
    const { controls } = this.#surroundings.table;
    const pieces = splitControls(text, controls).map((piece): Part =>
      typeof piece === "number" ? { type: "control", token: piece } : this.#parts.literal(piece)
    );
    return this.#parts.sequence(pieces);
  }

  #token(token: number | string, negated: boolean): Part {
    const { languages, table } = this.#surroundings;
    const id = typeof token === "number" ? token : table.controls.get(token);
    const isControl = id !== undefined && table.isControl(id);
    if (negated && isControl) return this.#parts.text(languages.character([], true), 1);
    if (negated) {
      throw new GrammarError(`token ${token} is no control token, and cannot be negated`);
    }
    if (isControl) return { type: "control", token: id };
    if (typeof token === "string") return this.#parts.literal(token);
    if (!table.isText(token)) throw new GrammarError(`token ${token} cannot be asked for`);
    const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(table.bytesOf(token));
    if (text.includes("\ufffd")) throw new GrammarError(`token ${token} is part of a character`);
    return this.#parts.literal(text);
  }

  #repeat(repeated: Grammar, min: number, max: number): Part {
    const isCount = (count: number) => Number.isSafeInteger(count) && count >= 0;
    if (!isCount(min) || !(isCount(max) || max === Infinity) || min > max) {
      throw new GrammarError(`a repetition is from ${min} to ${max} times`);
    }
    const part = this.#simplify(repeated);
    if (max === Infinity && this.#parts.isEmptyText(part)) {
      throw new GrammarError("a repetition without end repeats nothing");
    }
    return this.#parts.repeat(part, min, max);
  }

  #both(both: readonly Grammar[]): Part {
    const { languages } = this.#surroundings;
    const texts = both.map((part) => this.#simplify(part)).map((part) => {
      if (part.type === "text") return part;
      throw new GrammarError("only texts without control tokens can be restricted together");
    });
    const telling = texts.filter(({ language }) => language !== languages.any());
    if (telling.length === 1) return telling[0]!;
    return this.#counted(languages.intersect(...telling.map(({ language }) => language)));
  }

  /** A text whose characters may be counted, beside its automaton, only while it stays alone. */
  #counted(language: LanguageId): Part {
    return this.#parts.text(language, Infinity);
  }

  #textWithout(without: readonly string[]): Part {
    const { languages } = this.#surroundings;
    const any = languages.any();
    const found = languages.union(...without.map((text) => languages.literal(text)));
    const language = languages.complement(languages.sequence(any, found, any));
    return this.#parts.text(language, without.reduce((sum, text) => sum + text.length, 1));
  }
}

// The rules of a grammar that lead back to themselves (Tarjan, "Depth-first search and linear graph
// algorithms", 1972). Rules that are named but missing are found, too.

/** Deepest nesting of a rule, and longest chain of rules. */
const MAX_DEPTH = 500;

interface Visit {
  readonly index: number;
  lowest: number;
  isOpen: boolean;
}

/** The rules that lead back to themselves. Errors: GrammarError if a rule is missing. */
function recursiveRules({ root, rules = new Map() }: GrammarRules): ReadonlySet<string> {
  const recursive = new Set<string>();
  const visits = new Map<string, Visit>();
  const open: string[] = [];
  const visit = (name: string, depth: number): Visit => {
    const rule = rules.get(name);
    if (!rule) throw new GrammarError(`there is no rule "${name}"`, undefined, name);
    if (depth > MAX_DEPTH) {
      throw new GrammarError(`rules name each other more than ${MAX_DEPTH} deep`, undefined, name);
    }
    const own: Visit = { index: visits.size, lowest: visits.size, isOpen: true };
    visits.set(name, own);
    open.push(name);
    for (const next of namesIn(rule)) {
      if (next === name) recursive.add(name);
      const other = visits.get(next) ?? visit(next, depth + 1);
      if (other.isOpen) own.lowest = Math.min(own.lowest, other.lowest);
    }
    if (own.lowest === own.index) close(name);
    return own;
  };
  const close = (first: string) => {
    const component = open.splice(open.indexOf(first));
    for (const name of component) {
      visits.get(name)!.isOpen = false;
      if (component.length > 1) recursive.add(name);
    }
  };
  for (const name of namesIn(root)) if (!visits.has(name)) visit(name, 0);
  return recursive;
}

/** The rules that a grammar names. Errors: GrammarError if it is nested too deeply. */
function namesIn(grammar: Grammar): ReadonlySet<string> {
  const names = new Set<string>();
  const open: { grammar: Grammar; depth: number }[] = [{ grammar, depth: 0 }];
  for (let at = open.pop(); at; at = open.pop()) {
    const { grammar: node, depth } = at;
    if (depth > MAX_DEPTH) throw new GrammarError(`it nests more than ${MAX_DEPTH} deep`);
    const add = (child: Grammar) => open.push({ grammar: child, depth: depth + 1 });
    if (node.type === "rule") names.add(node.name);
    else if (node.type === "repeat") add(node.part);
    else if (node.type === "sequence" || node.type === "both") node.parts.forEach(add);
    else if (node.type === "choice") node.options.forEach(add);
  }
  return names;
}
