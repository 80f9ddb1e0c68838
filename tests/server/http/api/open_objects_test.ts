// `open_objects` in every dialect: as an option or beside the format, it reaches the engine, and null is
// not given.

import { assertEquals } from "@std/assert";
import { createTestApp } from "../../test_app.ts";

const messages = [{ role: "user", content: "Hi" }];
const ROUTES: readonly (readonly [path: string, body: object])[] = [
  ["/api/generate", { prompt: "Hi", format: "json" }],
  ["/api/chat", { messages, format: "json" }],
  ["/v1/chat/completions", { messages, response_format: { type: "json_object" } }],
  ["/v1/responses", { input: "Hi" }],
  ["/v1/messages", { messages, max_tokens: 9 }],
];

for (const [path, body] of ROUTES) {
  Deno.test(`${path} takes open_objects as an option and beside the format`, async () => {
    const test = createTestApp();
    const asks: readonly (readonly [object, boolean | undefined])[] = [
      [{}, undefined],
      [{ open_objects: null }, undefined],
      [{ open_objects: true }, true],
      [{ options: { open_objects: true } }, true],
      [{ options: { open_objects: true }, open_objects: false }, false],
    ];
    for (const [members, expected] of asks) {
      const response = await test.post(path, { model: "tiny", ...body, ...members });
      assertEquals(response.status, 200, await response.text());
      const { request } = test.loaded.at(-1)!.requests.at(-1)!;
      assertEquals(request.openObjects, expected, JSON.stringify(members));
    }
    const refused = await test.post(path, { model: "tiny", ...body, open_objects: "yes" });
    assertEquals(refused.status, 400);
    await refused.body?.cancel();
  });
}
