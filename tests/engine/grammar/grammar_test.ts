// Grammars as data: JSON documents and control tokens within them, text up to a mark, patterns; and
// masks over a vocabulary of 128,256 tokens, which is not part of the project.

import { assert, assertEquals } from "@std/assert";
import {
  choice,
  compileGrammar,
  compilePattern,
  compileSchema,
  type Grammar,
  json,
  literal,
  repeat,
  sequence,
  textWithout,
} from "../../../engine/grammar/mod.ts";
import type { Matcher } from "../../../engine/grammar/machine/mod.ts";
import { loadTokenizer } from "../../../engine/load/inspect.ts";
import { fateOf, randomNumbers, smallTokenizer, tokensOf, tryTokens } from "./small_tokenizer.ts";
import { share } from "../../share.ts";

const tokenizer = smallTokenizer(
  [
    '{"',
    '":',
    '","',
    "<tool",
    "_call>",
    '"}',
    "}</",
    "call>",
    "</",
    "5<",
    "a\nb",
    '"}}<',
    "xyz",
    '{"a":1,"',
  ],
  ["<think>", "</think>", "<|call|>"],
);

const any: Grammar = { type: "characters", ranges: [], negated: true };

const SCHEMAS: [schema: unknown, documents: string[]][] = [
  [{ type: "integer", minimum: -5 }, ["17", "-5", "-6", "1.5", "0"]],
  [{ enum: ["a", "ab", 1, null] }, ['"a"', '"ab"', "1", "null", '"b"']],
  [{ type: "array", uniqueItems: true, items: { type: ["string", "integer"] } }, [
    '["a", "b", 1]',
    '["a", "b", "a"]',
    "[1, 12, 1]",
    "[]",
    ' [ "a" ] ',
  ]],
  [{ type: "object", required: ["name"], properties: { name: { type: "string" } } }, [
    '{"name": "x"}',
    '{"name": "x", "b": {"name": [{"b": 1, "c": "\\"b\\":"}], "x": 2}, "c": 3}',
    '{"name": "x", "b": 1, "b": 2}',
    '{"name": "x", "b": {"c": 1, "c": 2}}',
    '{ "name" : "x" , "b":1 }  ',
    '{"b": 1}',
  ]],
];

for (const [schema, documents] of SCHEMAS) {
  Deno.test(`json() takes what compileSchema() takes of ${JSON.stringify(schema)}`, () => {
    for (const whitespace of ["none", "single", "free"] as const) {
      const alone = compileSchema(schema, tokenizer, { whitespace });
      const within = compileGrammar(
        { root: sequence(literal("{[\\"), json(schema), literal('"]'), json(schema)) },
        tokenizer,
        { whitespace },
      );
      for (const document of documents) {
        const expected = fateOf(alone, tokenizer, document);
        const [first, both] = [`{[\\${document}"]`, `{[\\${document}"]${document}`];
        const opened = expected === "complete" ? "open" : "refused";
        assertEquals(fateOf(within, tokenizer, first), opened, document);
        if (expected === "complete") {
          assertEquals(fateOf(within, tokenizer, both), "complete", document);
        }
      }
    }
  });
}

Deno.test("json() may be followed by what it could go on with", () => {
  const compiled = compileGrammar(
    { root: sequence(json({ type: "integer" }), literal("5")) },
    tokenizer,
  );
  const fates = ["1", "5", "15", "155", "1551", "x"].map((text) =>
    fateOf(compiled, tokenizer, text)
  );
  assertEquals(fates, ["open", "open", "complete", "complete", "open", "refused"]);
});

Deno.test("json() keeps keys apart wherever the document may have begun", () => {
  const compiled = compileGrammar(
    { root: sequence(repeat(any), json({ type: "object" })) },
    tokenizer,
  );
  const fate = (text: string) => fateOf(compiled, tokenizer, text);
  assertEquals(fate('z"{[{"a":1,"b":2}'), "complete");
  assertEquals(fate('z"{[{"a":1,"a":2}'), "open");
  assertEquals(fate('{"a":{"a":1,"b":[{"b":2}]}}'), "complete");
  assertEquals(fate('{"a":{"a":1,"a":[{"b":2}]}}'), "open");
  assertEquals(fate('{"a":[1],"b":{},"a":2}'), "open");
});

Deno.test("json() of several schemas keeps their types apart", () => {
  const unique = { type: "array", items: { type: "string" }, contains: { const: "a" } };
  const open = { type: "object", additionalProperties: { type: "integer" } };
  const compiled = compileGrammar({
    root: choice(
      sequence(literal("one "), json(unique)),
      sequence(literal("two "), json(open)),
      sequence(literal("three "), json('{"type":"boolean"}'), literal(" "), json(unique)),
    ),
  }, tokenizer);
  const fate = (text: string) => fateOf(compiled, tokenizer, text);
  assertEquals(fate('one ["b", "a"]'), "complete");
  assertEquals(fate('one ["b"]'), "refused");
  assertEquals(fate('two {"b": 1}'), "complete");
  assertEquals(fate('two {"b": ""}'), "refused");
  assertEquals(fate('three true ["a"]'), "complete");
  assertEquals(fate('three null ["a"]'), "refused");
});

/** Free text, then perhaps calls between marks. */
const toolCalls = (open: string, close: string): Grammar => {
  const call = choice(
    sequence(
      literal('{"name": "weather", "arguments": '),
      json({ type: "object", properties: { city: { type: "string" } }, required: ["city"] }),
      literal("}"),
    ),
    sequence(
      literal('{"name": "add", "arguments": '),
      json({ type: "object", additionalProperties: { type: "number" }, minProperties: 2 }),
      literal("}"),
    ),
  );
  return sequence(textWithout(open), repeat(sequence(literal(open), call, literal(close))));
};

const CALL = '{"name": "add", "arguments": {"a": 1, "b": 2.5}}';

Deno.test("text may be followed by calls between marks of text", () => {
  const compiled = compileGrammar({ root: toolCalls("<tool_call>", "</tool_call>") }, tokenizer);
  const fate = (text: string) => fateOf(compiled, tokenizer, text);
  assertEquals(fate("any <tool_ca<tool text\n"), "complete");
  assertEquals(fate("any\ntext<tool_call>"), "open");
  assertEquals(fate(`é<tool_call>${CALL}</tool_call>`), "complete");
  assertEquals(fate(`<tool_call>${CALL}</tool_call><tool_call>${CALL}</tool_call>`), "complete");
  assertEquals(fate(`<tool_call>${CALL}</tool_call> text`), "refused");
  assertEquals(
    fate('<tool_call>{"name": "weather", "arguments": {"city": "x"}}</tool_call>'),
    "complete",
  );
  assertEquals(fate('<tool_call>{"name": "weather", "arguments": {"a": 1'), "refused");
  assertEquals(fate('<tool_call>{"name": "add", "arguments": {"a": 1, "a"'), "refused");
  assertEquals(fate("text"), "complete");
  assertEquals(fate("text<|call|>"), "refused");
});

Deno.test("text may be followed by calls between control tokens", () => {
  const compiled = compileGrammar({ root: toolCalls("<think>", "<|call|>\n") }, tokenizer);
  const fate = (text: string) => fateOf(compiled, tokenizer, text);
  assertEquals(fate(`any </t<think>${CALL}<|call|>\n`), "complete");
  assertEquals(fate(`any<think>${CALL}</think>`), "refused");
  assertEquals(fate("any<|call|>"), "refused");
  // The mark in plain text is no mark, and no text either.
  const matcher = compiled.matcher();
  const bytes = new TextEncoder().encode("<think>");
  assertEquals(bytes.findIndex((byte) => !matcher.accept(byte)), bytes.length - 1);
});

Deno.test("masks within calls equal a trial of every token", () => {
  const random = randomNumbers(3);
  for (const [open, close] of [["<tool_call>", "</tool_call>"], ["<think>", "</think>"]] as const) {
    const compiled = compileGrammar({ root: toolCalls(open, close) }, tokenizer, {
      openObjects: true,
    });
    const text = `a\n"<tool x${open}${CALL}${close}${open}{"name": "weather", ` +
      `"arguments": {"city": "é", "x": {"a":1,"b":"}<"}}}${close}`;
    const before: number[] = [];
    const matcher = compiled.matcher();
    for (const token of tokenizer.encode(text)) {
      if (random() < 0.4) {
        assertEquals(tokensOf(matcher.mask()), tryTokens(compiled, tokenizer, before));
      }
      assert(matcher.accept(token), tokenizer.piece(token));
      before.push(token);
    }
    assert(matcher.isComplete);
  }
});

Deno.test("masks of counted text equal a trial of every token", () => {
  for (const source of ["[^]{3,12}", "x[^\\n]{20,}", "x[ax]{0,9}"]) {
    const compiled = compilePattern(source, tokenizer);
    const matcher = compiled.matcher();
    const before: number[] = [];
    do {
      assertEquals(tokensOf(matcher.mask()), tryTokens(compiled, tokenizer, before), source);
      before.push(0x78);
    } while (before.length < 24 && matcher.accept(0x78));
  }
});

Deno.test("calls that are written at random under a budget are whole", () => {
  const compiled = compileGrammar({ root: toolCalls("<tool_call>", "</tool_call>") }, tokenizer);
  const random = randomNumbers(9);
  let calls = 0;
  for (let answer = 0; answer < 15; answer++) {
    const matcher = compiled.matcher();
    const written: number[] = [];
    const start = tokenizer.encode(`text<tool_call>${CALL.slice(0, answer * 3)}`);
    for (const token of start) assert(matcher.accept(token));
    for (let remaining = 120; remaining > 0 && !matcher.isEnded; remaining--) {
      const tokens = tokensOf(matcher.mask({ remaining }));
      const token = tokens[Math.floor(random() * tokens.length)]!;
      assert(matcher.accept(token));
      if (!matcher.isEnded) written.push(...tokenizer.tokenBytes(token));
    }
    assert(matcher.isComplete, "no end in time");
    const bytes = start.flatMap((token) => [...tokenizer.tokenBytes(token)]).concat(written);
    const text = new TextDecoder("utf-8", { fatal: true }).decode(Uint8Array.from(bytes));
    for (const part of text.split("<tool_call>").slice(1)) {
      JSON.parse(part.slice(0, part.lastIndexOf("</tool_call>")));
      calls++;
    }
  }
  assert(calls >= 15);
});

Deno.test("no ordinary text or document takes a control token", () => {
  const compiled = [
    compileSchema({}, tokenizer),
    compileGrammar({ root: textWithout() }, tokenizer),
    compilePattern("[^]*", tokenizer),
  ];
  const controls = tokenizer.encode("<think></think><|call|>");
  for (const one of compiled) {
    const allowed = new Set(tokensOf(one.matcher().mask()));
    assert(!controls.some((token) => allowed.has(token)));
    assert(!controls.some((token) => one.matcher().accept(token)));
  }
});

const vocabulary = new URL("../../../../shared/data/tokenizers/llama-bpe.gguf", import.meta.url);

function exists(url: URL): boolean {
  try {
    return Deno.statSync(url).isFile;
  } catch {
    return false;
  }
}

Deno.test({
  name: "mask() of calls in a Llama 3 vocabulary equals a simulation of every token" +
    (exists(vocabulary) ? "" : ": no conformance data"),
  ignore: !exists(vocabulary),
  fn: async () => {
    const llama = await loadTokenizer(vocabulary);
    const compiled = compileGrammar(
      { root: toolCalls("<tool_call>\n", "<|python_tag|>") },
      llama,
    );
    const text =
      `Let me "see",\nwhat <tool> é does.<tool_call>\n${CALL}<|python_tag|><tool_call>\n${CALL}`;
    const tokens = llama.encode(text, { special: true });
    const matcher = compiled.matcher() as Matcher;
    const mayCome = (token: number, place: number) => {
      if (llama.endOfGeneration.has(token)) return matcher.isComplete;
      if (!llama.isControl(token)) return matcher.allows(llama.tokenBytes(token));
      const other = compiled.matcher();
      return [...tokens.slice(0, place), token].every((one) => other.accept(one));
    };
    tokens.forEach((token, place) => {
      const mask = matcher.mask();
      assert(((mask[token >>> 5]! >>> (token & 31)) & 1) === 1, llama.piece(token));
      if (place % share(56, 7) === 0) {
        const wrong: number[] = [];
        for (let other = 0; other < llama.vocabularySize; other++) {
          const isAllowed = ((mask[other >>> 5]! >>> (other & 31)) & 1) === 1;
          if (isAllowed !== mayCome(other, place)) wrong.push(other);
        }
        assertEquals(wrong, [], `before ${llama.piece(token)}`);
      }
      assert(matcher.accept(token), llama.piece(token));
    });
  },
});
