// The choice of tiles on every GPU that tests pretend, without one: a tile that its kernel and the
// device can take comes out for every product, and what tile.ts says that it wants is what the WGSL
// says. Whether the kernels then compute right is for profiles_test.ts.

import { assert, assertEquals, assertThrows } from "@std/assert";
import { floatRows, GpuError, quantizedRows } from "../../kernels/mod.ts";
import {
  allocateMatrix,
  chooseTile,
  columnsOf,
  isStaged,
  Linear,
  rowsOf,
  STAGED,
  type Tile,
  tileFault,
  WebGpuDevice,
  workgroupBytes,
} from "../../kernels/webgpu/mod.ts";
import { deviceProfile, DISTINCT_PROFILES, profileNamed, PROFILES } from "../profiles.ts";
import { demandsOf } from "../kernel_demands.ts";
import { type Kernels, recordingGpu } from "../recording_gpu.ts";
import { productKernels } from "./product_profiles.ts";
import { formatNamed } from "./weights.ts";

const USES = ([1, 2] as const).flatMap((sides) =>
  [true, false].flatMap((integer) =>
    [true, false].map((quantized) => ({ sides, integer, quantized }))
  )
);

/** Up to two staged tiles and one more. */
const MOST_TOKENS = 130;

Deno.test("chooseTile() gives a tile without fault for every profile, product and step", () => {
  for (const profile of PROFILES) {
    const device = deviceProfile(profile);
    for (const use of USES) {
      for (let tokens = 1; tokens <= MOST_TOKENS; tokens++) {
        const tile = chooseTile(device, tokens, use);
        const what = `${profile.name}, ${tokens} tokens, ${JSON.stringify([use, tile])}`;
        assertEquals(tileFault(device, tile, use), undefined, what);
        assert(!use.quantized || rowsOf(tile, use) % 32 === 0, what);
        assert(workgroupBytes(device, tile, use) <= profile.memory, what);
        assert(isStaged(tile) || tile.workgroup <= profile.invocations, what);
      }
    }
  }
});

Deno.test("products of all kinds have tiles as wide as the plan of their experts", () => {
  const most = { sides: 2, integer: false, quantized: true } as const;
  for (const profile of PROFILES) {
    const device = deviceProfile(profile);
    for (let density = 1; density <= MOST_TOKENS; density++) {
      const cols = columnsOf(chooseTile(device, density, most));
      for (const use of USES) {
        assertEquals(columnsOf(chooseTile(device, density, { ...use, cols })), cols);
      }
    }
  }
});

Deno.test("tileFault() says what a tile breaks", () => {
  const device = deviceProfile(profileNamed("subgroups of 32,32, 32 KiB"));
  const small = deviceProfile(profileNamed("no subgroups, 16 KiB"));
  const use = { sides: 2, integer: true, quantized: true } as const;
  const fault = (tile: Tile, of = device) => tileFault(of, tile, use);
  const team = { rows: 4, cols: 4, lanes: 32, workgroup: 256 };
  assertEquals(fault(team), undefined);
  assertEquals(
    fault({ ...team, rows: 2 }),
    "16 outputs of a workgroup are no whole int8 groups of 32",
  );
  assertEquals(fault({ ...team, workgroup: 240 }), "240 invocations are no whole teams of 32");
  assertEquals(fault({ ...team, cols: 3 }), "3 tokens do not divide the padding of activations");
  assertEquals(
    fault({ ...team, workgroup: 2048 }),
    "it wants 2048 invocations, the device has 1024",
  );
  assertEquals(fault({ ...team, rows: 2.5 }), "its numbers are no counts: 256, 32, 2.5, 4");
  const shared = fault(team, small);
  assertEquals(shared, "it wants 33792 bytes of workgroup memory, the device has 16384");
  assertEquals(fault(STAGED, small), undefined);
  const floats = tileFault(small, STAGED, { ...use, integer: false });
  assertEquals(floats, "it wants 24576 bytes of workgroup memory, the device has 16384");
});

Deno.test("the kernels of products want no more than each device has", async () => {
  for (const profile of DISTINCT_PROFILES) {
    for (const [code, name] of await productKernels(profile, ["F16", "Q8_0"])) {
      const { memory, invocations } = demandsOf(code);
      const what = `${name} on ${profile.name}: ${memory} bytes, ${invocations} invocations`;
      assert(memory <= profile.memory && invocations <= profile.invocations, what);
    }
  }
});

Deno.test("workgroupBytes() is what the WGSL of a tile declares", async () => {
  const format = formatNamed("Q8_0");
  for (const profile of [PROFILES[1], profileNamed("no subgroups, 32 KiB")]) {
    const kernels: Kernels = new Map();
    using device = await WebGpuDevice.open({ gpu: recordingGpu(profile, kernels) });
    const pass = device.gpu.createCommandEncoder().beginComputePass();
    for (const use of USES) {
      // The rows of a norm that the product finishes take the most.
      const allocate = use.integer ? quantizedRows : floatRows;
      const x = allocate(device, "x", 72, 256, { deferredEpsilon: 1e-5 });
      const y = (use.quantized ? quantizedRows : floatRows)(device, "y", 72, 64);
      const shape = { rows: 64, columns: 256, sides: use.sides };
      const matrix = allocateMatrix(device, "w", format, shape);
      for (const tokens of [1, 2, 3, 5, 9, 33]) {
        kernels.clear();
        new Linear(device, matrix, x, y).encode(pass, tokens);
        const tile = chooseTile(device.profile, tokens, use);
        const bytes = workgroupBytes(device.profile, tile, use);
        for (const code of kernels.keys()) assertEquals(demandsOf(code).memory, bytes, code);
      }
    }
  }
});

Deno.test("Linear refuses a tile that breaks off in an int8 group", async () => {
  const profile = profileNamed("subgroups of 32,32, 32 KiB");
  using device = await WebGpuDevice.open({ gpu: recordingGpu(profile, new Map()) });
  const pass = device.gpu.createCommandEncoder().beginComputePass();
  const shape = { rows: 64, columns: 256, sides: 2 } as const;
  const matrix = allocateMatrix(device, "gate", formatNamed("Q8_0"), shape);
  const [x, y] = [256, 64].map((columns) => quantizedRows(device, "x", 8, columns));
  const encode = (options: ConstructorParameters<typeof Linear>[4]) => () =>
    new Linear(device, matrix, x, y, options).encode(pass, 8);
  const tile = { rows: 2, cols: 8, lanes: 32, workgroup: 256 };
  assertThrows(encode({ tile }), GpuError, "Cannot multiply by gate in tiles");
  assertThrows(encode({ tile }), GpuError, "16 outputs of a workgroup are no whole int8 groups");
  assertThrows(encode({ first: 16 }), GpuError, "its int8 groups would begin at column 16");
  assertThrows(encode({ accumulate: true }), GpuError, "int8 groups cannot be added to");
  encode({ first: 32 })();
});
