// `quern embed` against a server that gives back the length of each text.

import { assertEquals, assertStringIncludes } from "@std/assert";
import { FakeTerminal } from "../fake_terminal.ts";
import { type Route, runCommand } from "./fake_api.ts";

const ROUTES: Record<string, Route> = {
  "POST /api/embed": ({ body }) => {
    const { input } = body as { input: string[] };
    return Response.json({ embeddings: input.map((text) => [text.length, 0.5]) });
  },
};

Deno.test("embed prints an array per text, in order", async () => {
  const args = ["embed", "e5", "one", "three", "--dimensions", "2", "--truncate=false"];
  const { code, terminal, asked } = await runCommand(args, ROUTES);
  assertEquals([code, terminal.output], [0, "[3,0.5]\n[5,0.5]\n"]);
  assertEquals(asked[0]!.body, {
    model: "e5",
    input: ["one", "three"],
    dimensions: 2,
    truncate: false,
  });
});

Deno.test("embed --array prints one array, and a bare --truncate takes no text for its value", async () => {
  const args = ["embed", "--truncate", "e5", "one", "--array", "--keepalive", "1m"];
  const { terminal, asked } = await runCommand(args, ROUTES);
  assertEquals(terminal.output, "[[3,0.5]]\n");
  assertEquals(asked[0]!.body, {
    model: "e5",
    input: ["one"],
    truncate: true,
    keep_alive: "1m",
  });
});

Deno.test("embed reads the lines of standard input, many of them in several requests", async () => {
  const lines = Array.from({ length: 150 }, (_, index) => "x".repeat(index + 1));
  const terminal = new FakeTerminal([lines.join("\r\n") + "\n\n"]);
  const { code, asked } = await runCommand(["embed", "e5"], ROUTES, { terminal });
  const vectors = terminal.output.trimEnd().split("\n").map((line) => JSON.parse(line));
  assertEquals([code, asked.length], [0, 3]);
  assertEquals(vectors.map(([length]) => length), lines.map(({ length }) => length));
});

Deno.test("embed without any text says where it looks for some", async () => {
  const { code, terminal, asked } = await runCommand(["embed", "e5"], ROUTES);
  assertEquals([code, asked.length], [1, 0]);
  assertStringIncludes(terminal.errors, "give one as an argument, or lines on standard input");
});
