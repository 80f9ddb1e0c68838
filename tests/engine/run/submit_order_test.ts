// When the host records and submits what a GPU computes: while tokens are read, a real one has to have
// work, and as soon as it is done there has to be more. Nothing is computed here.

import { assert, assertEquals } from "@std/assert";
import { loadModel } from "../../../engine/mod.ts";
import { profileNamed } from "../../profiles.ts";
import { recordingGpu } from "../../recording_gpu.ts";
import { writeTinyLlama } from "../../tiny_model.ts";

/** What the host did, in order: recorded commands, submitted some, began to read a buffer. */
type Event = "record" | "submit" | "read";

/** A GPU that computes nothing and notes what is asked of it, and how many commands it got. */
function notedGpu(events: Event[], submitted = { commands: 0 }): GPU {
  const gpu = recordingGpu(profileNamed("subgroups of 32,32, 32 KiB"), new Map());
  return {
    wgslLanguageFeatures: new Set(["packed_4x8_integer_dot_product"]),
    async requestAdapter() {
      const adapter = await gpu.requestAdapter();
      const requestDevice = adapter!.requestDevice.bind(adapter);
      adapter!.requestDevice = async (descriptor) => {
        const device = await requestDevice(descriptor);
        note(device.queue, "submit", "submit", (commands) => (commands as unknown[]).length);
        const { createBuffer, createCommandEncoder } = device;
        device.createBuffer = (descriptor) => note(createBuffer(descriptor), "mapAsync", "read");
        device.createCommandEncoder = () => note(createCommandEncoder(), "finish", "record");
        return device;
      };
      return adapter;
    },
  } as unknown as GPU;

  function note<T extends object>(
    object: T,
    method: keyof T,
    event: Event,
    commandsOf: (argument: unknown) => number = () => 0,
  ): T {
    const call = object[method] as (...args: unknown[]) => unknown;
    return Object.assign(object, {
      [method]: (...args: unknown[]) => {
        events.push(event);
        submitted.commands += commandsOf(args[0]);
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

Deno.test("what is recorded is submitted, however the time of a step varies", async () => {
  const path = await Deno.makeTempFile({ suffix: ".gguf" });
  const now = performance.now;
  try {
    await writeTinyLlama(path, { type: "Q8_0", context: 512 });
    const events: Event[] = [];
    const submitted = { commands: 0 };
    const device = { kind: "webgpu", gpu: notedGpu(events, submitted) } as const;
    await using model = await loadModel(path, { device, maxSequences: 1 });
    // The time of a step varies from submit to submit: 3 to 7 of them take as long as a submit should.
    let [clock, seen, submits] = [now.call(performance), 0, 0];
    performance.now = () => {
      const commands = submitted.commands - seen;
      if (commands > 0) clock += commands * [6, 9, 13, 7, 11][submits++ % 5];
      seen = submitted.commands;
      return clock;
    };
    for (const maxTokens of [200, 77]) {
      events.length = submitted.commands = seen = 0;
      const request = { prompt: [1, 2, maxTokens], maxTokens, temperature: 0, ignoreEnd: true };
      for await (const _ of model.generate({ ...request, draftTokens: 0 }));
      const count = (event: Event) => events.filter((other) => other === event).length;
      assert(count("read") < maxTokens / 2, "most submits are of several tokens");
      assertEquals(count("record"), submitted.commands);
    }
  } finally {
    performance.now = now;
    await Deno.remove(path);
  }
});
