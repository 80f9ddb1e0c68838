// Instructor, which has answers that fit a zod schema: by tools, by a JSON Schema in the request, and
// by one in the prompt.

import { strict as assert } from "node:assert";
import { BOX, passage } from "../../server/box_talk.ts";
import * as box from "./checks.ts";

const { default: Instructor } = await box.load("@instructor-ai/instructor");
const { OpenAI } = await box.load("openai");
const { z } = await box.load("zod");
const openai = new OpenAI({ baseURL: `${box.url}/v1`, apiKey: "any", maxRetries: 0 });
const schema = z.object({ name: z.string(), age: z.number().int() });

/** What the model answers to a text, in one of the modes. */
function extract(mode: string, content: string): Promise<unknown> {
  return Instructor({ client: openai, mode }).chat.completions.create({
    model: BOX,
    messages: [{ role: "user", content }],
    temperature: 0,
    response_model: { schema, name: "Person" },
  });
}

await box.check("schema", async () => {
  for (const mode of ["TOOLS", "JSON_SCHEMA"]) {
    const answer = await extract(mode, passage.question);
    const { name, age } = answer as typeof passage.facts;
    assert.deepEqual({ name, age }, passage.facts, mode);
  }
  // How the schema is told is not what the model learnt; that the answer is a person is enough.
  schema.parse(await extract("JSON", passage.question));
});

await box.check("overflow", () => box.refusesLong(() => extract("JSON_SCHEMA", box.long)));
