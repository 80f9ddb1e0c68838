// A model whose device fails during a request: one of which nothing came yet goes on after a reload, one
// that is under way says what happened, and the next request works.

import { assertEquals, assertStringIncludes } from "@std/assert";
import { DeviceFailedError } from "../../../engine/errors.ts";
import { DeviceLostError } from "../../../kernels/mod.ts";
import { failsAfter, says, type Script } from "../fake_model.ts";
import { createTestApp } from "../test_app.ts";

const LOST = new DeviceFailedError(new DeviceLostError("Cannot use the GPU: device lost: reset"));

const messages = [{ role: "user", content: "Hi" }];
const REQUESTS: [path: string, body: object][] = [
  ["/api/generate", { prompt: "Hi" }],
  ["/api/chat", { messages }],
  ["/v1/chat/completions", { messages }],
  ["/v1/completions", { prompt: "Hi" }],
  ["/v1/responses", { input: "Hi" }],
  ["/v1/messages", { messages, max_tokens: 20 }],
];

/** A script that fails with the device the first times that it is asked, after some words. */
function failing(times: number, words: string[]): Script {
  let asked = 0;
  return (request) =>
    asked++ < times ? failsAfter(words, LOST)(request) : says("Hel", "lo")(request);
}

for (const [path, body] of REQUESTS) {
  for (const stream of [false, true]) {
    const name = `${path}${stream ? ", streamed," : ""}`;

    Deno.test(`${name} goes on after a reload if nothing came before the device failed`, async () => {
      const { post, loaded } = createTestApp({ script: failing(1, []) });
      const response = await post(path, { model: "tiny", stream, ...body });
      const text = await response.text();
      assertEquals([response.status, loaded.length], [200, 2]);
      assertStringIncludes(text.replaceAll(/[^a-zA-Z]/g, ""), "Hel");
      assertEquals(text.includes("device lost"), false);
    });

    Deno.test(`${name} says that the device failed, and the next request works`, async () => {
      const { post, loaded } = createTestApp({ script: failing(2, ["one ", "two "]) }, {
        anthropicExact: true,
      });
      for (const [status, says] of [[503, "device lost: reset"], [503, "device lost: reset"]]) {
        const response = await post(path, { model: "tiny", stream, ...body });
        assertEquals(response.status, stream ? 200 : status);
        assertStringIncludes(await response.text(), `${says}`);
      }
      const next = await post(path, { model: "tiny", stream, ...body });
      assertEquals([next.status, loaded.length], [200, 3]);
      assertEquals((await next.text()).includes("device lost"), false);
    });
  }
}
