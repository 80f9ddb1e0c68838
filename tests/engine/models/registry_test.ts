// The registry of architectures: names that are not there are refused with those that are, and
// docs/models.md lists what is.

import { withArchitectureTable } from "../../../bench/architecture_table.ts";
import { UnsupportedModelError } from "../../../engine/errors.ts";
import { architectureOf, architectures } from "../../../engine/models/registry.ts";
import { assert, assertEquals, assertThrows } from "@std/assert";

Deno.test("architectureOf() names what it does not know and lists what it does", () => {
  const error = assertThrows(() => architectureOf("gpt-9"), UnsupportedModelError);
  assert(error.message.includes('"gpt-9"'), error.message);
  for (const name of architectures.keys()) assert(error.message.includes(name), name);
  assertThrows(() => architectureOf("constructor"), UnsupportedModelError);
});

Deno.test("docs/models.md has the table of the registry", async () => {
  const page = await Deno.readTextFile(new URL("../../../docs/models.md", import.meta.url));
  assertEquals(page, withArchitectureTable(page), "run `deno task docs:models`");
});
