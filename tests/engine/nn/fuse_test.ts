// Fusion of norms with what is before them: which lists of operations become what.

import { assert, assertEquals } from "@std/assert";
import { fuse } from "../../../engine/nn/fuse.ts";
import { overRows, type StepOperation } from "../../../engine/nn/step.ts";
import { Scratch } from "../../../engine/nn/scratch.ts";
import { deferred, openDryDevice, quantFormat } from "../../../kernels/mod.ts";
import { deviceProfile, profileNamed } from "../../profiles.ts";

const EPSILON = 1e-5;

/** A residual stream, a value for its norm, and what makes operations of a dry GPU. */
function lab() {
  const device = openDryDevice(deviceProfile(profileNamed("subgroups of 32,32, 32 KiB")));
  const scratch = new Scratch(device);
  const make = deferred(device, (value) => scratch.memoryOf(value));
  const [input, x, y, z] = ["input", "x", "y", "z"].map((label) => scratch.floats(label, 8, 64));
  const matrix = device.matrix("weights", quantFormat(1)!, { rows: 64, columns: 64 });
  const norm = { kind: "rms", epsilon: EPSILON, weight: device.buffer("w", 256, "w") } as const;
  const added = make.linear(matrix, input!, x!, { accumulate: true });
  const normed = make.norm(x!, y!, norm);
  const read = make.linear(matrix, y!, z!);
  const fused = (operations: readonly Parameters<typeof overRows>[0][]) => {
    const list = operations.map((operation): StepOperation => ({ ...overRows(operation), device }));
    return { list, all: fuse(list, [], { makersOf: () => make, scratch }) };
  };
  return { scratch, make, input: input!, x: x!, y: y!, z: z!, norm, added, normed, read, fused };
}

const operands = (operation: StepOperation) => JSON.stringify(operation.over?.call.operands);

Deno.test("a product computes the norm of what it is added to, if products alone read it", () => {
  const { added, normed, read, y, fused } = lab();
  const { all } = fused([added, normed, read]);
  assertEquals(all.map(({ name }) => name), ["linear F16", "norm", "linear F16"]);
  for (const operation of all) assert(operands(operation).includes(`"deferredEpsilon":${EPSILON}`));
  assert(all.every(({ reads, writes }) => ![...reads, ...writes].includes(y.floats)));
  assertEquals(all[0]!.writes.includes(all[2]!.reads[0]!), true);
});

Deno.test("rows that others read, or the host, are normed whole", () => {
  const { scratch, make, added, normed, read, x, y, z, norm, fused } = lab();
  const untouched = (operations: Parameters<typeof fused>[0]) => {
    const { list, all } = fused(operations);
    all.forEach((operation, i) => assert(operation === list[i], operation.name));
  };
  untouched([added, normed, read, make.elementwise("add", { rows: z }, { x: { rows: y } })]);
  untouched([added, read, normed]);
  untouched([added, make.norm(x, y, { ...norm, kind: "layer" }), read]);
  scratch.keep(y.floats);
  untouched([added, normed, read]);
});

Deno.test("a norm computes the norm of what it is added to", () => {
  const { make, input, x, normed, norm, y, read, fused } = lab();
  const { list, all } = fused([make.norm(input, x, norm, { accumulate: true }), normed, read]);
  assertEquals(all[0]!.writes, [x.floats, y.floats]);
  assert(all[0]!.encodeAlone === list[0]!.encode && all[1]!.encodeAlone === list[1]!.encode);
  assert(all[2] === list[2]);
});
