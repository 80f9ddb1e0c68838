// Models that were made and copied, run by the engine: a tiny model with random weights, whose answers
// are noise, but of the right form, from the right prompt, and by one load.

import { assert, assertEquals } from "@std/assert";
import {
  inspectModel,
  loadModel,
  ModelManager,
  ModelStore,
  parseModelfile,
} from "../../../../../engine/mod.ts";
import { createApp } from "../../../../../server/http/app.ts";
import { createLog } from "../../../../../server/log.ts";
import { folder, pathOf, tinyLoad } from "../../../../engine/harness.ts";
import { writeTinyLlama } from "../../../../tiny_model.ts";
import { checkAnswers } from "../check_answers.ts";

const models = `${folder}/models`;
await Deno.mkdir(models);
await writeTinyLlama(`${models}/tiny.gguf`);
const store = new ModelStore({ folder: models, inspect: inspectModel });
let loads = 0;
const manager = new ModelManager({
  store,
  open: (source, options) => {
    loads++;
    return loadModel(pathOf(source), { ...tinyLoad, ...options });
  },
});
globalThis.addEventListener("unload", () => void manager.closeAll());
const log = createLog({ write: () => {} });
const app = checkAnswers(createApp({ store, manager, log, version: "0" }));

async function ask(path: string, body: unknown) {
  const response = await app.request(path, { method: "POST", body: JSON.stringify(body) });
  const text = await response.text();
  assert(response.ok, text);
  return text === "" ? undefined : JSON.parse(text);
}

const messages = [{ role: "user", content: "Hi" }];

Deno.test("a copy of a model that was made answers Claude's clients, by the load of the original", async () => {
  await ask("/api/create", {
    model: "mario",
    from: "tiny",
    system: "You are Mario.",
    parameters: { num_predict: 4, temperature: 0 },
    stream: false,
  });
  await ask("/api/copy", { source: "mario", destination: "claude-3-5-sonnet" });
  const original = await ask("/api/chat", { model: "mario", messages, stream: false });
  assertEquals(original.eval_count, 4);
  const { model, content, usage } = await ask("/v1/messages", {
    model: "claude-3-5-sonnet",
    max_tokens: 4,
    messages,
  });
  assertEquals(model, "claude-3-5-sonnet");
  assertEquals(content, [{ type: "text", text: original.message.content }]);
  assertEquals(usage.output_tokens, 4);
  assertEquals(loads, 1);
});

Deno.test("a model with a renderer keeps its file's template, whatever TEMPLATE beside it says", async () => {
  const parsed = parseModelfile(
    "FROM tiny\nTEMPLATE {{ .Prompt }}\nRENDERER qwen3.5\nPARSER qwen3.5\nPARAMETER num_predict 1\n",
  );
  const { from: _from, adapters: _adapters, messages: _messages, license: _license, ...rest } =
    parsed;
  await ask("/api/create", { model: "qwen", from: "tiny", ...rest, stream: false });
  // Shown and made again, it is the same.
  const { modelfile } = await ask("/api/show", { model: "qwen" });
  const { template, renderer } = parseModelfile(modelfile);
  await ask("/api/create", { model: "again", from: "qwen", template, renderer, stream: false });
  const turns = [
    { role: "system", content: "Be kind." },
    { role: "user", content: "One" },
    { role: "assistant", content: "Two" },
    { role: "user", content: "Three" },
  ];
  const expected = turns.map(({ role, content }) => `<|im_start|>${role}\n${content}<|im_end|>\n`)
    .join("") + "<|im_start|>assistant\n";
  for (const model of ["qwen", "again"]) {
    const body = { model, messages: turns, _debug_render_only: true, stream: false };
    const { _debug_info: info } = await ask("/api/chat", body);
    assertEquals(info.rendered_template, expected);
    const generate = { model, prompt: "One", system: "Be kind.", _debug_render_only: true };
    const generated = await ask("/api/generate", { ...generate, stream: false });
    assert(generated._debug_info.rendered_template.includes("system\nBe kind."));
  }
});

Deno.test("a model's own template lays out its prompts in place of the file's", async () => {
  const render = async (model: string, more = {}) =>
    (await ask("/api/chat", { model, messages, _debug_render_only: true, stream: false, ...more }))
      ._debug_info.rendered_template;
  assertEquals(
    await render("mario"),
    "<|im_start|>system\nYou are Mario.<|im_end|>\n" +
      "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n",
  );
  await ask("/api/create", {
    model: "luigi",
    from: "mario",
    template: "[{{ .System }}] {{ .Prompt }} ->",
    stream: false,
  });
  assertEquals(await render("luigi"), "[You are Mario.] Hi ->");
  const system = [{ role: "system", content: "Be Luigi." }, ...messages];
  assertEquals(await render("luigi", { messages: system }), "[Be Luigi.] Hi ->");
  // Whoever is made from it has it too.
  await ask("/api/create", { model: "yoshi", from: "luigi", system: "Be Yoshi.", stream: false });
  assertEquals(await render("yoshi"), "[Be Yoshi.] Hi ->");
});
