// The evaluation of the model in the box, with somebody else in its place: who knows all answers is
// right in all, who says nothing in none, and a wrong answer is reported once.

import { assert, assertEquals } from "@std/assert";
import { evaluate, formatScores, type Miss } from "../../../bench/box/evaluate.ts";
import type { Answer } from "../../../bench/box/types.ts";
import { Random } from "../../../bench/box/random.ts";
import { EVALUATED } from "../../../bench/box/skills/mod.ts";

/** The right answers by what was said last, and how many messages there were. */
function answersOf(count: number): Map<string, Answer> {
  const answers = new Map<string, Answer>();
  for (const skill of EVALUATED) {
    const random = new Random(2026);
    for (let i = 0; i < count; i++) {
      const { system, turns } = skill.example(random, "heldOut");
      let said = system ?? "";
      for (const { user, toolResult, answer } of turns) {
        said += `|${user ?? toolResult}`;
        answers.set(said, answer);
      }
    }
  }
  return answers;
}

Deno.test("evaluate() finds the right answers right, and silence wrong", async () => {
  const known = answersOf(12);
  const scores = await evaluate(({ messages }) => {
    const asked = messages.filter(({ role }) => role !== "assistant" && role !== "system");
    const system = messages.find(({ role }) => role === "system")?.content ?? "";
    const answer = known.get(system + asked.map(({ content }) => `|${content}`).join(""));
    assert(answer, "an example was asked that was not made");
    return Promise.resolve(answer);
  }, 12);
  assertEquals(scores.map(({ right }) => right), scores.map(() => 12));

  const misses: Miss[] = [];
  const silent = await evaluate(() => Promise.resolve({}), 12, (miss) => misses.push(miss));
  assertEquals(silent.map(({ right }) => right), scores.map(() => 0));
  assertEquals(misses.length, 6 * 12);

  const asked = ({ question }: Miss) => JSON.stringify(question);
  const first = new Set(misses.map(asked));
  let again = 0;
  await evaluate(
    () => Promise.resolve({}),
    12,
    (miss) => again += Number(first.has(asked(miss))),
    777,
  );
  assert(again < 6, `${again} examples are those of the other seed`);
});

Deno.test("formatScores() writes a table with shares and goals", () => {
  const table = formatScores([{ name: "sums", right: 9, count: 10, goal: 0.85 }]);
  assertEquals(table.split("\n")[2], "| sums | 9 of 10 | 90.0 % | 85.0 % |");
});
