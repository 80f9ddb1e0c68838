// Where the values of a schema stand in its text.

import { assertEquals } from "@std/assert";
import { spansOf, spansOfRules } from "../../web/schema/pointers.ts";
import { SAMPLES } from "../../web/schema/samples.ts";

/** The value that a JSON pointer leads to. */
function valueAt(root: unknown, pointer: string): unknown {
  return pointer.split("/").slice(1).reduce(
    (value, part) =>
      (value as Record<string, unknown>)[part.replaceAll("~1", "/").replaceAll("~0", "~")],
    root,
  );
}

Deno.test("each rule is found in the text of the schema", () => {
  for (const { kind, format } of SAMPLES.filter(({ kind }) => kind === "schema")) {
    assertEquals(kind, "schema");
    for (const [pointer, [start, end]] of spansOf(format)) {
      const source = format.slice(start, end).replace(/^"(?:[^"\\]|\\.)*":/, "");
      assertEquals(JSON.parse(source), valueAt(JSON.parse(format), pointer));
    }
  }
});

Deno.test("of rules within each other the innermost are marked, in order", () => {
  const schema = '{"a/b": {"c": 1}, "d": [2]}';
  const marked = (pointers: string[]) =>
    spansOfRules(schema, pointers).map(([start, end]) => schema.slice(start, end));
  assertEquals(marked(["", "/d", "/a~1b", "/a~1b/c", "/none"]), ['"c": 1', '"d": [2]']);
  assertEquals(marked([]), []);
});
