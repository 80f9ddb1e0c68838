// The generators of extraction, tools and memory: their checks accept the answers they come with and
// refuse others, and what is held out stays out of the examples to learn from.

import { assert, assertEquals } from "@std/assert";
import { Random } from "../../../bench/box/random.ts";
import { extraction } from "../../../bench/box/skills/extraction.ts";
import { memory } from "../../../bench/box/skills/memory.ts";
import { tools } from "../../../bench/box/skills/tools.ts";
import type { Answer, Example, Skill, Split } from "../../../bench/box/types.ts";

const SEEDS = 200;
const SPLITS: readonly Split[] = ["train", "heldOut"];

function examplesOf(skill: Skill, split: Split, seeds = SEEDS): Example[] {
  return Array.from({ length: seeds }, (_, seed) => skill.example(new Random(seed), split));
}

/** An answer that is wrong in every turn: empty, or with something more in a call. */
function spoil({ call }: Answer): Answer {
  return call ? { call: { ...call, arguments: { ...call.arguments, more: 1 } } } : { text: "" };
}

for (const skill of [extraction, tools, memory]) {
  for (const split of SPLITS) {
    Deno.test(`the checks of ${skill.name} (${split}) accept the answer and refuse a wrong one`, () => {
      for (const { turns } of examplesOf(skill, split)) {
        assert(turns.some(({ check }) => check));
        for (const { answer, check } of turns) {
          if (!check) continue;
          assert(check(answer), JSON.stringify(answer));
          assert(!check(spoil(answer)), JSON.stringify(answer));
        }
      }
    });
  }

  Deno.test(`${skill.name} makes the same example of the same seed, with every place filled`, () => {
    for (const split of SPLITS) {
      for (let seed = 0; seed < 50; seed++) {
        const text = JSON.stringify(skill.example(new Random(seed), split));
        assertEquals(text, JSON.stringify(skill.example(new Random(seed), split)));
        assert(!/\{\w+\}|undefined|NaN/.test(text), text);
      }
    }
  });

  Deno.test(`${skill.name} asks nothing held out in the examples to learn from`, () => {
    const saidIn = (split: Split) =>
      new Set(
        examplesOf(skill, split).flatMap(({ turns }) => turns.flatMap(({ user }) => user ?? [])),
      );
    const heldOut = saidIn("heldOut");
    for (const said of saidIn("train")) assert(!heldOut.has(said), said);
  });
}

Deno.test("extraction keeps held-out names, ages, amounts, dates and items for the evaluation", () => {
  const valuesIn = (split: Split) =>
    new Set(
      examplesOf(extraction, split).flatMap(({ turns }) =>
        Object.values(JSON.parse(turns[0]!.answer.text!)).flat()
      ),
    );
  const heldOut = valuesIn("heldOut");
  for (const value of valuesIn("train")) assert(!heldOut.has(value), String(value));
});

Deno.test("the answers of extraction have the properties of their format, in its order", () => {
  for (const { turns, format } of examplesOf(extraction, "heldOut")) {
    const keys = Object.keys(JSON.parse(turns[0]!.answer.text!));
    assertEquals(keys, Object.keys(format!.properties as object));
    assertEquals(keys, format!.required);
  }
});

Deno.test("the calls of tools name a tool of the list and its parameters, all that it requires", () => {
  for (const example of SPLITS.flatMap((split) => examplesOf(tools, split))) {
    for (const { call } of example.turns.map(({ answer }) => answer)) {
      if (!call) continue;
      const tool = example.tools!.find((tool) => tool.function.name === call.name);
      const { properties, required } = tool!.function.parameters as {
        properties: Record<string, unknown>;
        required: string[];
      };
      const told = Object.keys(call.arguments);
      assert(told.every((name) => name in properties), JSON.stringify(call));
      assert(required.every((name) => told.includes(name)), JSON.stringify(call));
    }
  }
});

Deno.test("memory refuses the value that a correction has replaced", () => {
  let corrections = 0;
  for (const { turns } of SPLITS.flatMap((split) => examplesOf(memory, split, 5000))) {
    const last = turns.at(-1)!;
    const recalled = last.answer.text!.match(/^(You live in|Your name is) (.+)\.$/);
    if (!recalled) continue;
    const [, begin, latest] = recalled;
    const told = begin === "You live in" ? /You live in (.+?), noted/ : /Nice to meet you, (.+?)!/;
    for (const turn of turns.slice(0, -1)) {
      const outdated = turn.answer.text!.match(told)?.[1];
      if (!outdated || outdated === latest) continue;
      corrections++;
      for (const text of [`${begin} ${outdated}.`, `${begin} ${latest}, not in ${outdated}.`]) {
        assert(!last.check!({ text }), text);
      }
    }
  }
  assert(corrections > 10);
});
