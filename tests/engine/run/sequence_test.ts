// A sequence changes by its methods alone: nothing that is read changes anything, and its memory is
// there to be read.

import { DraftLength } from "../../../engine/run/draft_length.ts";
import { NO_MEMORY, Sequence } from "../../../engine/run/sequence.ts";
import { promptOf } from "./scheduler_runs.ts";
import { assertEquals, assertThrows } from "@std/assert";

function sequenceOf(prompt: readonly number[]): Sequence {
  const sampling = {} as Sequence["request"]["sampling"];
  return new Sequence({ prompt, sampling, maxTokens: 9, accept: () => true, end: () => {} });
}

/** What the getters of an object give. */
function read(object: object): Record<string, unknown> {
  const members = Object.getOwnPropertyDescriptors(Object.getPrototypeOf(object));
  const getters = Object.keys(members).filter((name) => members[name]!.get);
  return Object.fromEntries(getters.map((name) => [name, Reflect.get(object, name)]));
}

Deno.test("reading a sequence changes nothing of it", () => {
  const text = promptOf(30);
  const sequence = sequenceOf([...text, ...text.slice(0, 5)]);
  sequence.feedFrom(sequence.tokens.length);
  sequence.decode();
  sequence.beginSubmit();
  sequence.drafts.admit(new DraftLength(() => 0, 4));
  const first = [read(sequence), read(sequence.drafts)];
  assertEquals(Object.keys(first[0]!).length, 16);
  assertEquals([read(sequence), read(sequence.drafts)], first);
});

Deno.test("looking for the next draft does not change what the last one teaches", () => {
  const text = promptOf(30);
  const { drafts, tokens } = sequenceOf([...text, ...text.slice(0, 5)]);
  const length = new DraftLength(() => 0, 4);
  const learned: number[] = [];
  length.learn = (after) => void learned.push(after);
  drafts.admit(length);
  const more = [...tokens, 7, 8, 9]; // occurs nowhere, so that only the drafter has a draft
  drafts.propose(more.length, [1, 2]);
  assertEquals(drafts.next(tokens, 3), text.slice(5, 8));
  assertEquals(drafts.isExpected(more), true);
  drafts.learn(tokens, 3, 3, 0.5);
  assertEquals(learned, [], "the draft was from the sequence's own text");
  assertEquals(drafts.next(more, 3), [1, 2]);
  assertEquals(drafts.isExpected(tokens), true);
  drafts.learn(more, 2, 2, 0.5);
  assertEquals(learned, [more.length]);
});

Deno.test("only its own methods change a sequence, and only its pool what it holds", () => {
  const sequence = sequenceOf([1, 2, 3]);
  const before = [read(sequence), read(sequence.drafts)];
  // Each of them is an error of types, too.
  // @ts-expect-error What was submitted is counted by advance().
  assertThrows(() => sequence.submitted = 3, TypeError);
  // @ts-expect-error A step that samples calls decode().
  assertThrows(() => sequence.decoding = true, TypeError);
  // @ts-expect-error A pool calls hold().
  assertThrows(() => sequence.memory = { ...NO_MEMORY, slot: 1 }, TypeError);
  // @ts-expect-error Drafts are counted by count().
  assertThrows(() => sequence.drafts.drafted = 3, TypeError);
  assertEquals([read(sequence), read(sequence.drafts)], before);
  // @ts-expect-error What a sequence holds is its pool's.
  const move = ({ memory }: Sequence) => memory.slot = 1;
  // @ts-expect-error Tokens are appended by append().
  const push = ({ tokens }: Sequence) => tokens.push(1);
  assertEquals([move, push].length, 2);
});
