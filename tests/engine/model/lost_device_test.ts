// A device that fails while a model runs on it, as after a reset of its driver: what becomes of answers
// that run, and of the model. The GPU computes nothing, and fails when it is told to.

import { assertEquals, assertRejects } from "@std/assert";
import { type GenerateRequest, loadModel, type Model } from "../../../engine/mod.ts";
import { DeviceFailedError } from "../../../engine/errors.ts";
import { profileNamed } from "../../profiles.ts";
import { recordingGpu } from "../../recording_gpu.ts";
import { writeTinyLlama } from "../../tiny_model.ts";
import { readAnswer } from "../harness.ts";

/** A GPU that fails on demand. */
interface FragileGpu {
  readonly gpu: GPU;
  lose(message: string): void;
  /** From now on no read ends. */
  hang(): void;
  /** Reports an error of a command, as for memory that is not there. */
  report(message: string): void;
}

function fragileGpu(): FragileGpu {
  const plain = recordingGpu(profileNamed("subgroups of 32,32, 32 KiB"), new Map());
  const lost = Promise.withResolvers<GPUDeviceLostInfo>();
  let listener = (_event: unknown) => {};
  let isHung = false;
  const requestAdapter = async () => {
    const adapter = (await plain.requestAdapter())!;
    const requestDevice = async (descriptor?: GPUDeviceDescriptor) => {
      const device = await adapter.requestDevice(descriptor);
      const { createBuffer } = device;
      return Object.assign(device, {
        lost: lost.promise,
        addEventListener: (_type: string, listen: typeof listener) => listener = listen,
        createBuffer(descriptor: GPUBufferDescriptor) {
          const buffer = createBuffer(descriptor);
          const mapAsync = () => isHung ? new Promise(() => {}) : Promise.resolve();
          return Object.assign(buffer, { mapAsync });
        },
      });
    };
    return { ...adapter, requestDevice };
  };
  return {
    gpu: { ...plain, requestAdapter } as unknown as GPU,
    lose: (message) => lost.resolve({ message } as GPUDeviceLostInfo),
    hang: () => isHung = true,
    report: (message) => listener({ error: { message } }),
  };
}

const endless: GenerateRequest = { prompt: "abc", maxTokens: 100_000, ignoreEnd: true };

function lostTest(
  name: string,
  test: (model: Model, fragile: FragileGpu) => Promise<void>,
): void {
  Deno.test(name, async () => {
    const path = await Deno.makeTempFile({ suffix: ".gguf" });
    try {
      await writeTinyLlama(path);
      const fragile = fragileGpu();
      const device = { gpu: fragile.gpu, patience: 300 };
      const model = await loadModel(path, { contextLength: 256, maxSequences: 2, device });
      await test(model, fragile);
      await model.close();
    } finally {
      await Deno.remove(path);
    }
  });
}

/** Runs two answers, and does something once both have begun. */
async function during(model: Model, act: () => void): Promise<Promise<unknown>[]> {
  const begun = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const answers = begun.map(async ({ resolve }) => {
    for await (const { type } of model.generate(endless)) if (type === "text") resolve();
  });
  answers.forEach((answer) => answer.catch(() => {}));
  await Promise.race([Promise.all(begun.map(({ promise }) => promise)), Promise.all(answers)]);
  act();
  return answers;
}

const FAULTS: [name: string, act: (fragile: FragileGpu) => void, says: string][] = [
  ["is lost", ({ lose }) => lose("reset"), "Cannot use the GPU: device lost: reset"],
  [
    "hangs",
    ({ hang }) => hang(),
    "Cannot use the GPU: it has not done its work within 0.3 seconds",
  ],
  [
    "has no memory for a command",
    ({ report }) => report("out of memory"),
    "Cannot run GPU commands: out of memory",
  ],
];

for (const [name, act, says] of FAULTS) {
  lostTest(`answers end with what is so when the device ${name}`, async (model, fragile) => {
    for (const answer of await during(model, () => act(fragile))) {
      await assertRejects(() => answer, DeviceFailedError, says);
    }
    assertEquals((await model.lost)?.message, says);
    await assertRejects(() => readAnswer(model.generate(endless)), DeviceFailedError, says);
    await assertRejects(() => model.embed(["x"]), DeviceFailedError, says);
  });
}

lostTest("a model tells that its device was lost while nobody used it", async (model, { lose }) => {
  lose("unplugged");
  assertEquals((await model.lost)?.message, "Cannot use the GPU: device lost: unplugged");
});

lostTest("a model that is closed was not lost", async (model) => {
  const told = model.lost!.then(() => "lost");
  await model.close();
  assertEquals(await Promise.race([told, Promise.resolve("closed")]), "closed");
});
