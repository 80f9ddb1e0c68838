// What a mask may cost, and that who no longer wants one is heard: hostile patterns under the limits of
// processor time and of pauses between two looks at the flag that calls the work off.

import { assert, assertEquals, assertThrows } from "@std/assert";
import { CancelFlag, cancellable, CancelledError } from "../../../engine/cancellation.ts";
import { compileSchema } from "../../../engine/grammar/mod.ts";
import { smallTokenizer } from "./small_tokenizer.ts";
import { threadTime } from "../../cpu_time.ts";

const list = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));
const text = (pattern: string, more: object = {}) => ({ type: "string", pattern, ...more });

/** Thousands of tokens over a few letters, so that patterns lead to thousands of states. */
const LETTERS = ["a", "b", "c", "x", " ", "é"];
const PIECES = [
  ...new Set(list(6000, (index) => list(2 + index % 9, (at) => letter(index, at)).join(""))),
];
const tokenizer = smallTokenizer(PIECES, []);

function letter(index: number, at: number): string {
  return LETTERS[(Math.imul(index + 7, 2654435761) >>> (3 * at + 1)) % LETTERS.length]!;
}

const PATTERNS: readonly string[] = [
  "^.*a.{20}$",
  "^.*a.{300}$",
  "^(a|b)*a(a|b){15}$",
  "^([a-m]*b|x.y)*a[a-z ]{20}$",
  "((?<=a.{10})b|c(?<!a.{12}))*$",
  "^((a{1,30}b?){1,30}c?){1,30}$",
  `^${list(12, (index) => `(?=.*a.{${index + 1}}b)`).join("")}.*$`,
];

/** Tells how long work goes on without a look at it, and may be set after so many looks. */
class Watch extends CancelFlag {
  looks = 0;
  constructor(readonly most = Infinity) {
    super();
  }
  override throwIfAborted(): void {
    if (++this.looks > this.most) this.set();
    super.throwIfAborted();
  }
}

for (const pattern of PATTERNS) {
  Deno.test(`no mask of ${pattern.slice(0, 40)} is empty or takes long`, () => {
    const matcher = compileSchema(text(pattern), tokenizer).matcher();
    assert(matcher.accept(tokenizer.encode('"')[0]!));
    for (let count = 0; count < 12 && !matcher.isEnded; count++) {
      const began = threadTime();
      const mask = matcher.mask();
      // 50 ms on an idle machine.
      assert(threadTime() - began < 400, `${threadTime() - began} ms`);
      const tokens = list(32 * mask.length, (token) => token)
        .filter((token) => mask[token >> 5]! >>> (token & 31) & 1);
      assert(tokens.length > 0);
      assert(matcher.accept(tokens[Math.imul(count + 1, 40_503) % tokens.length]!));
    }
  });
}

Deno.test("a dot's patterns allow all tokens but those with line separators", () => {
  const tokens = ["a\u2028", "\u2028", "a\u2027b", "日\u2029", "b日"];
  const dotted = smallTokenizer(tokens, []);
  for (const [pattern, allowed] of [["^.*a.{20}$", false], ["^[^]*a[^]{20}$", true]] as const) {
    const matcher = compileSchema(text(pattern), dotted).matcher();
    assert(matcher.accept(dotted.encode('"')[0]!));
    const mask = matcher.mask();
    for (const piece of tokens) {
      const [token] = dotted.encode(piece);
      const isAllowed = (mask[token! >> 5]! >>> (token! & 31) & 1) === 1;
      assertEquals(isAllowed, allowed || !/[\u2028\u2029]/.test(piece), piece);
    }
  }
});

const LONG: readonly (readonly [name: string, schema: unknown])[] = [
  ["many properties", {
    type: "object",
    properties: Object.fromEntries(list(3000, (index) => [`key${index}`, { type: "string" }])),
  }],
  ["many constants", { enum: list(5000, (index) => `value ${index}`) }],
  ["many numbers", { enum: list(5000, (index) => 1.5 * index) }],
  ["a chain of objects", {
    $ref: "#/$defs/d0",
    $defs: Object.fromEntries(list(1000, (index) => [
      `d${index}`,
      index === 999 ? { type: "null" } : {
        type: "object",
        properties: { a: { $ref: `#/$defs/d${index + 1}` } },
        required: ["a"],
      },
    ])),
  }],
  ["look-aheads", text(PATTERNS.at(-1)!)],
];

for (const [name, schema] of LONG) {
  Deno.test(`compileSchema() and masks of ${name} end when they are called off`, () => {
    const make = () => {
      const matcher = compileSchema(JSON.stringify(schema), tokenizer).matcher();
      assert(matcher.mask().length > 0);
    };
    const measure = () => {
      const watch = new Watch();
      const began = threadTime();
      cancellable([watch], make);
      return { watch, took: threadTime() - began };
    };
    // On average a look each two milliseconds at the least. A collection of garbage may hold up one run.
    const looksEnough = ({ watch, took }: ReturnType<typeof measure>) => watch.looks > took / 2;
    let run = measure();
    for (let again = 0; again < 2 && !looksEnough(run); again++) run = measure();
    const { watch, took } = run;
    assert(looksEnough(run), `${watch.looks} looks in ${took} ms`);
    for (const share of [0.3, 0.7]) {
      const flag = new Watch(Math.floor(share * watch.looks));
      assertThrows(() => cancellable([flag], make), CancelledError);
    }
  });
}

Deno.test("a mask that was called off is made by whoever asks next", () => {
  const schema = text("^([a-m]*b|x.y)*a[a-z ]{20}$");
  const whole = compileSchema(schema, tokenizer).matcher();
  const begun = compileSchema(schema, tokenizer);
  const quote = tokenizer.encode('"')[0]!;
  assert(whole.accept(quote));
  for (let most = 1; most < 60; most += 7) {
    const matcher = begun.matcher();
    assert(matcher.accept(quote));
    try {
      cancellable([new Watch(most)], () => matcher.mask());
    } catch (error) {
      assert(error instanceof CancelledError);
    }
  }
  const matcher = begun.matcher();
  assert(matcher.accept(quote));
  assertEquals(matcher.mask(), whole.mask());
});

Deno.test("to look ahead takes no more work than a mask", () => {
  const nested = list(30, () => 0).reduce((inner) => `(?:${inner}){1,9}`, "a");
  const matcher = compileSchema(text(`^${nested}$`), tokenizer).matcher();
  const [quote, letter] = tokenizer.encode('"a');
  assert(matcher.accept(quote!));
  const began = threadTime();
  for (let count = 0; count < 3; count++) {
    matcher.mask();
    assert(matcher.accept(letter!));
    matcher.forced();
  }
  const ahead = matcher.fork();
  for (let count = 0; count < 6 && ahead.accept(letter!); count++);
  assert(threadTime() - began < 2000, `${threadTime() - began} ms`);
});

Deno.test("a mask of a text that has to be long serves wherever the text goes on so", () => {
  // Two characters lead back, so that no single one does: only a search tells that it can get long.
  const compiled = compileSchema(
    text("^(?:[abc]{2}x?)*$", { minLength: 300 }),
    tokenizer,
  );
  const matcher = compiled.matcher();
  assert(matcher.accept(tokenizer.encode('"')[0]!));
  const stepsOf = (count: number) => {
    for (let index = 0; index < count; index++) {
      assert(matcher.accept(tokenizer.encode("a")[0]!));
    }
    const before = compiled.steps;
    assert(matcher.mask().some((word) => word !== 0));
    return compiled.steps - before;
  };
  assert(stepsOf(4) > 100);
  for (let count = 0; count < 10; count++) assert(stepsOf(4) < 10);
});

Deno.test("a pattern that takes some line separators takes all other text without a walk", () => {
  const separated = [
    "\u2028",
    "\u2029a",
    "a\u2028b",
    "\u2028\u2028",
    "é\u2029é\u2028",
    'b\u2028"',
    "aé",
  ];
  const vocabulary = smallTokenizer([...PIECES, ...separated], []);
  for (const pattern of ["^.*[^c].{20}$", "^[^c].*[^a].{3}$"]) {
    for (const more of [{}, { minLength: 9, maxLength: 400 }]) {
      const compiled = compileSchema(text(pattern, more), vocabulary);
      for (const written of ['"', '"a\u2028', '"ab\u2028\u2029', '"aaaaaaaaaaaaaaaaaaaaaaaab']) {
        const open = () => {
          const matcher = compiled.matcher();
          return vocabulary.encode(written).every((token) => matcher.accept(token))
            ? matcher
            : undefined;
        };
        const matcher = open();
        if (!matcher) continue;
        const before = compiled.steps;
        const mask = matcher.mask();
        // After a separator the number of characters that may follow is limited, so tokens are walked.
        const isOpen = !written.includes("\u2028");
        if (isOpen) assert(compiled.steps - before < 6000, `${compiled.steps - before} steps`);
        const isAllowed = (token: number) => (mask[token >> 5]! >>> (token & 31) & 1) === 1;
        const tried = [...separated, "a", "abc", '"', "\\"].map((piece) =>
          vocabulary.encode(piece)
        );
        for (const [token, another] of tried) {
          if (another !== undefined) continue;
          assertEquals(isAllowed(token!), open()!.accept(token!), vocabulary.piece(token!));
        }
      }
    }
  }
});

Deno.test("a union of 800 constants is walked once for each, and only where its bytes lead", () => {
  const compiled = compileSchema({
    oneOf: list(800, (index) => ({
      type: "object",
      properties: { kind: { const: `k${index}` }, [`p${index}`]: { type: "string" } },
      required: ["kind"],
      additionalProperties: false,
    })),
  }, tokenizer);
  const matcher = compiled.matcher();
  for (const token of tokenizer.encode('{"kind":"')) assert(matcher.accept(token));
  const before = compiled.steps;
  const mask = matcher.mask();
  const tokens = list(32 * mask.length, (token) => token)
    .filter((token) => mask[token >> 5]! >>> (token & 31) & 1);
  assertEquals(tokens, tokenizer.encode("k"));
  // With a mask of its own for each constant, twice as many.
  assert(compiled.steps - before < 22_000, `${compiled.steps - before} steps`);
});

Deno.test("what a compiler does to combine clauses counts as work", () => {
  const compiled = compileSchema({
    type: "object",
    allOf: list(200, (index) => ({
      not: { required: [`a${index}`, `b${index}`, `c${index}`] },
    })),
  }, tokenizer);
  // Each of 200 combinations looks at all clauses and keys so far.
  assert(compiled.steps > 100_000, `${compiled.steps} steps`);
});

Deno.test("the first mask with a limit reads no vocabulary", () => {
  let reads = 0;
  const tokenBytes = (token: number) => {
    reads++;
    return tokenizer.tokenBytes(token);
  };
  const counting = { ...tokenizer, tokenBytes };
  compileSchema({}, counting); // sorts the vocabulary
  const matcher = compileSchema(text("^[a-z ]*$", { minLength: 200 }), counting).matcher();
  assert(matcher.accept(tokenizer.encode('"')[0]!));
  reads = 0;
  matcher.mask({ remaining: 100 });
  assert(
    reads < tokenizer.vocabularySize,
    `it read ${reads} of ${tokenizer.vocabularySize} tokens`,
  );
});
