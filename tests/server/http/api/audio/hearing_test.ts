// Transcriptions over HTTP by a text model that hears: the tiny one of the conformance data, in a store.
// What it hears is tested with the engine; here it has random weights, and says anything.

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import {
  createModel,
  inspectModel,
  loadModel,
  ModelManager,
  ModelStore,
  usableProjector,
} from "../../../../../engine/mod.ts";
import { createApp } from "../../../../../server/http/app.ts";
import { createLog } from "../../../../../server/log.ts";
import { conformanceTest } from "../../../../conformance/logits.ts";
import { folder } from "../../../../engine/harness.ts";
import { pathOf, readManifest } from "../../../../engine/hearing/fixtures.ts";
import { checkAnswers } from "../check_answers.ts";

const NAME = "qwen3a";

conformanceTest("a model that hears answers the paths of transcripts", async () => {
  const { files, sounds: { short } } = await readManifest(NAME);
  const store = new ModelStore({ folder: `${folder}/hearing`, inspect: inspectModel });
  const upload = async (file: string) =>
    (await store.blobs.put(await Deno.readFile(pathOf(NAME, file)))).digest;
  const parts = { "a.gguf": await upload(files.text), "b.gguf": await upload("mmproj.gguf") };
  const { signal } = new AbortController();
  await Array.fromAsync(createModel(store, { model: "hears", files: parts }, { signal }));
  const manager = new ModelManager({
    store,
    async open(source, options) {
      assert(source.kind === "files");
      const projector = await usableProjector(source);
      const load = { ...options, contextLength: 1600, maxSequences: 1, ...projector };
      return await loadModel(source.path, load);
    },
  });
  const log = createLog({ write: () => {} });
  const app = checkAnswers(createApp({ store, manager, log, version: "0" }));
  const sound = new Blob([await Deno.readFile(pathOf(NAME, short.file))]);
  const send = async (fields: Record<string, string>, path = "transcriptions") => {
    const form = new FormData();
    for (const [name, value] of Object.entries({ model: "hears", ...fields })) {
      form.set(name, value);
    }
    form.set("file", sound);
    const response = await app.request(`/v1/audio/${path}`, { method: "POST", body: form });
    return [response.status, await response.text()] as const;
  };
  const json = async (fields: Record<string, string>, path?: string) => {
    const [status, text] = await send(fields, path);
    assertEquals(status, 200, text);
    return JSON.parse(text);
  };
  try {
    const { models } = await (await app.request("/api/tags")).json();
    assert(models[0].capabilities.includes("audio"), models[0].capabilities);

    const said = await json({ response_format: "verbose_json", language: "en", seed: "1" });
    assertEquals([said.task, said.language], ["transcribe", "english"]);
    const { segments, duration, usage, text } = said;
    assertEquals(usage, { type: "duration", seconds: Math.ceil(duration) });
    assert(duration > 0 && segments.length === 1, `${duration} s, ${segments.length} segments`);
    assertEquals([segments[0].start, segments[0].end], [0, duration]);
    assertEquals(text, segments[0].text.trim());
    assert(segments[0].avg_logprob < 0);
    assertEquals((await json({ language: "en", seed: "1" })).text, text);
    assertEquals((await json({}, "translations")).usage, usage);

    const schema = {
      type: "object",
      properties: { loud: { type: "boolean" }, steps: { enum: [3, 5] } },
      required: ["loud", "steps"],
    };
    const response_format = JSON.stringify({ type: "json_schema", json_schema: { schema } });
    const document = JSON.parse((await json({ response_format })).text);
    assertEquals(Object.keys(document), ["loud", "steps"]);
    assert(typeof document.loud === "boolean" && [3, 5].includes(document.steps));

    const [, events] = await send({ stream: "true", response_format: "srt", language: "en" });
    assertStringIncludes(events, '"type":"transcript.text.done"');
    assertStringIncludes(events, "1\\n00:00:00,000 --> ");
    const asked = { response_format: "srt", "timestamp_granularities[]": "word" };
    const [status, refused] = await send(asked);
    assertEquals(status, 400);
    assertStringIncludes(refused, "times of words");
  } finally {
    await manager.closeAll();
  }
});
