// A device that lies in a way that a driver may: the CPU, whose operations are spoiled after they ran.

import { CpuDevice } from "../../../kernels/cpu/device.ts";
import type { Device, FloatRows, Operation, Readback } from "../../../kernels/mod.ts";
import type { CpuBuffer } from "../../../kernels/cpu/memory.ts";

/** The rows that an operation has written, to be spoiled in place. */
export interface WrittenRows {
  /** Row by row, without padding. */
  readonly rows: readonly Float32Array[];
}

/** A lie: what is changed of what the device does. */
export interface Lie {
  /** What is wrong with the rows of an operation, by its method. */
  readonly spoil?: { readonly [method: string]: (written: WrittenRows) => void };
  /** What a read gives in place of the bytes. */
  readonly read?: (bytes: ArrayBuffer) => ArrayBuffer;
  /** What a sampler does to the tokens that it has chosen. */
  readonly sample?: (tokens: Uint32Array) => void;
}

/** Opens it. */
export async function lyingDevice(lie: Lie): Promise<Device> {
  return withLie(await CpuDevice.open({ threads: 1 }), lie);
}

function withLie(device: CpuDevice, lie: Lie): Device {
  const { spoil = {}, read, sample } = lie;
  // What was collected runs before a copy.
  const scrap = device.buffer("scrap", 4, "scratch");
  const recorder = device.record();
  recorder.copy(scrap, 0, scrap, 0, 4);
  const flush = recorder.finish() as unknown as readonly (() => void)[];
  const own: Record<string, unknown> = {
    identity: "a device that lies",
    share: () => withLie(device.share(), lie),
  };
  for (const [method, change] of Object.entries(spoil)) {
    const make = device[method as "linear"].bind(device) as (...given: unknown[]) => Operation;
    own[method] = (...given: unknown[]) => {
      const operation = make(...given);
      const spoiled: Operation["encode"] = (pass, ...counts) => {
        operation.encode(pass, ...counts);
        (pass as (() => void)[]).push(...flush, () => {
          const { output } = operation;
          if (output) change({ rows: rowsOf(output, counts[0]) });
        });
      };
      return Object.assign(Object.create(operation), { encode: spoiled });
    };
  }
  if (read) {
    own.readback = (label: string, bytes: number): Readback => {
      const readback = device.readback(label, bytes);
      const lyingRead = async (bytes: number) => read(await readback.readNow(bytes));
      return { ...readback, read: lyingRead, readNow: lyingRead };
    };
  }
  if (sample) {
    own.sampler = (...given: Parameters<Device["sampler"]>) => {
      const sampler = device.sampler(...given);
      const { sampled } = given[0].buffers;
      return {
        encode(pass: Parameters<typeof sampler.encode>[0], outputs: number, needs: never) {
          sampler.encode(pass, outputs, needs);
          (pass as (() => void)[]).push(...flush, () => {
            sample((sampled as CpuBuffer).words.subarray(0, outputs));
          });
        },
        [Symbol.dispose]: () => sampler[Symbol.dispose](),
      };
    };
  }
  return new Proxy<Device>(device, {
    get(target, name) {
      if (name in own) return own[name as string];
      const value = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

function rowsOf({ floats, columns, stride }: FloatRows, count: number): Float32Array[] {
  const all = (floats as CpuBuffer).floats;
  return Array.from(
    { length: count },
    (_, row) => all.subarray(row * stride, row * stride + columns),
  );
}
