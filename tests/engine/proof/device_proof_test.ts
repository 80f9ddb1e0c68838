// When a device is proved and what follows, with a device and models that are played; and a model whose
// GPU computes nothing, which therefore runs on the CPU.

import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { join } from "node:path";
import { loadModel } from "../../../engine/mod.ts";
import { DeviceProof } from "../../../engine/proof/mod.ts";
import type { Proof } from "../../../engine/proof/mod.ts";
import { type Device, DeviceLostError, type TunedKernel } from "../../../kernels/mod.ts";
import { profileNamed } from "../../profiles.ts";
import { recordingGpu } from "../../recording_gpu.ts";
import { writeTinyLlama } from "../../tiny_model.ts";
import { readAnswer } from "../harness.ts";

const FAULT = { what: "linear Q4_K of layer 0 (qkv), 3 rows", how: "off by 0.5 of the power" };

const MENDED: TunedKernel = {
  of: {
    ...{ kernel: "product", format: "Q4_K", rows: 64, columns: 256, sides: 1 },
    ...{ integer: true, quantized: false, tokens: 4 },
  },
  chosen: "other",
  trials: [{ name: "usual", fault: "wrong" }, { name: "other" }],
};

function proofOf(...faults: Proof["faults"]): Proof {
  return { compared: 1, worst: { error: 0, greatest: 0 }, faults, milliseconds: 5 };
}

/** A device whose kernels can be mended as `mended` says. */
class FakeDevice {
  identity: string | undefined = "a device";
  readonly restored: TunedKernel[] = [];
  constructor(readonly mended: readonly TunedKernel[] = []) {}
  tuner = {
    mend: () => Promise.resolve([...this.mended]),
    restore: (kept: readonly TunedKernel[]) => Promise.resolve(this.restored.push(...kept)),
  };
}

/** A model that is proved with these results, one after the other. */
class FakeModel {
  key = "a model";
  readonly name = "Model";
  proved = 0;
  prepared = 0;
  readonly #results: (Proof | Error)[];

  constructor(...results: (Proof | Error)[]) {
    this.#results = results;
  }

  prove(): Promise<Proof> {
    const result = this.#results[this.proved++]!;
    return result instanceof Error ? Promise.reject(result) : Promise.resolve(result);
  }

  prepare(): Promise<void> {
    this.prepared++;
    return Promise.resolve();
  }
}

interface World {
  folder: string;
  warnings: string[];
  proof(device?: FakeDevice, options?: { version?: string; anew?: boolean }): DeviceProof;
}

function proofTest(name: string, test: (world: World) => Promise<void>): void {
  Deno.test(name, async () => {
    const folder = await Deno.makeTempDir();
    const warnings: string[] = [];
    try {
      await test({
        folder,
        warnings,
        proof: (device = new FakeDevice(), { version = "1", anew = false } = {}) =>
          DeviceProof.of(device as unknown as Device, {
            ...{ folder, version, anew },
            warn: (text) => warnings.push(text),
          })!,
      });
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  });
}

proofTest("a device is proved once for a model, whatever comes of it", async ({ proof }) => {
  for (const [key, faults] of [["right", []], ["wrong", [FAULT]]] as const) {
    const model = Object.assign(new FakeModel(proofOf(...faults)), { key });
    for (let load = 0; load < 3; load++) assertEquals(await proof().faultsOf(model), faults);
    assertEquals(model.proved, 1);
  }
});

proofTest(
  "another version, driver or device is proved again, and who asks for it",
  async (world) => {
    const prove = async (...how: Parameters<World["proof"]>) => {
      const model = new FakeModel(proofOf());
      await world.proof(...how).faultsOf(model);
      return model.proved;
    };
    assertEquals(await prove(), 1);
    assertEquals(await prove(), 0);
    assertEquals(await prove(undefined, { version: "2" }), 1);
    assertEquals(await prove(Object.assign(new FakeDevice(), { identity: "a newer driver" })), 1);
    assertEquals(await prove(undefined, { anew: true }), 1);
    assertEquals(world.warnings, []);
  },
);

proofTest("kernels that are wrong are computed in another way, also later", async ({ proof }) => {
  const device = new FakeDevice([MENDED]);
  const model = new FakeModel(proofOf(FAULT), proofOf());
  assertEquals(await proof(device).faultsOf(model), []);
  assertEquals([model.proved, model.prepared], [2, 1]);
  const later = new FakeDevice();
  await proof(later).restore();
  assertEquals(later.restored, [MENDED]);
});

proofTest(
  "a device that stays wrong after that is told of, and nothing is kept",
  async ({ proof }) => {
    const model = new FakeModel(proofOf(FAULT, FAULT), proofOf(FAULT));
    assertEquals(await proof(new FakeDevice([MENDED])).faultsOf(model), [FAULT]);
    const later = new FakeDevice();
    await proof(later).restore();
    assertEquals(later.restored, []);
  },
);

proofTest("a device that is lost in its proof twice counts as wrong", async ({ proof }) => {
  const lost = new DeviceLostError("Cannot use the GPU: device lost: reset");
  const model = new FakeModel(lost, lost, proofOf());
  for (let load = 0; load < 2; load++) {
    await assertRejects(() => proof().faultsOf(model), DeviceLostError);
  }
  const [fault] = await proof().faultsOf(model);
  assertStringIncludes(fault!.how, "failed in the midst of it");
  assertEquals(model.proved, 2);
  assertEquals(await proof(undefined, { anew: true }).faultsOf(model), []);
  assertEquals(await proof().faultsOf(model), []);
});

proofTest("a file that is damaged is told of, and the device proved again", async (world) => {
  await world.proof().faultsOf(new FakeModel(proofOf()));
  const [{ name }] = [...Deno.readDirSync(world.folder)] as [Deno.DirEntry];
  for (const text of ["{", "null", `{"version":1}`, `{"version":9,"identity":"x"}`]) {
    await Deno.writeTextFile(join(world.folder, name), text);
    const model = new FakeModel(proofOf());
    await world.proof().faultsOf(model);
    assertEquals(model.proved, 1, text);
  }
  assert(world.warnings.every((text) => text.startsWith("Cannot use the proofs in ")));
});

Deno.test("the CPU, with which others are compared, is not proved, nor where it is not wanted", () => {
  const cpu = Object.assign(new FakeDevice(), { identity: undefined }) as unknown as Device;
  assertEquals(DeviceProof.of(cpu, { folder: "/", version: "1" }), undefined);
  assertEquals(DeviceProof.of(new FakeDevice() as unknown as Device, undefined), undefined);
});

Deno.test("a model whose GPU computes wrongly runs on the CPU, and says so", async () => {
  const folder = await Deno.makeTempDir();
  const path = join(folder, "model.gguf");
  try {
    await writeTinyLlama(path);
    const limits = { contextLength: 64, maxSequences: 2 };
    const request = { prompt: "abc", maxTokens: 8, temperature: 0 };
    await using right = await loadModel(path, { ...limits, device: { kind: "cpu" } });
    assertEquals(right.refusal, undefined);
    const { text } = await readAnswer(right.generate(request));
    const name = "subgroups of 32,32, 32 KiB";
    for (let load = 0; load < 2; load++) {
      const dispatches: string[] = [];
      const gpu = recordingGpu(profileNamed(name), new Map(), dispatches);
      const proof = { folder: join(folder, "tuning"), version: "1" };
      await using model = await loadModel(path, { ...limits, device: { gpu }, proof });
      assertEquals((await readAnswer(model.generate(request))).text, text);
      assertEquals(model.memory.onCpu, right.memory.onCpu);
      assertEquals(model.refusal!.device, name);
      assertEquals(model.refusal!.faults[0]!.what, "embed F32 (residual), 5 rows");
      assertStringIncludes(
        model.warnings.at(-1)!,
        `${name} computes the model wrongly, so the CPU answers: embed F32 (residual), 5 rows: off by 1`,
      );
      // What was found out at the first load is known at the second.
      assertEquals(dispatches.length > 0, load === 0);
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
