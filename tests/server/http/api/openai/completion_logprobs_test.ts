// Log-probabilities of /v1/completions where tokens are parts of characters.

import { deepStrictEqual as assertEquals } from "node:assert";
import { toCompletionLogprobs } from "../../../../../server/http/api/openai/completion/events.ts";

const part = (bytes: number[], logprob: number) => ({ token: "\uFFFD", bytes, logprob });
const word = (token: string, logprob: number) => ({
  token,
  bytes: [...new TextEncoder().encode(token)],
  logprob,
});

Deno.test("parts of characters are told apart by their bytes, and offsets never go back", () => {
  const others = [part([0xe2], -1), part([0xf0], -2), part([0xc3], -3), word("a", -4)];
  const { tokens, top_logprobs, text_offset } = toCompletionLogprobs([
    { ...word("é", -0.1), top: others },
    { ...part([0xe2], -1), top: others },
    { ...part([0x82, 0xac], -2), top: others },
    { ...word("b", -3), top: others },
  ], 7);
  assertEquals(tokens, ["é", "bytes:\\xe2", "bytes:\\x82\\xac", "b"]);
  assertEquals(text_offset, [7, 8, 8, 9]);
  assertEquals(top_logprobs.map((entries) => Object.keys(entries!).length), [5, 4, 5, 5]);
});
