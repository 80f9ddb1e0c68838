// Bytes of a terminal to keys, whole and cut in two.

import { assertEquals } from "@std/assert";
import { type Key, KeyDecoder } from "../../../../server/cli/repl/keys.ts";

function decode(...reads: string[]): string[] {
  const decoder = new KeyDecoder();
  const encoder = new TextEncoder();
  return reads.flatMap((read) => decoder.push(encoder.encode(read))).map(show);
}

function show({ name, text }: Key): string {
  return text === "" ? name : `${name}:${text}`;
}

const CASES: [input: string, keys: string[]][] = [
  ["hello wörld 日本 😀", ["text:hello wörld 日本 😀"]],
  ["a\rb\nc", ["text:a", "enter", "text:b", "enter", "text:c"]],
  ["\x01\x05\x1a\x7f\b\t", ["ctrl+a", "ctrl+e", "ctrl+z", "backspace", "backspace", "tab"]],
  ["\x1b[A\x1b[B\x1b[C\x1b[D", ["up", "down", "right", "left"]],
  ["\x1bOA\x1bOH\x1bOF", ["up", "home", "end"]],
  ["\x1b[H\x1b[F\x1b[1~\x1b[4~\x1b[7~\x1b[8~", ["home", "end", "home", "end", "home", "end"]],
  ["\x1b[3~", ["delete"]],
  ["\x1b[1;5D\x1b[1;3C\x1b[1;2A", ["ctrl+left", "alt+right", "up"]],
  ["\x1bb\x1bf\x1b\x7f\x1b\r", ["alt+b", "alt+f", "alt+backspace", "alt+enter"]],
  ["\x1b\x1b[A", ["escape", "up"]],
  ["\x1b[?1;2cx\x1b[19~", ["unknown", "text:x", "unknown"]],
  ["\x1b[200~one\r\ntwo\x1b[A\x1b[201~x", ["paste:one\r\ntwo\x1b[A", "text:x"]],
];

Deno.test("KeyDecoder names the keys of a terminal", () => {
  for (const [input, keys] of CASES) assertEquals(decode(input), keys, JSON.stringify(input));
});

Deno.test("KeyDecoder gives the same keys wherever a read ends", () => {
  const join = (keys: string[]) => keys.join(" ").replace(/ text:/g, "");
  for (const [input, keys] of CASES) {
    for (let cut = 1; cut < input.length; cut++) {
      // What looks like a whole escape may not be split by a person's hand, only by the line.
      const halves = [input.slice(0, cut), input.slice(cut)];
      if (/[\ud800-\udbff]$/.test(halves[0]!)) continue;
      assertEquals(join(decode(...halves)), join(keys), `${JSON.stringify(input)} at ${cut}`);
    }
  }
});

Deno.test("KeyDecoder waits for all bytes of a character", () => {
  const decoder = new KeyDecoder();
  const bytes = new TextEncoder().encode("😀");
  assertEquals(decoder.push(bytes.subarray(0, 2)), []);
  assertEquals(decoder.push(bytes.subarray(2)), [{ name: "text", text: "😀" }]);
});
