// Which tokens a piece of an answer is made of, with marks around it that are in no piece.

import { TokenQueue } from "../../../engine/generate/logprobs.ts";
import { assertEquals } from "@std/assert";

/** A queue to which a text came a token at a time. */
function queueOf(...tokens: string[]): TokenQueue {
  const queue = new TokenQueue();
  for (const token of tokens) queue.add(token, [{ token, bytes: [], logprob: 0, top: [] }]);
  return queue;
}

function take(queue: TokenQueue, piece: string): string[] {
  return queue.take(piece).map(({ token }) => token);
}

Deno.test("pieces have the tokens that they are made of, each once", () => {
  const queue = queueOf("Hel", "lo ", "wor", "ld");
  assertEquals(take(queue, "Hello w"), ["Hel", "lo ", "wor"]);
  assertEquals(take(queue, "orld"), ["ld"]);
  assertEquals(take(queue, "more"), []);
});

Deno.test("marks and white space around them are in no piece", () => {
  const queue = queueOf("<think>", "\n", "t", "</think>", "\n\n", "t", "!");
  queue.skip("<think>");
  assertEquals(take(queue, "t"), ["t"]);
  queue.skip("</think>");
  assertEquals(take(queue, "t"), ["t"]);
  assertEquals(take(queue, "!"), ["!"]);
});

Deno.test("what was held back keeps its tokens, and what is cleared loses them", () => {
  const queue = queueOf("a", "<", "b");
  assertEquals(take(queue, "a"), ["a"]);
  assertEquals(take(queue, "<b"), ["<", "b"]);
  const call = queueOf("<call>", "x", "</call>");
  call.clear();
  assertEquals(take(call, "x"), []);
});

Deno.test("a piece that did not come as it is has all tokens that wait", () => {
  const queue = queueOf(" ", "<text>", "a");
  assertEquals(take(queue, " a"), [" ", "<text>", "a"]);
});
