// parseJsonBytes() beside JSON.parse, on texts that are JSON and on texts that nearly are.

import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  JsonBoundsError,
  JsonSyntaxError,
  parseJsonBytes,
  withDoubles,
} from "../../../tokenizer/mod.ts";

const WIDE = { depth: 512, values: 1e9, members: 1e9, siblings: 1e9 };
const encoder = new TextEncoder();

function parse(text: string | Uint8Array, bounds = WIDE): unknown {
  const parser = parseJsonBytes(typeof text === "string" ? encoder.encode(text) : text, bounds);
  for (;;) {
    const { done, value } = parser.next();
    if (done) return value;
  }
}

/** What JSON.parse makes of it, and whether parse does the same, apart from the text of numbers. */
function assertSame(text: string): void {
  let expected: unknown;
  let isJson = true;
  try {
    expected = JSON.parse(text);
  } catch {
    isJson = false;
  }
  if (isJson) assertEquals(withDoubles(parse(text)), expected);
  else assertThrows(() => parse(text), JsonSyntaxError);
}

const TEXTS = [
  ...["null", "true", "false", "0", "-0", "1.5e-3", "1E400", "-1e+999", '""', "[]", "{}"],
  ...["-1", "00", "-01", "123456789012345", "-1234567890123456", "9007199254740993", "1.0", "12e"],
  ...[
    " [ 1 , 2 ] ",
    '\t{ "a" :\r\n1 }',
    '{"a":{"b":[{}]}}',
    '{"a":1,"a":2}',
    '{"2":0,"1":0,"x":0}',
  ],
  ...['{"__proto__":{"x":1}}', '{"constructor":1,"toString":2}', '{"":0}'],
  ...['"\\u00e9\\n\\"\\\\\\/\\b\\f\\r\\t"', '"\\ud83d\\ude00"', '"\\ud83d"', '"é中😀"', '"\u2028"'],
  ...["", " ", "nul", "nulll", "truE", "01", "-", "1.", ".5", "+1", "1e", "1e+", "0x1", "NaN"],
  ...[
    "Infinity",
    "-Infinity",
    "[1,]",
    "[,1]",
    "[1 2]",
    "[",
    "]",
    "[}",
    "{]",
    "{",
    '{"a"}',
    "{a:1}",
  ],
  ...[
    '{"a":1,}',
    '{"a" 1}',
    '{"a":}',
    "{,}",
    '"',
    '"\\',
    '"\\u12"',
    '"\\x41"',
    '"\\u12g4"',
    '"\n"',
  ],
  ...['"\t"', "'a'", "1 2", "[] []", "nullnull", "\u00a0[]", "\ufeff1", '"a" b', "//a\n1", "[1]x"],
];

Deno.test("parseJsonBytes() gives what JSON.parse gives, and refuses what it refuses", () => {
  for (const text of TEXTS) {
    // JSON.parse reads characters, among which no byte order mark is left.
    if (text === "\ufeff1") assertEquals(parse(text), 1);
    else assertSame(text);
  }
});

Deno.test("parseJsonBytes() agrees with JSON.parse on 5,000 mutations of texts", () => {
  let seed = 1;
  const random = (below: number) => {
    seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
    return (seed >>> 8) % below;
  };
  const pieces = [...TEXTS, ...'[]{},:"\\ 0123456789eE+-.tfnu/é'];
  for (let count = 0; count < 5000; count++) {
    let text = TEXTS[random(TEXTS.length)]!;
    for (let change = random(4); change >= 0; change--) {
      const at = random(text.length + 1);
      text = text.slice(0, at) + pieces[random(pieces.length)] + text.slice(at + random(3));
    }
    if (text.isWellFormed() && !text.startsWith("\ufeff")) assertSame(text);
  }
});

Deno.test("parseJsonBytes() reads strings, space and keys that are longer than a piece, wherever they are cut", () => {
  const parts = ["a", "é", "中", "😀", "\n", '"', "\\", "\u0001", "\ud800"];
  for (const part of parts) {
    for (let offset = 0; offset < 8; offset++) {
      const text = "x".repeat(offset) + part.repeat(50_000 / part.length);
      assertEquals(parse(JSON.stringify(text)), text);
      const escaped = "x".repeat(offset) + "\\u4e2d".repeat(9000);
      assertEquals(parse(`{"${escaped}":1}`), JSON.parse(`{"${escaped}":1}`));
    }
  }
  assertEquals(parse(" ".repeat(100_000) + "[1" + "\n".repeat(100_000) + ",2]"), [1, 2]);
  assertThrows(() => parse('"' + "x".repeat(100_000)), JsonSyntaxError, "has no end");
});

Deno.test("parseJsonBytes() refuses bytes that are not UTF-8", () => {
  for (
    const bytes of [[0xff], [0xc3], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80]]
  ) {
    assertThrows(() => parse(Uint8Array.of(0x22, ...bytes, 0x22)), JsonSyntaxError, "UTF-8");
    assertThrows(() => parse(Uint8Array.from(bytes)), JsonSyntaxError);
    const many = Uint8Array.from(
      { length: 50_000 },
      (_, index) => index === 0 ? 0x22 : bytes.at(-1)!,
    );
    assertThrows(() => parse(many), JsonSyntaxError, "UTF-8");
  }
});

Deno.test("parseJsonBytes() stops at its bounds before they cost", () => {
  const nested = "[".repeat(10_000_000);
  assertThrows(() => parse(nested), JsonBoundsError, "nested over 512 levels");
  assertEquals(parse("[".repeat(512) + "]".repeat(512)) instanceof Array, true);
  const bounds = { depth: 10, values: 100, members: 50, siblings: 3 };
  assertThrows(() => parse(`[${"1,".repeat(1e6)}`, bounds), JsonBoundsError, "over 100 values");
  const objects = `[${"{},".repeat(1e6)}`;
  assertThrows(() => parse(objects, bounds), JsonBoundsError, "over 50 arrays");
  const siblings = `[{"a":1,"b":2,"c":3},{"d":{},"e":{},"f":6,"g":7}]`;
  assertThrows(() => parse(siblings, bounds), JsonBoundsError, "over 3 members of one object");
  assertEquals(Object.keys(parse(siblings.replace(',"g":7', ""), bounds) as object).length, 2);
  assertThrows(() => parse(`[${"1".repeat(1e6)}]`), JsonSyntaxError, "is no number");
});

Deno.test("parseJsonBytes() pauses often, whatever the text is made of", () => {
  const texts = [
    `"${"x".repeat(1e6)}"`,
    `"${"\\n".repeat(5e5)}"`,
    `[${"[],".repeat(3e5)}[]]`,
    `[${"1,".repeat(5e5)}1]`,
    " ".repeat(1e6) + "1",
    `{${Array.from({ length: 1e5 }, (_, index) => `"key${index}":1`).join()}}`,
  ];
  for (const text of texts) {
    let pauses = 0;
    for (const parser = parseJsonBytes(encoder.encode(text), WIDE); !parser.next().done;) pauses++;
    assert(pauses > 20, `${pauses} pauses in ${text.slice(0, 10)}`);
  }
});
