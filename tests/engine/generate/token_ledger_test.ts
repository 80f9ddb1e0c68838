// Which tokens a piece of an answer is made of, with marks around it that are in no piece.

import { TokenLedger } from "../../../engine/generate/token_ledger.ts";
import { assertEquals } from "@std/assert";

/** A ledger to which a text came a token at a time. */
function ledgerOf(...tokens: string[]): TokenLedger {
  const ledger = new TokenLedger();
  for (const token of tokens) ledger.add(token, [{ token, bytes: [], logprob: 0, top: [] }]);
  return ledger;
}

function take(ledger: TokenLedger, piece: string): string[] {
  return ledger.take(piece).map(({ token }) => token);
}

Deno.test("pieces have the tokens that they are made of, each once", () => {
  const ledger = ledgerOf("Hel", "lo ", "wor", "ld");
  assertEquals(take(ledger, "Hello w"), ["Hel", "lo ", "wor"]);
  assertEquals(take(ledger, "orld"), ["ld"]);
  assertEquals(take(ledger, "more"), []);
});

Deno.test("marks and white space around them are in no piece", () => {
  const ledger = ledgerOf("<think>", "\n", "t", "</think>", "\n\n", "t", "!");
  ledger.skip("<think>");
  assertEquals(take(ledger, "t"), ["t"]);
  ledger.skip("</think>");
  assertEquals(take(ledger, "t"), ["t"]);
  assertEquals(take(ledger, "!"), ["!"]);
});

Deno.test("what was held back keeps its tokens, and what is cleared loses them", () => {
  const ledger = ledgerOf("a", "<", "b");
  assertEquals(take(ledger, "a"), ["a"]);
  assertEquals(take(ledger, "<b"), ["<", "b"]);
  const call = ledgerOf("<call>", "x", "</call>");
  call.clear();
  assertEquals(take(call, "x"), []);
});

Deno.test("a piece that did not come as it is has all tokens that wait", () => {
  const ledger = ledgerOf(" ", "<text>", "a");
  assertEquals(take(ledger, " a"), [" ", "<text>", "a"]);
});
