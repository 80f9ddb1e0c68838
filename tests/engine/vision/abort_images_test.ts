// Requests that are given up while their images are read: they end at once and leave nothing behind,
// and others that wait for the same image get it.

import { assertEquals } from "@std/assert";
import { type ChatRequest, loadModel, nextTask } from "../../../engine/mod.ts";
import { ImageEncoder } from "../../../engine/vision/mod.ts";
import { conformanceTest, DATA } from "../../conformance/logits.ts";
import { readAnswer } from "../harness.ts";

/** Turns of the event loop in which two requests that begin together both come to their image. */
const TURNS = 200;

const pathOf = (file: string) => new URL(`vision/gemma3/${file}.gguf`, DATA).pathname;

conformanceTest("a request that is aborted while its image is read ends at once", async () => {
  const { encode } = ImageEncoder.prototype;
  const signals: (AbortSignal | undefined)[] = [];
  let onEncode = () => {};
  ImageEncoder.prototype.encode = async function (pixels, size, signal) {
    signals.push(signal);
    // Both requests have come for the image by then, in whichever turns they read it.
    for (let turn = 0; turn < TURNS; turn++) await nextTask();
    onEncode();
    return await encode.call(this, pixels, size, signal);
  };
  try {
    const options = { contextLength: 512, maxSequences: 2, projector: pathOf("mmproj") };
    await using model = await loadModel(pathOf("text"), options);
    const image = await Deno.readFile(new URL("../images/cat_224x224.jpg", DATA));
    const ask = (signal?: AbortSignal) => {
      const messages: ChatRequest["messages"] = [{ role: "user", content: "", images: [image] }];
      return Array.fromAsync(
        model.chat({ messages, maxTokens: 2, temperature: 0, ...(signal && { signal }) }),
      );
    };
    const lonely = new AbortController();
    onEncode = () => lonely.abort();
    assertEquals(await ask(lonely.signal), []);
    assertEquals(signals.map((signal) => signal?.aborted), [true]);

    const one = new AbortController();
    onEncode = () => one.abort();
    const [given, kept] = await Promise.all([ask(one.signal), ask()]);
    assertEquals(given, []);
    assertEquals(kept.at(-1)?.type, "done");
    assertEquals(signals.map((signal) => signal?.aborted), [true, false]);
    // It is remembered.
    assertEquals(
      (await readAnswer(model.chat({
        messages: [{ role: "user", content: "", images: [image] }],
        maxTokens: 2,
        temperature: 0,
      }))).done?.type,
      "done",
    );
    assertEquals(signals.length, 2);
  } finally {
    ImageEncoder.prototype.encode = encode;
  }
});
