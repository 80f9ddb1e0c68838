// Opening devices, of adapters that hide or refuse features or are missing; the account of buffers;
// the errors of devices that are lost or out of memory; kernels compiled once.

import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { DeviceLostError, GpuError, GpuMemoryError } from "../../kernels/mod.ts";
import { WebGpuDevice } from "../../kernels/webgpu/mod.ts";
import { webGpuTest } from "../adapter.ts";

/** What a fake adapter was asked for. */
interface Requests {
  features: string[][];
  limits: Record<string, number>[];
}

/** An implementation whose adapter lists some features and grants some, which may be others. */
function fakeGpu(listed: string[], granted: string[], requests: Requests): GPU {
  const limits = {
    maxStorageBufferBindingSize: 1000,
    maxBufferSize: 2000,
    maxStorageBuffersPerShaderStage: 64,
  };
  const adapter = {
    features: new Set(listed),
    limits,
    info: { description: "Test adapter", subgroupMinSize: 4, subgroupMaxSize: 4 },
    requestDevice({ requiredFeatures = [], requiredLimits = {} }: GPUDeviceDescriptor) {
      requests.features.push([...requiredFeatures]);
      requests.limits.push(requiredLimits as Record<string, number>);
      const refused = requiredFeatures.find((name) => !granted.includes(name));
      if (refused) return Promise.reject(new TypeError(`no ${refused}`));
      const device = Object.assign(new EventTarget(), {
        features: new Set(requiredFeatures),
        limits,
        lost: new Promise(() => {}),
        destroy() {},
      });
      return Promise.resolve(device);
    },
  };
  return { requestAdapter: () => Promise.resolve(adapter) } as unknown as GPU;
}

const noRequests = (): Requests => ({ features: [], limits: [] });

webGpuTest(
  "WebGpuDevice.open() says which package to install where there is no adapter",
  async () => {
    const gpu = { requestAdapter: () => Promise.resolve(null) } as unknown as GPU;
    const error = await assertRejects(
      () => WebGpuDevice.open({ gpu }),
      GpuError,
      "no adapter found",
    );
    assert(error.message.includes("mesa-vulkan-drivers"));
  },
);

webGpuTest("WebGpuDevice.open() uses a feature that the adapter has but hides", async () => {
  const requests = noRequests();
  const gpu = fakeGpu(["timestamp-query"], ["timestamp-query", "subgroups"], requests);
  const { capabilities, description } = await WebGpuDevice.open({ gpu });
  assert(capabilities.subgroups && capabilities.timestamps && !capabilities.software);
  assertEquals(capabilities.subgroupSize, 4);
  assertEquals(description, "Test adapter");
  assertEquals(requests.features.length, 1);
  // Eight storage buffers, which need no request, are all that a kernel may have.
  assertEquals(requests.limits[0], { maxStorageBufferBindingSize: 1000, maxBufferSize: 2000 });
});

webGpuTest(
  "WebGpuDevice.open() drops the features that the adapter refuses and keeps the rest",
  async () => {
    for (const granted of [["timestamp-query"], ["subgroups"], []]) {
      const requests = noRequests();
      const { capabilities } = await WebGpuDevice.open({
        gpu: fakeGpu(granted, granted, requests),
      });
      assertEquals(capabilities.subgroups, granted.includes("subgroups"));
      assertEquals(capabilities.timestamps, granted.includes("timestamp-query"));
      assertEquals(requests.features.at(-1), granted);
    }
  },
);

webGpuTest("WebGpuDevice.open() keeps a listed feature when it drops a hidden one", async () => {
  // Neither refusal says which feature it is about.
  const gpu = fakeGpu(["subgroups"], ["subgroups"], noRequests());
  assert((await WebGpuDevice.open({ gpu })).capabilities.subgroups);
});

webGpuTest("WebGpuDevice.open() fails where an adapter gives no device at all", async () => {
  const adapter = {
    features: new Set(),
    limits: {},
    info: {},
    requestDevice: () => Promise.reject(new Error("out of order")),
  };
  const gpu = { requestAdapter: () => Promise.resolve(adapter) } as unknown as GPU;
  await assertRejects(() => WebGpuDevice.open({ gpu }), GpuError, "out of order");
});

webGpuTest("WebGpuDevice.open() does not use what it shall do without", async () => {
  using device = await WebGpuDevice.open({
    without: ["subgroups", "packedDot"],
    maxBindingSize: 4096,
  });
  const { subgroups, subgroupSize, packedDot } = device.capabilities;
  assertEquals([subgroups, subgroupSize, packedDot], [false, 0, false]);
  assertEquals(device.maxBindingSize, 4096);
});

webGpuTest("WebGpuDevice accounts for its buffers by purpose", async () => {
  using device = await WebGpuDevice.open();
  const first = device.buffer("a", 1, "weights");
  const second = device.buffer("b", 100, "weights");
  device.buffer("c", 32, "scratch");
  assertEquals([first.size, second.size], [16, 112]);
  assertEquals(Object.fromEntries(device.allocated), { weights: 128, scratch: 32 });
  device.free(first);
  device.free(first); // twice is once
  assertEquals(device.allocated.get("weights"), 112);
  device.write(second, 0, new Uint8Array(0));
  device.check();
});

webGpuTest(
  "WebGpuDevice.share() accounts for its own buffers and leaves the GPU open",
  async () => {
    using device = await WebGpuDevice.open();
    const kept = device.buffer("a", 100, "weights");
    const shared = device.share();
    shared.buffer("b", 64, "scratch");
    assertEquals([...shared.allocated], [["scratch", 64]]);
    assertEquals([...device.allocated], [["weights", 112]]);
    shared[Symbol.dispose]();
    assertEquals([...shared.allocated], []);
    device.write(kept, 0, new Uint8Array(16));
    await device.gpu.queue.onSubmittedWorkDone();
    device.check();
  },
);

webGpuTest("WebGpuDevice refuses a buffer beyond its limits and does not count it", async () => {
  using device = await WebGpuDevice.open();
  const create = () => device.buffer("absurd", 2 ** 50, "weights");
  const error = assertThrows(create, GpuMemoryError, '"absurd" of 1073741824.0 MiB');
  assertEquals(error.bytes, 2 ** 50);
  assertEquals(device.allocated.size, 0);
});

webGpuTest("WebGpuDevice.scoped() makes an exception of what the device refuses", async () => {
  using device = await WebGpuDevice.open();
  const create = () => {
    device.kernel({ name: "wrong", source: "@compute @workgroup_size(1) fn main() { wrong(); }" });
  };
  await assertRejects(() => device.scoped("compile", create), GpuError, "Cannot compile");
  assertEquals(await device.scoped("count", () => 3), 3);
});

webGpuTest(
  "WebGpuDevice refuses a kernel with nine storage buffers, even if the adapter has more",
  async () => {
    using device = await WebGpuDevice.open();
    const compile = (buffers: number) => () => {
      const bindings = Array.from(
        { length: buffers },
        (_, i) => `@group(0) @binding(${i}) var<storage, read_write> y${i}: array<u32>;`,
      );
      const main = "@compute @workgroup_size(1) fn main() { y0[0] = 1u; }";
      device.kernel({ name: `${buffers} buffers`, source: [...bindings, main].join("\n") });
    };
    await device.scoped("compile", compile(8));
    await assertRejects(() => device.scoped("compile", compile(9)), GpuError, "Cannot compile");
  },
);

webGpuTest("WebGpuDevice.check() throws what went wrong outside of scopes, once", async () => {
  using device = await WebGpuDevice.open();
  device.gpu.createBuffer({ size: 16, usage: 1 | 2 }); // MAP_READ and MAP_WRITE exclude each other
  await device.gpu.queue.onSubmittedWorkDone();
  assertThrows(() => device.check(), GpuError, "Cannot run GPU commands");
  device.check();
});

webGpuTest("WebGpuDevice is lost with a DeviceLostError that stays", async () => {
  const device = await WebGpuDevice.open();
  device.check();
  device.gpu.destroy();
  const error = await device.lost;
  assert(error instanceof DeviceLostError);
  for (let i = 0; i < 2; i++) assertThrows(() => device.check(), DeviceLostError, "device lost");
  await assertRejects(() => device.scoped("run", () => {}), DeviceLostError);
});

const ADD = `
struct Params {
  value: u32,
}
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> sums: array<u32>;
@compute @workgroup_size(1)
fn main() {
  sums[0] += params.value * FACTOR;
}`;

webGpuTest(
  "WebGpuDevice.kernel() compiles a variant once, and names what is not bound",
  async () => {
    using device = await WebGpuDevice.open();
    const source = { name: "add", source: ADD, constants: { FACTOR: 2 } };
    const kernel = device.kernel(source);
    assert(device.kernel({ ...source, constants: { FACTOR: 2 } }) === kernel);
    assert(device.kernel({ ...source, constants: { FACTOR: 3 } }) !== kernel);
    const sums = device.buffer("sums", 4, "test");
    assertThrows(() => kernel.bind({}, { value: 1 }), GpuError, 'nothing given for "sums"');
    assertThrows(() => kernel.bind({ sums }), GpuError, 'nothing given for "params.value"');
    const more = () => kernel.bind({ sums, other: sums }, { value: 1 });
    assertThrows(more, GpuError, 'it does not declare "other"');
  },
);

webGpuTest(
  "WebGpuDevice.kernel() tells sources of one name apart, and where one snippet ends",
  async () => {
    using device = await WebGpuDevice.open();
    const source = { name: "add", source: ADD, constants: { FACTOR: 2 } };
    const kernel = device.kernel(source);
    const subtracting = device.kernel({ ...source, source: ADD.replace("+=", "-=") });
    assert(subtracting !== kernel && subtracting.code.includes("-="));
    const one = device.kernel({ ...source, snippets: ["const A = 1u;\n", "const B = 2u;\n"] });
    const other = device.kernel({ ...source, snippets: ["const A = 1u;\nconst B = 2u;\n", ""] });
    assert(one !== other && one.code !== other.code);
    const inserting = { ...source, source: `${ADD}\n#insert PART` };
    const [first, second] = ["const A = 1u;", "const A = 2u;"].map((PART) =>
      device.kernel({ ...inserting, parts: { PART } })
    );
    assert(first !== second && first.code !== second.code, "parts");
    assert(device.kernel({ ...source, extensions: [] }) === kernel);
    assert(device.kernel({ ...source, extensions: ["f16"] }).code.includes("enable f16"));
  },
);

webGpuTest("WebGpuDevice.kernel() refuses members of Params that are not one word", async () => {
  using device = await WebGpuDevice.open();
  const compile = (members: string) =>
    device.kernel({
      name: "add",
      source: ADD.replace("value: u32,", members),
      constants: { FACTOR: 2 },
    });
  for (
    const member of [
      "offset: vec2<u32>",
      "offset: array<u32, 4>",
      "offset: vec4u",
      "@align(16) offset: u32",
    ]
  ) {
    const error = assertThrows(() => compile(`${member}, value: u32`), GpuError);
    assert(
      error.message.startsWith(`Cannot compile add: "${member}" of its Params`),
      error.message,
    );
  }
  const sums = device.buffer("sums", 4, "test");
  // Comments are no members, whatever they say; the last comma may be missing.
  compile("first: u32, // of: vec2<u32>,\n/* second: u32, */ value: u32").bind({ sums }, {
    first: 1,
    value: 2,
  });
});

webGpuTest("Kernel.bind() refuses a number that its member cannot hold", async () => {
  using device = await WebGpuDevice.open();
  const kernel = device.kernel({ name: "add", source: ADD, constants: { FACTOR: 2 } });
  const sums = device.buffer("sums", 4, "test");
  for (const value of [1.5, NaN, Infinity, -1, 2 ** 32]) {
    const bind = () => kernel.bind({ sums }, { value });
    assertThrows(bind, GpuError, `"params.value" is a u32, the value ${value}`);
  }
});
