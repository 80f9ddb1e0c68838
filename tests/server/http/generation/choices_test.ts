// mergeChoices(): order, sums, and that nothing runs on when one of several fails.

import { assertEquals, assertRejects } from "@std/assert";
import type { ChatEvent } from "../../../../engine/types/mod.ts";
import { mergeChoices } from "../../../../server/http/generation/choices.ts";
import { unheardDuring } from "../../../unheard.ts";
import { failsAfter, fakeUsage, says } from "../../fake_model.ts";

const request = { prompt: "" };

/** A source that goes on until it is ended, and counts those that were. */
function endless(ended: { count: number }): () => AsyncIterable<ChatEvent> {
  return () => ({
    [Symbol.asyncIterator]: () => ({
      next: () => Promise.resolve({ done: false, value: { type: "text", text: "x" } as ChatEvent }),
      return: () => Promise.resolve({ done: true, value: ended.count++ }),
    }),
  });
}

Deno.test("mergeChoices() takes turns, and the last end has the counts of all", async () => {
  const events = [];
  const starts = [says("a", "b"), says("c", "d")].map((script) => () => script(request));
  for await (const event of mergeChoices(starts)) events.push(event);
  const texts = events.flatMap((event) => event.type === "text" ? [event.text] : []);
  assertEquals(texts, ["a", "c", "b", "d"]);
  const ends = events.filter((event) => event.type === "done");
  assertEquals(ends.map(({ choice, usage }) => [choice, usage.completionTokens]), [[0, 3], [1, 6]]);
  assertEquals(ends[1]!.usage, {
    ...fakeUsage,
    promptTokens: 22,
    cachedTokens: 8,
    completionTokens: 6,
  });
});

Deno.test("mergeChoices() ends all where one cannot begin, at once or later", async () => {
  const failing: (() => AsyncIterable<ChatEvent>)[] = [
    () => {
      throw new Error("at once");
    },
    () => failsAfter([], new Error("later"))(request),
  ];
  for (const fail of failing) {
    const ended = { count: 0 };
    const merged = mergeChoices([endless(ended), fail, endless(ended)]);
    const error = await assertRejects(() => merged.next());
    assertEquals(ended.count, error.message === "at once" ? 1 : 2);
  }
});

Deno.test("mergeChoices() ends all where its reader leaves", async () => {
  const ended = { count: 0 };
  for await (const _ of mergeChoices([endless(ended), endless(ended)])) break;
  assertEquals(ended.count, 2);
});

Deno.test("mergeChoices() tells a failure when its reader asks, however late that is", async () => {
  const source = () => failsAfter(["x"], new Error("lost"))(request);
  const merged = mergeChoices([source, source]);
  const unheard = await unheardDuring(() => merged.next().then(() => merged.next()));
  assertEquals(unheard, []);
  await assertRejects(() => merged.next(), Error, "lost");
});
