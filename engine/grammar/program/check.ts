// The conditions of a program before it runs: every path through it ends, so that no mask leads to
// a dead end, and no rule begins with itself, so that every step ends.

import { GrammarError } from "../grammar.ts";
import {
  type Instruction,
  type Position,
  type Program,
  weighPositions,
} from "../machine/rules/program.ts";
import type { Emitted } from "./part.ts";

/**
 * The program without the paths that do not end.
 *
 * @throws {GrammarError} if no path is left, or a rule begins with itself
 */
export function checkProgram({ instructions, start, rules }: Emitted): Program {
  const names = new Map([...rules].map(([name, position]) => [position, name]));
  const weights = weighPositions(
    instructions,
    (one) => one.type === "document" ? 1 : one.text.least,
  );
  if (weights[start] === Infinity) {
    const endless = [...rules].find(([, position]) => weights[position] === Infinity)?.[0];
    const reason = endless === undefined ? "it allows no text" : `no text of "${endless}" ends`;
    throw new GrammarError(reason, undefined, endless);
  }
  const pruned = instructions.map((one) => prune(one, weights));
  for (const position of findLeftRecursion(pruned, weights)) {
    const name = names.get(position);
    if (name === undefined) continue;
    const reason = `the rule "${name}" begins with itself, which is not supported`;
    throw new GrammarError(reason, undefined, name);
  }
  return { instructions: pruned, start, isNullable: weights.map((weight) => weight === 0) };
}

/** An instruction without the paths that do not end. */
function prune(one: Instruction, weights: readonly number[]): Instruction {
  if (one.type === "fork") {
    return { ...one, targets: one.targets.filter((at) => weights[at]! < Infinity) };
  }
  if (one.type !== "repeat") return one;
  const weight = weights[one.part]!;
  if (weight === Infinity) return { type: "fork", targets: [one.next] };
  // Rounds that may be empty are never missing.
  return weight === 0 ? { ...one, min: 0 } : one;
}

/** A cycle of positions without a byte; empty if there is none. */
function findLeftRecursion(
  instructions: readonly Instruction[],
  weights: readonly number[],
): Position[] {
  const isSeen = new Uint8Array(instructions.length);
  const isOpen = new Uint8Array(instructions.length);
  for (let first = 0; first < instructions.length; first++) {
    const path: { position: Position; ways: Position[] }[] = [];
    const enter = (position: Position) => {
      isOpen[position] = isSeen[position] = 1;
      path.push({ position, ways: waysFrom(instructions[position]!, weights) });
    };
    if (isSeen[first] === 0) enter(first);
    for (let top = path.at(-1); top; top = path.at(-1)) {
      const next = top.ways.pop();
      if (next === undefined) {
        isOpen[top.position] = 0;
        path.pop();
      } else if (isOpen[next] === 1) {
        const circle = path.map(({ position }) => position);
        return circle.slice(circle.indexOf(next));
      } else if (isSeen[next] === 0) enter(next);
    }
  }
  return [];
}

/** The positions that an instruction leads to without a byte. */
function waysFrom(one: Instruction, weights: readonly number[]): Position[] {
  switch (one.type) {
    case "fork":
      return [...one.targets];
    case "call":
      return weights[one.target] === 0 ? [one.target, one.next] : [one.target];
    case "repeat":
      return one.min === 0 ? [one.part, one.next] : [one.part];
    case "text":
      return one.text.least === 0 ? [one.next] : [];
    default:
      return [];
  }
}
