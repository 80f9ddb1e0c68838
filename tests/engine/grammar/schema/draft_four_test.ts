// Integers of draft 4, which are told by how they are spelled: 1.0 is none of them. Later drafts go by value.

import { assertEquals } from "@std/assert";
import { compileSchema } from "../../../../engine/grammar/mod.ts";
import { bytePairVocabulary } from "../fuzz/vocabularies.ts";

const { tokenizer } = bytePairVocabulary();

/** Whether a document may be spelled so, where numbers may be spelled in any way. */
function isComplete(schema: object, text: string): boolean {
  const matcher = compileSchema(schema, tokenizer, { anyNumbers: true }).matcher();
  return new TextEncoder().encode(text).every((byte) => matcher.accept(byte)) && matcher.isComplete;
}

Deno.test("compileSchema() takes 1.0 for an integer in draft 6 and later, not in draft 4", () => {
  const schemas = ["04", "06", "07"].map((draft) => ({
    $schema: `http://json-schema.org/draft-${draft}/schema#`,
    items: { type: "integer" },
  }));
  const taken = (text: string) => schemas.map((schema) => isComplete(schema, text));
  assertEquals(taken("[12]"), [true, true, true]);
  assertEquals(taken("[12.0]"), [false, true, true]);
  assertEquals(taken("[1e2]"), [false, true, true]);
  assertEquals(taken("[1.5]"), [false, false, false]);
});

Deno.test("compileSchema() takes any spelling of numbers that need not be integers in draft 4", () => {
  const $schema = "http://json-schema.org/draft-04/schema#";
  assertEquals(isComplete({ $schema, items: { type: "number" } }, "[12.0,1e2,1.5]"), true);
});
