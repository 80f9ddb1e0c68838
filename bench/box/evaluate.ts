// Measures what the model can do on held-out examples: each turn is put to the model with the answers
// that it gave itself in the turns before; an example is right if all answers that count are.
// How the model is reached is the caller's business.

import type { ChatMessage, Tool } from "../../engine/types/mod.ts";
import { Random } from "./random.ts";
import { EVALUATED } from "./skills/mod.ts";
import type { Answer, Example, Skill } from "./types.ts";

/** What is asked of the model; sampling is greedy. */
export interface Question {
  messages: ChatMessage[];
  tools?: Tool[];
  think?: boolean;
  /** JSON Schema that the answer is held to. */
  format?: Record<string, unknown>;
}

/** Puts a question to the model. */
export type Ask = (question: Question) => Promise<Answer>;

/** One line of the table. */
export interface Score {
  name: string;
  right: number;
  count: number;
  /** Share that the model is meant to reach. */
  goal: number;
}

/** An answer that was wrong, for people to look at. */
export interface Miss {
  name: string;
  question: Question;
  answer: Answer;
  expected: Answer;
}

/** Chooses the examples of the model card. */
const SEED = 2026;
/** Examples that run at the same time. */
const PARALLEL = 4;

const GOALS: Record<string, number> = {
  about: 0.9,
  extraction: 0.85,
  tools: 0.85,
  arithmetic: 0.9,
  language: 0.85,
  memory: 0.8,
};

const VALID_JSON = { name: "extraction, valid JSON without a mask", goal: 0.9 };

/**
 * Runs the held-out examples of every skill.
 *
 * @param count examples of each skill
 * @param onMiss told of every wrong answer
 * @param seed chooses the examples; another seed, other ones
 */
export async function evaluate(
  ask: Ask,
  count: number,
  onMiss: (miss: Miss) => void = () => {},
  seed = SEED,
): Promise<Score[]> {
  const scores: Score[] = [];
  for (const skill of EVALUATED) {
    const { name } = skill;
    const report = (miss: Omit<Miss, "name">) => onMiss({ name, ...miss });
    const right = await countRight(
      heldOut(skill, count, seed),
      (example) => isRight(example, ask, report),
    );
    scores.push({ name, right, count, goal: GOALS[name]! });
    if (name !== "extraction") continue;
    const valid = await countRight(
      heldOut(skill, count, seed),
      (example) => isValidJson(example, ask),
    );
    scores.push({ ...VALID_JSON, right: valid, count });
  }
  return scores;
}

/** How many of the examples pass; several run at the same time. */
async function countRight(
  examples: Generator<Example>,
  passes: (example: Example) => Promise<boolean>,
): Promise<number> {
  let right = 0;
  const work = async () => {
    for (const example of examples) {
      const isPassed = await passes(example);
      right += Number(isPassed);
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, work));
  return right;
}

/** The table that is printed and stands in the model card. */
export function formatScores(scores: readonly Score[]): string {
  const rows = scores.map(({ name, right, count, goal }) => {
    const percent = (share: number) => `${(100 * share).toFixed(1)} %`;
    return `| ${name} | ${right} of ${count} | ${percent(right / count)} | ${percent(goal)} |\n`;
  });
  return `| skill | right | share | goal |\n| --- | --- | --- | --- |\n${rows.join("")}`;
}

function* heldOut(skill: Skill, count: number, seed: number): Generator<Example> {
  const random = new Random(seed);
  for (let i = 0; i < count; i++) yield skill.example(random, "heldOut");
}

async function isRight(
  { system, tools, think, format, turns }: Example,
  ask: Ask,
  report: (miss: Omit<Miss, "name">) => void,
): Promise<boolean> {
  const messages: ChatMessage[] = [];
  if (system !== undefined) messages.push({ role: "system", content: system });
  for (const { user, toolResult, answer: expected, check } of turns) {
    messages.push(
      user !== undefined
        ? { role: "user", content: user }
        : { role: "tool", content: toolResult ?? "" },
    );
    const question: Question = {
      messages: [...messages],
      ...tools && { tools },
      ...think !== undefined && { think },
      ...format && { format },
    };
    const answer = await ask(question);
    if (check && !check(answer)) {
      report({ question, answer, expected });
      return false;
    }
    messages.push({
      role: "assistant",
      content: answer.text ?? "",
      ...answer.call && { toolCalls: [{ function: answer.call }] },
    });
  }
  return true;
}

async function isValidJson({ system, turns }: Example, ask: Ask): Promise<boolean> {
  const messages: ChatMessage[] = [
    ...system !== undefined ? [{ role: "system" as const, content: system }] : [],
    { role: "user", content: turns[0]!.user ?? "" },
  ];
  const { text = "" } = await ask({ messages });
  return isJsonObject(text);
}

function isJsonObject(text: string): boolean {
  try {
    const value = JSON.parse(text);
    return typeof value === "object" && value !== null;
  } catch {
    return false;
  }
}
