// The devices that kernel tests run on: Deno's own WebGPU; in sweeps, such as that of test:kernels, the same
// without subgroups and packed dot products; with QUERN_DAWN also Dawn, an npm package of 130 MB. Opened
// once per isolate.

import {
  type Buffer,
  type Device,
  type DeviceOptions,
  openDevice,
  type Pass,
} from "../kernels/mod.ts";
import { implementation, requestAdapter, WebGpuDevice } from "../kernels/webgpu/mod.ts";
import { hasAdapter, webGpuTest } from "./adapter.ts";

/** Read a buffer back as f32 values. */
export async function readFloats(
  device: Device,
  buffer: Buffer,
  count: number,
): Promise<Float32Array> {
  return new Float32Array(await readBytes(device, buffer, count * 4));
}

/** Read a buffer back as u32 values. */
export async function readWords(
  device: Device,
  buffer: Buffer,
  count: number,
): Promise<Uint32Array> {
  return new Uint32Array(await readBytes(device, buffer, count * 4));
}

async function readBytes(device: Device, buffer: Buffer, bytes: number): Promise<ArrayBuffer> {
  const readback = device.readback("test", bytes);
  const recorder = device.record();
  recorder.copy(buffer, 0, readback.buffer, 0, bytes);
  device.submit(recorder.finish());
  const copy = await readback.read(bytes);
  readback.free();
  device.check();
  return copy;
}

/** Writes values into a buffer. */
export function write(device: Device, buffer: Buffer, data: Float32Array | Uint32Array): void {
  device.write(buffer, 0, data);
}

/** A new storage buffer with these values. */
export function upload<D extends Device>(
  device: D,
  data: Float32Array | Uint32Array,
): ReturnType<D["buffer"]> {
  const buffer = device.buffer("test", data.byteLength, "test");
  write(device, buffer, data);
  return buffer as ReturnType<D["buffer"]>;
}

/** Records commands in one pass and submits them. */
export function submit(
  device: Device,
  record: (pass: GPUComputePassEncoder & Pass) => void,
): void {
  const recorder = device.record();
  recorder.pass((pass) => record(pass as GPUComputePassEncoder & Pass));
  device.submit(recorder.finish());
}

/**
 * Dawn, another implementation of WebGPU, for the tasks that ask for it; undefined where its package or a
 * driver is missing.
 */
async function findDawn(): Promise<GPU | undefined> {
  if (!Deno.env.has("QUERN_DAWN")) return undefined;
  try {
    const gpu = await implementation("dawn");
    return await requestAdapter(gpu) ? gpu : undefined;
  } catch {
    return undefined;
  }
}

const dawn = hasAdapter ? await findDawn() : undefined;

/** Name and options of every device to test on. */
export const DEVICES: readonly { name: string; options: DeviceOptions }[] = [
  { name: "Deno", options: {} },
  ...(Deno.env.has("QUERN_SWEEP")
    ? [{ name: "Deno, core features", options: { without: ["subgroups", "packedDot"] as const } }]
    : []),
  ...(dawn ? [{ name: "Dawn", options: { gpu: dawn } }] : []),
];

let devices = DEVICES;

/** Has the tests that are registered from now on run on these devices instead, and not on the CPU. */
export function testOn(others: typeof DEVICES): void {
  devices = others;
  cpus = [];
}

/** The devices that {@linkcode testOn} said, if it did. */
export function otherDevices(): typeof DEVICES | undefined {
  return devices === DEVICES ? undefined : devices;
}

/** Devices are opened once per isolate: opening and destroying many makes Dawn hang. */
const opened = new Map<string, Promise<WebGpuDevice>>();

/**
 * Registers a test once per device. Not on Dawn with `dawn: false`: the software driver compiles
 * what Dawn makes of wide tiles for minutes, so a file has Dawn run its narrow variants only.
 */
export function gpuTest(
  name: string,
  run: (device: WebGpuDevice) => Promise<void>,
  { dawn = true } = {},
): void {
  for (const { name: on, options } of devices) {
    if (on === "Dawn" && !dawn) continue;
    webGpuTest(`${name} (${on})`, async () => {
      if (!opened.has(on)) opened.set(on, WebGpuDevice.open(options));
      const device = await opened.get(on)!;
      await device.scoped(`run "${name}"`, () => run(device));
    });
  }
}

/** The CPU, alone and shared out among threads. */
const CPUS = [1, 3].map((threads) => ({
  name: threads === 1 ? "CPU" : `CPU, ${threads} threads`,
  options: { kind: "cpu", threads } as const,
}));

let cpus: readonly (typeof CPUS)[number][] = CPUS;

/** Opened once per isolate. */
const openedCpus = new Map<string, Promise<Device>>();

/** Registers a test once per device: those of gpuTest(), and the CPU. */
export function deviceTest(
  name: string,
  run: (device: Device) => Promise<void>,
  options: { dawn?: boolean } = {},
): void {
  gpuTest(name, run, options);
  cpuTest(name, run);
}

/** Registers a test of the CPU device, with one thread and with several. */
export function cpuTest(name: string, run: (device: Device) => Promise<void>): void {
  for (const { name: on, options } of cpus) {
    Deno.test({
      name: `${name} (${on})`,
      // Threads stay for the tests that follow.
      sanitizeResources: false,
      sanitizeOps: false,
      async fn() {
        if (!openedCpus.has(on)) openedCpus.set(on, openDevice(options));
        const device = await openedCpus.get(on)!;
        await run(device);
        if (options.threads === 1) return;
        // Threads have what the host's thread has run so far.
        await device.prepare();
        await run(device);
      },
    });
  }
}
