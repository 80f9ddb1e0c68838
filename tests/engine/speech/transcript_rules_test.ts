// Which token may come next in a transcript, and how a window's tokens become segments.

import { assertEquals } from "@std/assert";
import { divide } from "../../../engine/speech/segments.ts";
import type { SpecialTokens } from "../../../engine/speech/special_tokens.ts";
import { applyRules } from "../../../engine/speech/token_rules.ts";

/** Words 0 to 3, the end, six other special tokens, and times from 11 on. */
const special: SpecialTokens = {
  end: 4,
  start: 5,
  languages: new Map([["en", 6]]),
  transcribe: 7,
  translate: 8,
  previous: 9,
  noSpeech: 9,
  noTimes: 10,
  firstTime: 11,
  suppressed: [5, 6, 7, 8, 9],
  suppressedFirst: [0, 4],
};
const TIMES = 200;
const time = (step: number) => special.firstTime + step;

/** The tokens that may come, of logits that are zero but for some. */
function allowed(tokens: number[], logits: Record<number, number> = { 1: 9 }, hasTimes = true) {
  const all = new Float32Array(special.firstTime + TIMES);
  for (const [token, logit] of Object.entries(logits)) all[Number(token)] = logit;
  applyRules(all, { tokens, special, hasTimes });
  return [...all.keys()].filter((token) => all[token] > -Infinity);
}

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);

Deno.test("without times: no suppressed token, at the first place none that must not begin", () => {
  const times = range(special.firstTime, special.firstTime + TIMES);
  assertEquals(allowed([], {}, false), [1, 2, 3, special.noTimes, ...times]);
  assertEquals(allowed([1], {}, false), [0, 1, 2, 3, special.end, special.noTimes, ...times]);
});

Deno.test("a window begins with a time within its first second", () => {
  assertEquals(allowed([]), range(time(0), time(51)));
});

Deno.test("words follow the time that begins a segment", () => {
  assertEquals(allowed([time(3)]), [0, 1, 2, 3, special.end]);
  assertEquals(allowed([time(0), 1, time(5), time(5)]), [0, 1, 2, 3, special.end]);
});

Deno.test("a time that ends a segment is followed by one that is not earlier, or the end", () => {
  assertEquals(allowed([time(0), 1, time(5)], { 4: 9 }), [
    special.end,
    ...range(time(5), time(TIMES)),
  ]);
});

Deno.test("times never go back, and no segment is empty", () => {
  assertEquals(allowed([time(7), 1]), [0, 1, 2, 3, special.end, ...range(time(8), time(TIMES))]);
});

Deno.test("where all times together are likelier than any word, one of them comes", () => {
  // 190 times of logit 0 weigh as much as one of 5.2.
  assertEquals(allowed([time(9), 1], { 2: 5.1 }), range(time(10), time(TIMES)));
  assertEquals(allowed([time(9), 1], { 2: 5.3 }).includes(2), true);
});

Deno.test("pairs of times divide a window; what follows them is for the next one", () => {
  const tokens = [time(0), 1, 2, time(50), time(60), 3, time(100), time(100), 1];
  assertEquals(divide(tokens, special, 3000), {
    segments: [
      { start: 0, end: 1, tokens: [time(0), 1, 2, time(50)] },
      { start: 1.2, end: 2, tokens: [time(60), 3, time(100)] },
    ],
    advance: 200,
    endsAlone: false,
  });
});

Deno.test("a last time alone ends the last segment, and the window is done", () => {
  const tokens = [time(0), 1, time(50), time(50), 3, time(100)];
  assertEquals(divide(tokens, special, 3000), {
    segments: [
      { start: 0, end: 1, tokens: [time(0), 1, time(50)] },
      { start: 1, end: 2, tokens: [time(50), 3, time(100)] },
    ],
    advance: 3000,
    endsAlone: true,
  });
});

Deno.test("without a pair the window is one segment, up to its last time if it has one", () => {
  const one = (tokens: number[], end: number, endsAlone = false) =>
    assertEquals(divide(tokens, special, 700), {
      segments: [{ start: 0, end, tokens }],
      advance: 700,
      endsAlone,
    });
  one([1, 2], 7);
  one([time(0), 1, 2], 7);
  one([time(0), 1, 2, time(150)], 3, true);
  one([], 7);
});
