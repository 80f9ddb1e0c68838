// Sums, differences and small products, with thinking digit by digit where it is asked for and
// without where it is not. Held out: two-digit pairs by a rule, and every fifth wording.

import { fill, type Random } from "../random.ts";
import type { Answer, Example, Skill, Split } from "../types.ts";

interface Operation {
  sign: string;
  apply: (a: number, b: number) => number;
  /** Patterns of what is asked. */
  phrases: readonly string[];
  think: (a: number, b: number) => string;
}

/** Ways to ask for what a formula makes. */
function formulas(formula: string): string[] {
  return [
    `[What is|What's|How much is|Can you work out|Could you compute|Can you tell me] ${formula}?`,
    `[Calculate|Compute|Work out|Tell me|Please work out|Think:] ${formula}.`,
    `${formula}[| = ?| =|?| is what?|, how much is that?]`,
  ];
}

const SUM: Operation = {
  sign: "+",
  apply: (a, b) => a + b,
  phrases: [
    ...formulas("{a} [+|plus] {b}"),
    "[Add|Sum up|Please add|Add up] {a} and {b}[|, please| for me].",
    "[Can|Could] you [add|sum up|add up] {a} and {b}[| for me|, please]?",
    "[Add|Please add] {b} to {a}.",
    "What [is|was] the [sum|total] of {a} and {b}?",
    "[Tell me|Compute|Please tell me|Calculate] the [sum|total] of {a} and {b}.",
    "[What|How much] do {a} and {b} [make together|make|give|add up to|come to]?",
    "I have {a} [apples|coins|books|eggs] and [buy|get|find] {b} more. How many do I have[| now]?",
  ],
  think: thinkSum,
};

const DIFFERENCE: Operation = {
  sign: "-",
  apply: (a, b) => a - b,
  phrases: [
    ...formulas("{a} [-|minus] {b}"),
    "[Subtract|Please subtract|Take away] {b} from {a}[|, please| for me].",
    "[Can|Could] you [subtract|take away] {b} from {a}[| for me|, please]?",
    "What is left of {a} after taking [away |]{b}?",
    "I have {a} [apples|coins|books|eggs] and [sell|lose|give away] {b}. How many do I have[| now]?",
  ],
  think: thinkDifference,
};

const PRODUCT: Operation = {
  sign: "*",
  apply: (a, b) => a * b,
  phrases: [
    ...formulas("{a} [*|times|x] {b}"),
    "[Multiply|Please multiply] {a} [by|and|with] {b}[|, please| for me].",
    "[Can|Could] you multiply {a} [by|and|with] {b}[| for me|, please]?",
    "What is the product of {a} and {b}?",
  ],
  think: (a, b) => `${a} * ${b} = ${a * b}.`,
};

/** Two-digit sums; training sees differences and small products too. */
export const arithmetic: Skill = { name: "arithmetic", example };

function example(random: Random, split: Split): Example {
  const operation = chooseOperation(random, split);
  const [a, b] = chooseNumbers(operation, random, split);
  // What is evaluated is the thinking; the rest say that it is not wanted, and then only that counts.
  const think = random.chance(0.6);
  const result = operation.apply(a, b);
  const sentence = `${a} ${operation.sign} ${b} = ${result}`;
  const answer: Answer = {
    ...think && { thinking: operation.think(a, b) },
    text: `${sentence}.`,
  };
  const user = fill(random.phraseOf(operation.phrases, split), { a, b });
  const check = (actual: Answer) =>
    think
      ? Boolean(actual.thinking?.trim()) && lastNumber(actual.text) === result
      : !actual.thinking && lastNumber(actual.text) !== undefined;
  return { think, turns: [{ user, answer, check }] };
}

function chooseOperation(random: Random, split: Split): Operation {
  if (split === "heldOut" || random.chance(0.7)) return SUM;
  return random.chance(0.7) ? DIFFERENCE : PRODUCT;
}

function chooseNumbers(
  operation: Operation,
  random: Random,
  split: Split,
): [number, number] {
  if (operation === PRODUCT) return [random.integer(2, 9), random.integer(2, 9)];
  const short = split !== "heldOut" && random.chance(0.15);
  for (;;) {
    const a = short ? random.integer(0, 9) : random.integer(10, 99);
    const b = short ? random.integer(0, 9) : random.integer(10, 99);
    // Depends on all digits, so that training sees every digit beside every other one.
    const isHeldOut = a * b % 7 === 3;
    if (!short && isHeldOut !== (split === "heldOut")) continue;
    return operation === DIFFERENCE ? [Math.max(a, b), Math.min(a, b)] : [a, b];
  }
}

/** Column by column, the ones first. */
function thinkSum(a: number, b: number): string {
  const ones = a % 10 + b % 10;
  const carry = Math.floor(ones / 10);
  const [tensA, tensB] = [Math.floor(a / 10), Math.floor(b / 10)];
  const tens = tensA + tensB + carry;
  return `Ones: ${a % 10} + ${b % 10} = ${ones}, write ${ones % 10}, carry ${carry}. ` +
    `Tens: ${tensA} + ${tensB} + ${carry} = ${tens}. So ${a} + ${b} = ${a + b}.`;
}

function thinkDifference(a: number, b: number): string {
  const borrow = a % 10 < b % 10 ? 1 : 0;
  const ones = a % 10 + 10 * borrow - b % 10;
  const [tensA, tensB] = [Math.floor(a / 10), Math.floor(b / 10)];
  return `Ones: ${a % 10 + 10 * borrow} - ${b % 10} = ${ones}, borrow ${borrow}. ` +
    `Tens: ${tensA} - ${tensB} - ${borrow} = ${tensA - tensB - borrow}. So ${a} - ${b} = ${a - b}.`;
}

function lastNumber(text = ""): number | undefined {
  const last = text.match(/-?\d+/g)?.at(-1);
  return last === undefined ? undefined : Number(last);
}
