// Pictures that a server with real models refuses, in every dialect: what is no picture, or too large
// a one, what has no bytes of one, and models that do not see. Nothing of it ends an answer halfway,
// and the next request is answered as if nothing had been.

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { inspectModel } from "../../../../engine/mod.ts";
import { main } from "../../../../server/cli/main.ts";
import { pngFile } from "../../../engine/vision/image_files.ts";
import { FakeTerminal } from "../../cli/fake_terminal.ts";
import {
  createVisionApp,
  picture,
  TEXT_MODEL,
  UNUSABLE_MODEL,
  VISION_MODEL,
} from "./vision_app.ts";

const world = await createVisionApp("vision-refusals");
const good = picture(1).toBase64();

const options = { num_predict: 2 };

/** Makes a body that shows pictures. */
type Shows = (model: string, ...images: string[]) => Record<string, unknown>;

const inMessages: Shows = (model, ...images) => {
  const blocks = images.map((data) => ({
    type: "image",
    source: /^\w+:\/\//.test(data)
      ? { type: "url", url: data }
      : { type: "base64", media_type: "image/png", data },
  }));
  return { model, max_tokens: 2, messages: [{ role: "user", content: blocks }] };
};

const asUrl = (image: string) =>
  /^[\w+/=]*$/.test(image) ? `data:image/png;base64,${image}` : image;

/** By path: a body, and what the second of its pictures is called. */
const DIALECTS: [path: string, shows: Shows, second: string][] = [
  [
    "/api/chat",
    (model, ...images) => ({ model, messages: [{ role: "user", content: "x", images }], options }),
    "messages[0].images[1]",
  ],
  ["/api/generate", (model, ...images) => ({ model, prompt: "x", images, options }), "images[1]"],
  ["/v1/messages", inMessages, "messages[0].content[1]"],
  ["/v1/messages/count_tokens", inMessages, "messages[0].content[1]"],
  [
    "/v1/chat/completions",
    (model, ...images) => ({
      model,
      max_tokens: 2,
      messages: [{
        role: "user",
        content: images.map((image) => ({ type: "image_url", image_url: { url: asUrl(image) } })),
      }],
    }),
    "messages[0].content[1]",
  ],
  [
    "/v1/responses",
    (model, ...images) => ({
      model,
      max_output_tokens: 16,
      input: [{
        role: "user",
        content: images.map((image) => ({ type: "input_image", image_url: asUrl(image) })),
      }],
    }),
    "input[0].content[1]",
  ],
];

async function ask(path: string, body: unknown): Promise<{ status: number; message: string }> {
  const { app } = world;
  const response = await app.request(path, { method: "POST", body: JSON.stringify(body) });
  const text = await response.text();
  if (response.ok) return { status: response.status, message: text };
  const { error } = JSON.parse(text);
  return { status: response.status, message: error.message ?? error };
}

/** A PNG that says it has 400 megapixels. */
function bomb(): Uint8Array {
  const bytes = pngFile({ width: 1, height: 1, data: [0, 0, 0] });
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  view.setUint32(16, 20_000);
  view.setUint32(20, 20_000);
  return bytes;
}

const BROKEN: [what: string, image: string, sentence: string][] = [
  ["bytes of nothing", btoa("no picture at all"), "no known format"],
  ["a cut picture", picture(1).subarray(0, 2000).toBase64(), "Cannot read"],
  ["400 megapixels", bomb().toBase64(), "100 megapixels"],
];

for (const [path, shows, second] of DIALECTS) {
  Deno.test(`${path} refuses what is no picture, and says which`, async () => {
    for (const [what, image, sentence] of BROKEN) {
      for (const stream of [true, false]) {
        const { status, message } = await ask(path, {
          ...shows(VISION_MODEL, good, image),
          ...(!path.endsWith("count_tokens") && { stream }),
        });
        assertEquals(status, 400, `${what}: ${message}`);
        assertStringIncludes(message, sentence);
        assertStringIncludes(message, "image 2 of 2");
      }
    }
    for (const image of ["https://a.example/b.png", "/etc/passwd.png", "../b.png", ""]) {
      const { status, message } = await ask(path, shows(VISION_MODEL, good, image));
      assertEquals(status, 400, message);
      assertStringIncludes(message, second);
      assertStringIncludes(message, "base64");
    }
    const { status, message } = await ask(path, shows(VISION_MODEL, good, good));
    assertEquals(status, 200, message);
  });

  Deno.test(`${path} refuses pictures for models that do not see, by their names`, async () => {
    for (const model of [TEXT_MODEL, UNUSABLE_MODEL]) {
      const { status, message } = await ask(path, shows(model, good));
      assertEquals(status, 400);
      assertStringIncludes(message, `"${model}" does not support image input`);
      assertStringIncludes(message, second.replace(/1\]$/, "0]"));
    }
  });
}

Deno.test("a model says that it sees exactly if its projector runs", async () => {
  const { models } = JSON.parse(await (await world.app.request("/api/tags")).text());
  for (const model of [VISION_MODEL, TEXT_MODEL, UNUSABLE_MODEL]) {
    const sees = model === VISION_MODEL;
    const tag = models.find(({ name }: { name: string }) => name === `${model}:latest`);
    const { message } = await ask("/api/show", { model });
    const shown = JSON.parse(message);
    for (const { capabilities } of [tag, shown]) {
      assertEquals([model, capabilities.includes("vision")], [model, sees]);
    }
    assertEquals("projector_info" in shown, model !== TEXT_MODEL);
    const terminal = new FakeTerminal();
    const code = await main(["show", model], {
      open: () => Promise.reject(new Error("Nothing is to be loaded")),
      inspect: inspectModel,
      terminal,
      environment: { QUERN_MODELS: world.folder, OLLAMA_HOST: "127.0.0.1:1" },
      fetch: () => Promise.reject(new TypeError("No server is there")),
    });
    assertEquals(code, 0, terminal.errors);
    assertEquals(/^ +vision$/m.test(terminal.output), sees, terminal.output);
    assert(terminal.output.includes("completion"));
  }
});
