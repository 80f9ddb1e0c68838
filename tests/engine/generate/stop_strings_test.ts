// Stop strings in text that comes in pieces: against a search of the whole text, and in numbers that
// only a hostile client sends.

import { StopStrings } from "../../../engine/generate/stop_strings.ts";
import { assert, assertEquals } from "@std/assert";
import { threadTime } from "../../cpu_time.ts";

/** Pushes pieces until a stop string comes; what was given out, and what stopped it. */
function run(stops: readonly string[], pieces: readonly string[], isKept = false) {
  const strings = new StopStrings(stops, isKept);
  let given = "";
  for (const piece of pieces) {
    const { text, stop } = strings.push(piece);
    given += text;
    if (stop !== undefined) return { text: given, stop };
  }
  return { text: given + strings.flush() };
}

/** What stop strings mean by definition: the first prefix of the text that ends with a stop string. */
function reference(stops: readonly string[], text: string) {
  for (let end = 1; end <= text.length; end++) {
    const ending = stops.filter((stop) => stop !== "" && text.slice(0, end).endsWith(stop))
      .sort((a, b) => b.length - a.length);
    if (ending.length > 0) return { text: text.slice(0, end - ending[0].length), stop: ending[0] };
  }
  return { text };
}

Deno.test("StopStrings finds the first string to be whole, however the text is cut", () => {
  let state = 7;
  const random = (below: number) => (state = Math.imul(state, 1103515245) + 12345 >>> 0) % below;
  const word = (most: number) =>
    Array.from({ length: random(most) }, () => "ab "[random(3)]).join("");
  for (let round = 0; round < 3000; round++) {
    const stops = Array.from({ length: random(5) }, () => word(6));
    const pieces = Array.from({ length: 1 + random(8) }, () => word(5));
    const expected = reference(stops, pieces.join(""));
    assertEquals(run(stops, pieces), expected, `${stops} | ${pieces}`);
    const whole = { ...expected, text: expected.text + (expected.stop ?? "") };
    assertEquals(run(stops, pieces, true), whole, `${stops} | ${pieces}, kept`);
  }
});

Deno.test("StopStrings gives out at once what can be no part of a stop string", () => {
  const strings = new StopStrings(["\n\nUser:", "END"]);
  assertEquals(strings.push("Hello E"), { text: "Hello " });
  assertEquals(strings.push("N"), { text: "" });
  assertEquals(strings.push("T\n"), { text: "ENT" });
  assertEquals(strings.push("\n\nUse"), { text: "\n" });
  assertEquals(strings.flush(), "\n\nUse");
  assertEquals(strings.push("END"), { text: "", stop: "END" });
});

Deno.test("StopStrings has no use for empty strings, nor for none", () => {
  assertEquals(run([""], ["some ", "text"]), { text: "some text" });
  assertEquals(run(["", "xt"], ["some ", "text"]), { text: "some te", stop: "xt" });
  assertEquals(run([], ["some ", "text"]), { text: "some text" });
});

Deno.test("StopStrings takes time by the length of text and strings, not by their product", () => {
  const cases: [string[], string][] = [
    [Array.from({ length: 300_000 }, (_, i) => `stop ${i}!`), "a stop of 1 stop 12 ".repeat(5000)],
    [Array.from({ length: 3000 }, (_, i) => "a".repeat(i + 1) + "b"), "a".repeat(100_000)],
    [["a".repeat(50_000) + "b"], "a".repeat(100_000)],
    [Array.from({ length: 4000 }, (_, i) => "a".repeat(i + 1) + "bc"), "a".repeat(4000) + "b"],
  ];
  for (const [stops, text] of cases) {
    const strings = new StopStrings(stops);
    const started = threadTime();
    let given = 0;
    for (let at = 0; at < text.length; at += 4) {
      given += strings.push(text.slice(at, at + 4)).text.length;
    }
    assertEquals(given + strings.flush().length, text.length);
    const seconds = (threadTime() - started) / 1000;
    // About 0.2 s; a look at every string for every piece takes minutes.
    assert(seconds < 5, `${stops.length} strings took ${seconds} s`);
  }
});
