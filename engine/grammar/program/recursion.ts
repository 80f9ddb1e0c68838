// The rules of a grammar that lead back to themselves (Tarjan, "Depth-first search and linear graph
// algorithms", 1972). Rules that are named but missing are found, too.

import type { Grammar, GrammarRules } from "../grammar.ts";
import { GrammarError } from "../grammar_error.ts";

/** Deepest nesting of a rule, and longest chain of rules. */
const MAX_DEPTH = 500;

interface Visit {
  readonly index: number;
  lowest: number;
  isOpen: boolean;
}

/** The rules that lead back to themselves. Errors: GrammarError if a rule is missing. */
export function recursiveRules({ root, rules = new Map() }: GrammarRules): ReadonlySet<string> {
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
