// What was done in another way than it was asked for is said in the answer, in every API, streamed or
// not, and not only in the log.

import { assertEquals } from "@std/assert";
import { says } from "../../fake_model.ts";
import { createTestApp, readLines } from "../../test_app.ts";
import { readEvents } from "./openai/openai_scripts.ts";

const notes = ['Cannot read the schema of tool "t": (?i) is left out', "A second one"];
const messages = [{ role: "user", content: "Hi" }];

const REQUESTS: Record<string, object> = {
  "/api/chat": { messages },
  "/api/generate": { prompt: "Hi" },
  "/v1/chat/completions": { messages },
  "/v1/completions": { prompt: ["Hi", "Ho"] },
  "/v1/responses": { input: "Hi" },
  "/v1/messages": { messages, max_tokens: 10 },
};

type Told = Record<string, unknown>;

/** The members of the records of a stream that have warnings, in which responses are found as well. */
function warningsIn(records: Told[]): unknown[] {
  return records.flatMap((record) => {
    const { warnings } = { ...record, ...record.response as Told | undefined };
    return warnings === undefined ? [] : [warnings];
  });
}

for (const [path, asked] of Object.entries(REQUESTS)) {
  Deno.test(`the answer of ${path} tells of what was done in another way`, async () => {
    const { post } = createTestApp({
      info: { hasChatTemplate: true },
      script: async function* (request) {
        for await (const event of says("x")(request)) {
          yield event.type === "done" ? { ...event, notes } : event;
        }
      },
    });
    const body = { model: "tiny", ...asked };
    const whole = await (await post(path, { ...body, stream: false })).json();
    assertEquals(whole.warnings, notes);
    const stream = await post(path, { ...body, stream: true });
    const isLines = path.startsWith("/api/");
    const records = isLines
      ? await readLines(stream)
      : (await readEvents(stream)).flatMap(({ data }) => data === "[DONE]" ? [] : [data]);
    const told = warningsIn(records);
    // Each of two completions has its end.
    assertEquals(told, path === "/v1/completions" ? [notes, notes] : [notes]);
  });

  Deno.test(`the answer of ${path} says nothing where there is nothing to say`, async () => {
    const { post } = createTestApp();
    const whole = await (await post(path, { model: "tiny", ...asked, stream: false })).json();
    assertEquals("warnings" in whole, false);
  });
}
