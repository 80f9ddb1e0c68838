// When the host records and submits what a GPU computes: while tokens are read, a real one has to have
// work, and as soon as it is done there has to be more. Nothing is computed here.

import { assert, assertEquals } from "@std/assert";
import { type GenerateRequest, loadModel } from "../../../engine/mod.ts";
import { WebGpuDevice } from "../../../kernels/webgpu/mod.ts";
import { profileNamed } from "../../profiles.ts";
import { recordingGpu } from "../../recording_gpu.ts";
import { writeTinyLlama } from "../../tiny_model.ts";

/** What the host did, in order: recorded commands, submitted some, began to read a buffer, wrote words. */
type Event = "record" | "submit" | "read" | `write ${string}`;

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
        device.queue.writeBuffer = (_buffer, _offset, data) => {
          const bytes = ArrayBuffer.isView(data) ? data.buffer : data as ArrayBuffer;
          events.push(`write ${bytes.byteLength === 16 ? new Uint32Array(bytes) : "more"}`);
        };
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

/** What the host did while a model decoded freely, without the first steps and the last. */
async function eventsOfDecoding(
  gpu: GPU,
  events: Event[],
  options: Partial<GenerateRequest> = {},
): Promise<Event[]> {
  const path = await Deno.makeTempFile({ suffix: ".gguf" });
  try {
    await writeTinyLlama(path, { type: "Q8_0", context: 512 });
    await using model = await loadModel(path, { device: { kind: "webgpu", gpu }, maxSequences: 1 });
    assert(events.includes("read"), "buffers are mapped once while the model loads");
    events.length = 0;
    const request = { prompt: [1, 2, 3], maxTokens: 200, temperature: 0, ignoreEnd: true };
    for await (const _ of model.generate({ ...request, draftTokens: 0, ...options }));
    // The first steps tell how long one takes, the last ones how many tokens are left.
    return events.filter((event) => !event.startsWith("write")).slice(events.length >> 2, -30);
  } finally {
    await Deno.remove(path);
  }
}

/** Indices of all reads but the first and the last. */
function readsIn(events: readonly Event[]): number[] {
  const reads = events.flatMap((event, i) => event === "read" ? [i] : []).slice(1, -1);
  assert(reads.length > 3, `${reads.length} reads`);
  return reads;
}

Deno.test("where reading blocks, a GPU that is done gets the next step before anything else is done", async () => {
  const events: Event[] = [];
  const gpu = notedGpu(events);
  Object.defineProperty(navigator, "gpu", { value: gpu, configurable: true }); // Deno's own
  try {
    const steady = await eventsOfDecoding(gpu, events);
    for (const read of readsIn(steady)) {
      assertEquals(steady[read + 1], "submit", steady.join(" "));
      assertEquals(steady[read - 1], "record", steady.join(" "));
    }
  } finally {
    delete (navigator as { gpu?: GPU }).gpu;
  }
});

Deno.test("under a constraint, the next step is recorded before the token is read, and submitted right after", async () => {
  const events: Event[] = [];
  // The GPU's results are all zero, so that the pattern has to allow token 0.
  const options = { format: { pattern: "[^x]*" }, finish: false };
  const steady = await eventsOfDecoding(notedGpu(events), events, options);
  for (const read of readsIn(steady)) {
    assertEquals(steady[read + 1], "submit", steady.join(" "));
    assertEquals(steady[read - 1], "record", steady.join(" "));
  }
});

Deno.test("where reading does not block, the next step is submitted before it", async () => {
  const events: Event[] = [];
  const steady = await eventsOfDecoding(notedGpu(events), events);
  for (const read of readsIn(steady)) assertEquals(steady[read - 1], "submit", steady.join(" "));
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

Deno.test("what is held back for a read keeps its order, and no other read waits for it", async () => {
  const events: Event[] = [];
  const gpu = notedGpu(events);
  Object.defineProperty(navigator, "gpu", { value: gpu, configurable: true });
  try {
    using device = await WebGpuDevice.open({ gpu });
    const [first, second] = ["first", "second"].map((label) => device.readback(label, 16));
    const buffer = device.buffer("written", 16, "test");
    const hold = () => {
      events.length = 0;
      device.holdFor([first!]);
      const bytes = Uint32Array.of(1, 2, 3, 4);
      device.write(buffer, 0, bytes);
      bytes.fill(0); // It was copied.
      device.submit(device.record().finish());
      assertEquals(events, ["record"]);
    };
    hold();
    await first!.read(4);
    assertEquals(events, ["record", "read", "write 1,2,3,4", "submit"]);
    hold();
    await second!.read(4);
    assertEquals(events, ["record", "write 1,2,3,4", "submit", "read"]);
    hold();
    await device.idle();
    assertEquals(events, ["record", "write 1,2,3,4", "submit"]);
    device.submit(device.record().finish());
    assertEquals(events.slice(3), ["record", "submit"]);
  } finally {
    delete (navigator as { gpu?: GPU }).gpu;
  }
});
