// The table of options reaches everybody who reads it: the documents, the description of the API, and the
// body of a request to a model elsewhere.

import { assert, assertEquals } from "@std/assert";
import { type OptionInfo, OPTIONS } from "../../../../engine/mod.ts";
import { PARAMETERS } from "../../../../server/cli/repl/parameters.ts";
import { createBoxApp } from "../../tiny_app.ts";

const options = Object.values<OptionInfo>(OPTIONS);

Deno.test("the table in docs/ollama-api.md has every option, with its default where that is a number", async () => {
  const text = await Deno.readTextFile(
    new URL("../../../../docs/ollama-api.md", import.meta.url),
  );
  const told = new Map<string, string>();
  for (const [, names, values] of text.matchAll(/^\| (`[^|]*`) +\|([^|]*)\|[^|]*\|$/gm)) {
    const all = names!.match(/[a-z_]+/g)!;
    const each = values!.split(",").map((value) => value.trim());
    all.forEach((name, index) => told.set(name, each[index] ?? each[0]!));
  }
  for (const { name, default: value } of options) {
    assert(text.includes(`\`${name}\``), name);
    if (value !== undefined) assertEquals(told.get(name), `${value}`, name);
  }
});

Deno.test("every option is one of the command line, and those with titles are told to forms", async () => {
  const { app } = await createBoxApp();
  const { components } = await (await app.request("/openapi.json")).json();
  const { properties } = components.schemas.ChatRequest.properties.options;
  for (const option of options) {
    assertEquals(PARAMETERS[option.name]?.type, option.type);
    const { title, description, "x-form": form } = properties[option.name];
    assert(description.startsWith(option.help), option.name);
    assertEquals(title, option.title);
    assertEquals(form?.help, option.title === undefined ? undefined : option.help);
  }
  const titled = Object.values<{ title?: string }>(properties).filter(({ title }) => title);
  assertEquals(titled.length, options.filter(({ title }) => title).length);
});
