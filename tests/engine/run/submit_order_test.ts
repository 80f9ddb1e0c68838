// When the host records and submits what a GPU computes: while tokens are read, a real one has to have
// work, and as soon as it is done there has to be more. Nothing is computed here.

import { assert, assertEquals } from "@std/assert";
import { loadModel } from "../../../engine/mod.ts";
import { profileNamed } from "../../profiles.ts";
import { recordingGpu } from "../../recording_gpu.ts";
import { writeTinyLlama } from "../../tiny_model.ts";

/** What the host did, in order: recorded commands, submitted some, began to read a buffer. */
type Event = "record" | "submit" | "read";

/** A GPU that computes nothing and notes what is asked of it. */
function notedGpu(events: Event[]): GPU {
  const gpu = recordingGpu(profileNamed("subgroups of 32,32, 32 KiB"), new Map());
  return {
    wgslLanguageFeatures: new Set(["packed_4x8_integer_dot_product"]),
    async requestAdapter() {
      const adapter = await gpu.requestAdapter();
      const requestDevice = adapter!.requestDevice.bind(adapter);
      adapter!.requestDevice = async (descriptor) => {
        const device = await requestDevice(descriptor);
        note(device.queue, "submit", "submit");
        const { createBuffer, createCommandEncoder } = device;
        device.createBuffer = (descriptor) => note(createBuffer(descriptor), "mapAsync", "read");
        device.createCommandEncoder = () => note(createCommandEncoder(), "finish", "record");
        return device;
      };
      return adapter;
    },
  } as unknown as GPU;

  function note<T extends object>(object: T, method: keyof T, event: Event): T {
    const call = object[method] as (...args: unknown[]) => unknown;
    return Object.assign(object, {
      [method]: (...args: unknown[]) => {
        events.push(event);
        return call.apply(object, args);
      },
    });
  }
}

Deno.test("a GPU that is done with a step has the next one before anything is recorded", async () => {
  const path = await Deno.makeTempFile({ suffix: ".gguf" });
  try {
    await writeTinyLlama(path, { type: "Q8_0", context: 512 });
    const events: Event[] = [];
    const device = { kind: "webgpu", gpu: notedGpu(events) } as const;
    await using model = await loadModel(path, { device, maxSequences: 1 });
    assert(events.includes("read"), "buffers are mapped once while the model loads");
    events.length = 0;
    const request = { prompt: [1, 2, 3], maxTokens: 200, temperature: 0, ignoreEnd: true };
    for await (const _ of model.generate({ ...request, draftTokens: 0 }));
    // The first steps tell how long one takes, the last ones how many tokens are left.
    const steady = events.slice(events.length >> 2, -30);
    const reads = steady.flatMap((event, i) => event === "read" ? [i] : []).slice(0, -1);
    assert(reads.length > 3, `${reads.length} reads`);
    for (const read of reads) assertEquals(steady[read + 1], "submit", steady.join(" "));
  } finally {
    await Deno.remove(path);
  }
});
