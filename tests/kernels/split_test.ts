// Two devices as one: the order of what is submitted, written and read, what is handed over, and what
// happens where one of them fails. Both are CPU devices here.

import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import {
  type Device,
  type FloatRows,
  floatRows,
  openDevice,
  SplitDevice,
} from "../../kernels/mod.ts";
import { readFloats } from "../gpu.ts";

const COLUMNS = 32;

const open = () => openDevice({ kind: "cpu", threads: 1 });

/** Rows of a split device, and what adds one to them on each of its devices. */
async function openSplit(gpu?: Device) {
  const split = new SplitDevice(gpu ?? await open(), await open());
  const y = floatRows(split.gpu, "y", 1, COLUMNS);
  const one = split.gpu.buffer("one", COLUMNS * 4, "scratch");
  split.gpu.write(one, 0, new Float32Array(COLUMNS).fill(1));
  const x = { rows: { columns: COLUMNS, stride: COLUMNS, floats: one } };
  const add = (device: Device) => device.elementwise("add", { rows: y }, { x });
  const [onGpu, onCpu] = [add(split.gpu), add(split.cpu)];
  const toCpu = split.handOver(y.floats, split.cpu);
  const toGpu = split.handOver(y.floats, split.gpu);
  await split.gpu.prepare();
  /** Adds one on the GPU, on the CPU and on the GPU again. */
  const submit = () => {
    const recorder = split.gpu.record();
    recorder.pass((pass) => {
      onGpu.encode(pass, 1);
      toCpu.encode(pass, 4 * COLUMNS);
      onCpu.encode(pass, 1);
      toGpu.encode(pass, 4 * COLUMNS);
      onGpu.encode(pass, 1);
    });
    split.gpu.submit(recorder.finish());
  };
  return { split, y, submit };
}

const first = async (device: Device, rows: FloatRows) =>
  (await readFloats(device, rows.floats, COLUMNS))[0];

Deno.test("steps of a split device run one after the other, and reads see those before them", async () => {
  const { split, y, submit } = await openSplit();
  using _ = split;
  submit();
  const after = first(split.gpu, y);
  submit();
  submit();
  assertEquals(await after, 3);
  assertEquals(await first(split.gpu, y), 9);
});

Deno.test("a write between two steps of a split device is seen by the second on both devices", async () => {
  const { split, y, submit } = await openSplit();
  using _ = split;
  submit();
  const values = new Float32Array(COLUMNS).fill(100);
  split.gpu.write(y.floats, 0, values);
  values.fill(-1); // copied when the call returned
  const between = first(split.cpu, y);
  submit();
  assertEquals(await between, 100);
  assertEquals(await first(split.gpu, y), 103);
});

Deno.test("a buffer has memory on the devices that use it, and a cache where it was made", async () => {
  const { split } = await openSplit();
  using _ = split;
  const bytes = (device: Device) => device.allocated.get("cache") ?? 0;
  split.cpu.buffer("keys", 4096, "cache");
  assertEquals([bytes(split.gpu), bytes(split.cpu)], [0, 4096]);
  const before = split.gpu.allocated.get("scratch");
  const unused = split.gpu.buffer("unused", 4096, "scratch");
  split.gpu.write(unused, 0, new Uint8Array(16));
  assertEquals(split.gpu.allocated.get("scratch"), before);
});

Deno.test("a step of a split device that nobody wants any more ends between two devices", async () => {
  const { split, y, submit } = await openSplit();
  using _ = split;
  let asked = false;
  split.gpu.unless(() => asked, submit);
  asked = true;
  await split.gpu.idle();
  assertEquals(await first(split.gpu, y), 1);
});

Deno.test("a hand-over that fails fails what waits for it and all that follows", async () => {
  const gpu = await open();
  const failure = new Error("the device is lost");
  let fails = false;
  const readback: Device["readback"] = (label, bytes) => {
    const own = gpu.readback(label, bytes);
    const readNow = (count: number) => fails ? Promise.reject(failure) : own.readNow(count);
    return { ...own, readNow };
  };
  const failing = new Proxy(gpu, {
    get: (_, name) => {
      if (name === "readback") return readback;
      const value = Reflect.get(gpu, name);
      return typeof value === "function" ? value.bind(gpu) : value;
    },
  });
  const { split, y, submit } = await openSplit(failing);
  using _ = split;
  submit();
  assertEquals(await first(split.gpu, y), 3);
  fails = true;
  submit();
  assertEquals(await assertRejects(() => first(split.gpu, y)), failure);
  assertThrows(() => split.gpu.check(), Error, failure.message);
  assert(await split.gpu.idle().then(() => false, () => true));
});
