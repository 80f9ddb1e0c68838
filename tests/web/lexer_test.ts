// Markdown that grows is read as Markdown that is there at once, and no text of it becomes HTML.

import { assertEquals } from "@std/assert";
import { GrowingText, lex } from "../../web/markdown/lexer.ts";

const SOURCE = [
  "# Head\n\nSome *text* with $x^2$ and a price of $5.\n\n",
  "- one\n- two\n\n  more of two\n- three\n\n",
  "```ts\nconst a = 1;\n\nconst b = 2;\n```\n\n",
  "| a | b |\n|---|---|\n| 1 | 2 |\n\n> quoted\nlazily\n\n",
  "$$\\frac{1}{2}$$\n\n1. first\n2. second\n\nThe end <b>of it</b>.\n",
].join("");

/** What blocks are, without what only tells them apart. */
function shapeOf(tokens: ReturnType<typeof lex>): string[] {
  return tokens.filter(({ type }) => type !== "space").map(({ type, raw }) =>
    `${type} ${raw.trim()}`
  );
}

Deno.test("a text that grows has the blocks of the whole text at every length", () => {
  const growing = new GrowingText();
  for (let length = 1; length <= SOURCE.length; length++) {
    const beginning = SOURCE.slice(0, length);
    assertEquals(shapeOf(growing.lex(beginning)), shapeOf(lex(beginning)), `${length}`);
  }
  assertEquals(shapeOf(growing.end(SOURCE)), shapeOf(lex(SOURCE)));
  const late = `[a link][1] and more\n\n${SOURCE}\n> [1]: https://example.com\n`;
  for (let length = 100; length <= late.length; length += 100) growing.lex(late.slice(0, length));
  assertEquals(growing.end(late), lex(late), "a link that is defined late");
  // Another text begins anew.
  assertEquals(shapeOf(growing.lex("other")), shapeOf(lex("other")));
});

Deno.test("maths is found between its signs, and prices are none", () => {
  const kinds = (source: string) =>
    lex(source).flatMap((token) => "tokens" in token ? token.tokens! : [token]).map(({ type }) =>
      type
    );
  assertEquals(kinds("a $x$ b"), ["text", "math", "text"]);
  assertEquals(kinds("\\(x\\)"), ["math"]);
  assertEquals(kinds("from $5 to $7"), ["text"]);
  assertEquals(kinds("$$x$$"), ["math"]);
});
