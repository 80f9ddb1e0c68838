// Masks over a vocabulary of 128,256 tokens equal what every token does byte by byte. The
// vocabulary is not part of the project.

import { assert, assertEquals } from "@std/assert";
import { Languages } from "../../../../engine/grammar/language/mod.ts";
import { createMachine, type Matcher } from "../../../../engine/grammar/machine/mod.ts";
import { TokenTable } from "../../../../engine/grammar/machine/token_table.ts";
import { allNumbers, integers } from "../../../../engine/grammar/number/mod.ts";
import type { SchemaTypes } from "../../../../engine/grammar/types.ts";
import { loadTokenizer } from "../../../../engine/load/inspect.ts";
import { array, object } from "./fake_automata.ts";
import { share } from "../../../share.ts";

const vocabulary = new URL("../../../../../shared/data/tokenizers/llama-bpe.gguf", import.meta.url);

const DOCUMENT = JSON.stringify({
  name: "Ada Lovelace",
  tags: ["one", "two words", "one more"],
  when: "2024-02-29T12:00:00Z",
  slug: "some-slug-2",
  free: { a: [1, 2.5, { "b c": 'How are "you"?\né', "": null }], "longer key": { x: "y", z: "" } },
  people: [{ name: "Grace", kind: "person", email: "g@h.de" }, { name: "ACME", kind: "company" }],
});

function exists(url: URL): boolean {
  try {
    return Deno.statSync(url).isFile;
  } catch {
    return false;
  }
}

/** Types of the document, the root first. */
function typesOf(languages: Languages): SchemaTypes {
  const any = languages.any();
  const text = (language: number, min = 0, max = Infinity) => ({
    strings: { language, min, max },
  });
  const words = (...all: string[]) =>
    text(languages.union(...all.map((word) => languages.literal(word))));
  return {
    root: 0,
    types: [
      { objects: [object({ name: 1, tags: 2, when: 3, slug: 4, free: 5, people: 6 })] },
      text(any, 1, 40),
      { arrays: [array({ rest: 1, unique: true, max: 10 })] },
      text(languages.format("date-time")!),
      text(languages.pattern("^[a-z][a-z0-9-]*$"), 3, 20),
      {
        null: true,
        numbers: allNumbers(),
        strings: { language: any, min: 0, max: Infinity },
        arrays: [array({ rest: 5 })],
        objects: [object({}, { others: [{ keys: any, type: 5 }] })],
      },
      { arrays: [array({ rest: 7, min: 1 })] },
      {
        objects: [
          object({ name: 1, kind: 8, "email?": 1 }),
          object({ name: 1, kind: 9, "age?": 10 }),
        ],
      },
      words("person", "pet"),
      words("person", "company"),
      { numbers: integers() },
    ],
  };
}

/** The words of a mask that differ from a simulation of every token byte by byte. */
function differences(table: TokenTable, begin: () => Matcher, before: Uint8Array): number[] {
  const matcher = begin();
  assert(matcher.acceptBytes(before));
  const mask = matcher.mask();
  const wrong: number[] = [];
  for (let token = 0; token < table.size; token++) {
    const isAllowed = ((mask[token >>> 5]! >>> (token & 31)) & 1) === 1;
    const isExpected = table.endTokens.has(token)
      ? matcher.isComplete
      : table.isText(token) && matcher.allows(table.bytesOf(token));
    if (isAllowed !== isExpected) wrong.push(token);
  }
  return wrong;
}

Deno.test({
  name: "mask() of a Llama 3 vocabulary equals a simulation of every token" +
    (exists(vocabulary) ? "" : ": no conformance data"),
  ignore: !exists(vocabulary),
  fn: async () => {
    const tokenizer = await loadTokenizer(vocabulary);
    const bytes = Array.from(
      { length: tokenizer.vocabularySize },
      (_, token) => tokenizer.tokenBytes(token),
    );
    const table = TokenTable.of({
      size: bytes.length,
      bytesOf: (token) => bytes[token]!,
      endTokens: tokenizer.endOfGeneration,
      isControl: (token) => tokenizer.isControl(token),
    });
    const languages = new Languages();
    const machine = createMachine(typesOf(languages), languages, { table });
    const tokens = tokenizer.encode(DOCUMENT);
    const matcher = machine.matcher();
    for (let place = 0, length = 0; place < tokens.length; place++) {
      if (place % share(48, 6) === 0) {
        const before = new TextEncoder().encode(DOCUMENT).subarray(0, length);
        const wrong = differences(table, () => machine.matcher(), before);
        assertEquals(wrong, [], `after ${DOCUMENT.slice(0, length)}`);
      }
      const token = tokens[place]!;
      const mask = matcher.mask();
      assert(((mask[token >>> 5]! >>> (token & 31)) & 1) === 1, tokenizer.piece(token));
      assert(matcher.accept(token), tokenizer.piece(token));
      length += bytes[token]!.length;
    }
    assert(matcher.isComplete);
  },
});
