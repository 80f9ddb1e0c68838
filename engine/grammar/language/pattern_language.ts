// Turns patterns into languages. A node is translated with the language of what follows it, so an
// assertion outside of loops is an intersection with that; only loops over assertions need the Ahead
// and Behind nodes of expressions.

import { ANY_CHARACTER } from "./character_set.ts";
import { PatternError } from "./errors.ts";
import { type Expression, Flag } from "./expression_store.ts";
import { type Expressions, SHARED_BEGINNING } from "./expressions.ts";
import type { PatternNode } from "./pattern_node.ts";

/** Whether a position is the start of the text; undefined if that is not known. */
type AtStart = boolean | undefined;

/** The texts that contain a match of `pattern`, which may be anywhere unless it has anchors. */
export function patternLanguage(expressions: Expressions, pattern: PatternNode): Expression {
  return new Translator(expressions).search(pattern, expressions.everything);
}

class Translator {
  readonly #expressions: Expressions;
  /** Whether this is a look-behind: its text ends where the assertion is. */
  readonly #back: boolean;

  constructor(expressions: Expressions, back = false) {
    this.#expressions = expressions;
    this.#back = back;
  }

  /** Any text, then `pattern`, then `next`. */
  search(pattern: PatternNode, next: Expression): Expression {
    const e = this.#expressions;
    const later = this.#translate(pattern, next, false);
    if (!pattern.looksBack) return e.concat(e.everything, later);
    const begun = e.repeat(e.set(ANY_CHARACTER), 1, Infinity);
    return e.or([this.#translate(pattern, next, true), e.concat(begun, later)]);
  }

  /** `node`, then `next`, the language of the rest of the text. */
  #translate(node: PatternNode, next: Expression, atStart: AtStart): Expression {
    const e = this.#expressions;
    if (!node.asserts) return e.concat(this.#segment(node), next);
    switch (node.kind) {
      case "sequence": {
        const starts: AtStart[] = [];
        let start = atStart;
        for (const item of node.items) {
          starts.push(start);
          if (item.min > 0) start = false;
          else if (item.max > 0 && start) start = undefined;
        }
        return node.items.reduceRight(
          (rest, item, i) => this.#translate(item, rest, starts[i]),
          next,
        );
      }
      case "choice":
        return e.or(node.items.map((item) => this.#translate(item, next, atStart)));
      case "repeat":
        if (node.to > 1) return e.concat(this.#segment(node), next);
        return e.or([
          node.from === 0 ? next : e.empty,
          node.to === 0 ? e.empty : this.#translate(node.body, next, atStart),
        ]);
      case "look":
        return node.back
          ? this.#lookBehind(this.#prefix(node), next, atStart)
          : e.and([this.#rest(node, atStart), next]);
      case "start":
        return this.#lookBehind(e.epsilon, next, atStart);
      case "end":
        return e.and([this.#end(), next]);
      case "boundary":
        return e.or(
          this.#boundary(node).map(([prefix, rest]) =>
            this.#lookBehind(prefix, e.and([rest, next]), atStart)
          ),
        );
      default:
        throw new TypeError(`Translating a pattern: ${node.kind} asserts nothing`);
    }
  }

  /** `node` alone, for repetitions. Its assertions refer to text beyond it. */
  #segment(node: PatternNode): Expression {
    const e = this.#expressions;
    switch (node.kind) {
      case "set":
        return e.set(node.set);
      case "sequence":
        return node.items.reduceRight(
          (rest, item) => e.concat(this.#segment(item), rest),
          e.epsilon,
        );
      case "choice":
        return e.or(node.items.map((item) => this.#segment(item)), SHARED_BEGINNING);
      case "repeat":
        return e.repeat(this.#segment(node.body), node.from, node.to);
      case "look":
        return node.back ? e.behind(this.#prefix(node)) : e.ahead(this.#rest(node, undefined));
      case "start":
        return e.behind(e.epsilon);
      case "end":
        return e.ahead(this.#end());
      case "boundary":
        return e.or(
          this.#boundary(node).map(([prefix, rest]) => e.concat(e.behind(prefix), e.ahead(rest))),
        );
      case "reference":
        throw new TypeError("Translating a pattern: its references have to be replaced before");
    }
  }

  /** `next`, if the text so far is in `prefix`. */
  #lookBehind(prefix: Expression, next: Expression, atStart: AtStart): Expression {
    const e = this.#expressions;
    if (atStart) return e.store.has(prefix, Flag.Nullable) ? next : e.empty;
    if (atStart === false && prefix === e.epsilon) return e.empty;
    return e.concat(e.behind(prefix), next);
  }

  /** The language that a look-ahead requires of the rest of the text. */
  #rest(look: PatternNode & { kind: "look" }, atStart: AtStart): Expression {
    this.#refuseInLookBehind();
    const e = this.#expressions;
    const rest = this.#translate(look.body, e.everything, atStart);
    return look.not ? e.not(rest) : rest;
  }

  /** The language that a look-behind requires of the text so far. */
  #prefix(look: PatternNode & { kind: "look" }): Expression {
    const e = this.#expressions;
    const prefix = new Translator(e, true).search(look.body, e.epsilon);
    return look.not ? e.not(prefix) : prefix;
  }

  #end(): Expression {
    this.#refuseInLookBehind();
    return this.#expressions.epsilon;
  }

  /** The languages of the text before and after a word boundary, or a position that is not one. */
  #boundary(
    { not, word }: PatternNode & { kind: "boundary" },
  ): [prefix: Expression, rest: Expression][] {
    this.#refuseInLookBehind();
    const e = this.#expressions;
    const character = e.set(word);
    const before = e.concat(e.everything, character);
    const after = e.concat(character, e.everything);
    return not
      ? [[before, after], [e.not(before), e.not(after)]]
      : [[before, e.not(after)], [e.not(before), after]];
  }

  #refuseInLookBehind(): void {
    if (!this.#back) return;
    throw new PatternError("a look-behind that looks ahead is not supported");
  }
}
