// The memory that values of a step share: no operation of any architecture or image encoder reads what
// another value has overwritten, on either device. And what operations say that they read and write,
// on which all of it stands, is what they do.

import { fileURLToPath } from "node:url";
import { assert, assertEquals, assertThrows } from "@std/assert";
import { estimateMemory } from "../../../engine/memory/mod.ts";
import { noTensorBytes, readGguf } from "../../../engine/gguf/mod.ts";
import { assemble, describeModel } from "../../../engine/load/mod.ts";
import { loadModel } from "../../../engine/mod.ts";
import { wholeOn } from "../../../engine/weights/mod.ts";
import { loadImageEncoder } from "../../../engine/vision/mod.ts";
import { Scratch, ScratchError } from "../../../engine/nn/scratch.ts";
import { openDevice, openDryDevice, readDeviceProfile } from "../../../kernels/mod.ts";
import { conformanceTest, DATA, hasData, namesIn, readFixture } from "../../conformance/logits.ts";
import { deviceProfile, profileNamed } from "../../profiles.ts";
import { declarationFaults, gpuFaults, planFaults } from "./declared.ts";

const PROFILES = {
  CPU: await readDeviceProfile({ kind: "cpu" }),
  GPU: deviceProfile(profileNamed("subgroups of 32,32, 32 KiB")),
};

const device = () => openDryDevice(PROFILES.GPU);
const operation = (name: string, reads: object[], writes: object[]) =>
  ({ name, reads, writes }) as Parameters<Scratch["allocate"]>[0][number];

Deno.test("values share memory only where they never live together, the largest first", () => {
  using gpu = device();
  const scratch = new Scratch(gpu);
  const [a, b, c, d] = [64, 32, 128, 32].map((columns) => scratch.floats("x", 8, columns).floats);
  scratch.keep(d);
  scratch.allocate([
    operation("a", [], [a]),
    operation("b", [a], [b]),
    operation("c", [b], [c]),
    operation("d", [c], [d]),
    operation("a last", [c, a], []),
  ]);
  const [memoryA, memoryB, memoryC, memoryD] = [a, b, c, d].map((value) => scratch.memoryOf(value));
  assert(memoryA !== memoryC && memoryB !== memoryC && memoryA !== memoryB, "live together");
  assertEquals(memoryD, memoryB, "never live together");
  assertEquals(gpu.allocated.get("scratch"), (128 + 64 + 32) * 8 * 4);
});

Deno.test("values of different kinds of steps share memory, those that both have keep theirs", () => {
  using gpu = device();
  const scratch = new Scratch(gpu);
  const [a, b, c] = [64, 64, 64].map((columns) => scratch.floats("x", 8, columns).floats);
  scratch.allocate(
    [operation("a", [], [a]), operation("b", [a], [b])],
    [operation("c", [], [c]), operation("a", [], [a]), operation("last", [a, c], [])],
  );
  const [memoryA, memoryB, memoryC] = [a, b, c].map((value) => scratch.memoryOf(value));
  assertEquals(memoryB, memoryC);
  assert(memoryA !== memoryB, "live together in one kind or the other");
});

Deno.test("rows whose last columns stay zero share memory with their like alone", () => {
  using gpu = device();
  const scratch = new Scratch(gpu);
  const values = [40, 64, 40, 50].map((columns) => scratch.floats("x", 8, columns).floats);
  scratch.allocate(values.map((value) => operation("write", [], [value])));
  const [padded, whole, like, other] = values.map((value) => scratch.memoryOf(value));
  assertEquals(padded, like);
  assert(padded !== whole && padded !== other && whole !== other);
});

Deno.test("padded sums of squares share memory with their like alone", () => {
  using gpu = device();
  const scratch = new Scratch(gpu);
  const shapes = [[8, 96], [8, 128], [8, 96], [16, 96], [8, 128]] as const;
  const values = shapes.map(([rows, columns], i) =>
    i === 4
      ? scratch.floats("x", rows, columns).floats
      : scratch.withSquares(scratch.floats("x", rows, columns), 1e-5).floats
  );
  scratch.allocate(values.map((value) => operation("write", [], [value])));
  const [padded, whole, like, other, floats] = values.map((value) => scratch.memoryOf(value));
  assertEquals(padded, like);
  assertEquals(whole, floats);
  assert(padded !== whole && padded !== other && whole !== other);
});

Deno.test("a value that is read before it is written, or named by no operation, has no memory", () => {
  using gpu = device();
  const scratch = new Scratch(gpu);
  const [a, b] = [32, 32].map((columns) => scratch.floats("x", 8, columns).floats);
  assertThrows(() => scratch.memoryOf(a), ScratchError, "is not complete");
  assertThrows(() => scratch.allocate([operation("add", [a], [a])]), ScratchError, '"add"');
  scratch.allocate([operation("write", [], [a])]);
  assertThrows(() => scratch.memoryOf(b), ScratchError, "no operation names it");
});

const FOLDERS = ["architectures", "architectures-more", "text", "embedding"];

/** All models of the conformance data that are known here. */
async function models(): Promise<string[]> {
  const paths: string[] = [];
  for (const folder of hasData ? FOLDERS : []) {
    const names = await namesIn(folder).catch(() => []);
    paths.push(...names.map((name) => fileURLToPath(new URL(`${folder}/${name}.gguf`, DATA))));
  }
  return paths;
}

const isSweep = Deno.env.has("QUERN_SWEEP");

/**
 * The precisions that a model is tried in. Everyday's share is a third of the models in one each, on
 * the two devices in turns; QUERN_SWEEP has all.
 */
function precisionsOf(index: number, turn: number): boolean[] {
  if (isSweep) return [false, true];
  return index % 6 === 3 * turn ? [index % 4 < 2] : [];
}

/** The precisions that the model of this number is tried in on one device: one, or all in a sweep. */
function precisions(index: number): boolean[] {
  return isSweep ? [false, true] : [index % 2 === 0];
}

const isUnknown = (error: Error) => error.name === "UnsupportedModelError";

for (const [turn, [name, profile]] of Object.entries(PROFILES).entries()) {
  conformanceTest(`no architecture overwrites a value that lives, on a ${name}`, async () => {
    let count = 0;
    for (const [index, path] of (await models()).entries()) {
      for (const exact of precisionsOf(index, turn)) {
        const faults = await planFaults(async () => {
          await estimateMemory(path, { maxSequences: 2, contextLength: 64, exact }, {
            gpu: profile,
          })
            .catch((error) => assert(isUnknown(error), error));
        });
        count += faults.plans;
        assertEquals(faults.faults, [], path);
      }
    }
    assert(count > (isSweep ? 100 : 8), `${count} plans`);
  });
}

const ENCODERS = hasData
  ? [...Deno.readDirSync(new URL("vision/", DATA))].filter((entry) => entry.isDirectory)
    .map(({ name }) => name).sort()
  : [];

for (const [name, profile] of Object.entries(PROFILES)) {
  conformanceTest(`no encoder of images overwrites a value that lives, on a ${name}`, async () => {
    for (const [index, encoder] of ENCODERS.entries()) {
      const gguf = await readGguf(new URL(`vision/${encoder}/mmproj.gguf`, DATA));
      for (const exact of precisions(index)) {
        const { faults, plans } = await planFaults(async () => {
          using device = openDryDevice(profile);
          const openTensors = () => Promise.resolve(noTensorBytes);
          using _ = await loadImageEncoder(gguf, device, { exact, openTensors });
        });
        assertEquals([faults, plans], [[], 1], encoder);
      }
    }
  });
}

conformanceTest(
  "kernels of a GPU are bound to what their operations name, and to nothing else",
  async () => {
    for (const [index, path] of (await models()).entries()) {
      const gguf = await readGguf(path);
      for (const exact of precisionsOf(index, 1)) {
        const options = { maxSequences: 2, contextLength: 64, exact };
        const openTensors = () => Promise.resolve(noTensorBytes);
        const faults = await gpuFaults(PROFILES.GPU, async (device) => {
          await assemble(gguf, describeModel(gguf), wholeOn(device), { ...options, openTensors })
            .catch((error) => assert(isUnknown(error), error));
        });
        assertEquals(faults, [], path);
      }
    }
  },
);

conformanceTest("kernels of image encoders are bound to what their operations name", async () => {
  for (const encoder of ENCODERS) {
    const gguf = await readGguf(new URL(`vision/${encoder}/mmproj.gguf`, DATA));
    const openTensors = () => Promise.resolve(noTensorBytes);
    const faults = await gpuFaults(
      PROFILES.GPU,
      (device) => loadImageEncoder(gguf, device, { exact: false, openTensors }),
    );
    assertEquals(faults, [], encoder);
  }
});

/** One of each block; with QUERN_ALL_ARCHITECTURES set, all that there are. */
const DECLARED = [
  "llama-dense",
  "gemma3-dense",
  "gpt-oss-moe",
  "llama4-moe",
  "deepseek2-moe",
  "jamba-dense",
  "granitehybrid-dense",
  "qwen35-dense",
  "lfm2-dense",
];
const all = Deno.env.has("QUERN_ALL_ARCHITECTURES") && hasData
  ? await namesIn("architectures")
  : DECLARED;

for (const [index, name] of all.entries()) {
  conformanceTest(`${name} reads and writes on the CPU what its operations name`, async () => {
    const { model: path, tokens } = await readFixture("architectures", name);
    for (const exact of precisions(index)) {
      const logits = async () => {
        await using model = await loadModel(path, {
          contextLength: 64,
          maxSequences: 2,
          exact,
          prefillChunk: 5,
          device: { kind: "cpu", threads: 1 },
        });
        const [first, second] = [tokens.slice(0, 11), tokens.slice(3, 8)];
        return await model.batchLogits([first, second]);
      };
      const expected = await logits();
      let actual: Float32Array[] = [];
      assertEquals(await declarationFaults(async () => void (actual = await logits())), []);
      assertEquals(actual, expected);
    }
  });
}

for (const name of ENCODERS) {
  conformanceTest(
    `the encoder ${name} reads and writes on the CPU what its operations name`,
    async () => {
      const folder = new URL(`vision/${name}/`, DATA);
      const gguf = await readGguf(new URL("mmproj.gguf", folder));
      const { images } = JSON.parse(await Deno.readTextFile(new URL("manifest.json", folder)));
      const { width, height } = images.cat.preprocessed[0];
      const pixels = Float32Array.from({ length: 3 * width * height }, (_, i) => Math.sin(i * i));
      const encode = async () => {
        using device = await openDevice({ kind: "cpu", threads: 1 });
        using encoder = await loadImageEncoder(gguf, device, { patches: 16 });
        return await encoder.encode(pixels, { width, height });
      };
      const expected = await encode();
      let actual: Float32Array = new Float32Array();
      assertEquals(await declarationFaults(async () => void (actual = await encode())), []);
      assertEquals(actual, expected);
    },
  );
}
