// Runs the sampling kernels over a batch of independent cases and reads the choices back, on every
// device that is to be tested.

import { type Device, openDevice, SAMPLING, SLOT_TOKEN, STEP_ROW } from "../../../kernels/mod.ts";
import {
  BIAS_WORDS,
  hasPenalties,
  packBiases,
  packSampling,
  type SamplingOptions,
} from "../../../kernels/ops/sampling/mod.ts";
import { hasAdapter, webGpuTest } from "../../adapter.ts";
import { otherDevices, readWords, submit } from "../../gpu.ts";
import type { Case } from "./cases.ts";

/** What a batch left behind. */
export interface Result {
  /** Token of each case. */
  readonly tokens: number[];
  /** (token, position) of each case's slot. */
  readonly slots: [number, number][];
}

/** The devices under test. */
export function openDevices(): Promise<{ name: string; device: Device }[]> {
  if (!hasAdapter) webGpuTest("Sampler chooses as the reference does on WebGPU", () => {});
  const kinds = otherDevices() ?? [
    ...hasAdapter ? [{ name: "WebGPU", options: { kind: "webgpu" } } as const] : [],
    { name: "the CPU", options: { kind: "cpu", threads: 1 } },
    { name: "the CPU with 3 threads", options: { kind: "cpu", threads: 3 } },
  ] as const;
  return Promise.all(
    kinds.map(async ({ name, options }) => ({ name, device: await openDevice(options) })),
  );
}

/** Places of the cases in the batch: outputs, rows and slots are numbered independently. */
const rowOf = (index: number, count: number) => count - 1 - index;
const slotOf = (index: number, count: number) => (index + 1) % count;

/** Runs `cases`, all of one vocabulary, as one batch; `times` over, each from the same logits. */
export async function runBatch(
  device: Device,
  cases: readonly Case[],
  times = 1,
): Promise<Result> {
  const count = cases.length;
  const vocabulary = cases[0].logits.length;
  const maskWords = Math.ceil(vocabulary / 32);
  const context = Math.max(1, ...cases.map(({ history }) => history?.length ?? 0));
  const logits = new Float32Array(count * vocabulary);
  const outputs = new Uint32Array(count);
  const rows = new Uint32Array(STEP_ROW.words * count);
  const sampling = new Uint32Array(SAMPLING.words * count);
  const history = new Uint32Array(count * context);
  const mask = new Uint32Array(count * maskWords);
  const biases = new Uint32Array(count * BIAS_WORDS);
  cases.forEach((item, index) => {
    const row = rowOf(index, count);
    const slot = slotOf(index, count);
    logits.set(item.logits, index * vocabulary);
    outputs[index] = row;
    STEP_ROW.write(rows, row, {
      token: 0,
      position: item.position,
      slot,
      time: 0,
      height: 0,
      width: 0,
    });
    sampling.set(packSampling(item.options), SAMPLING.words * slot);
    history.set(Array.from(item.history ?? []), slot * context);
    biases.set(packBiases(item.biases ?? []), slot * BIAS_WORDS);
    if (item.mask) mask.set(item.mask, index * maskWords);
  });
  const upload = (label: string, data: ArrayBufferView<ArrayBuffer>) => {
    const buffer = device.buffer(label, data.byteLength, "test");
    device.write(buffer, 0, data);
    return buffer;
  };
  const buffers = {
    logits: device.buffer("logits", logits.byteLength, "test"),
    outputs: upload("outputs", outputs),
    rows: upload("rows", rows),
    sampling: upload("sampling", sampling),
    history: upload("history", history),
    biases: upload("biases", biases),
    mask: upload("mask", mask),
    sampled: device.buffer("sampled", 4 * count, "test"),
    slots: device.buffer("slots", SLOT_TOKEN.bytes * count, "test"),
  };
  try {
    using sampler = device.sampler({ buffers, vocabulary, context, outputs: count });
    await device.prepare();
    for (let time = 0; time < times; time++) {
      device.write(buffers.logits, 0, logits);
      submit(device, (pass) =>
        sampler.encode(pass, count, {
          penalties: cases.some(({ options }) => hasPenalties(options)),
          biases: cases.some(({ biases }) => biases),
          masks: cases.some(({ options }) => options.masked),
          stochastic: cases.some(({ options }) => options.temperature > 0),
        }));
    }
    const [sampled, slots] = await Promise.all([
      readWords(device, buffers.sampled, count),
      readWords(device, buffers.slots, SLOT_TOKEN.words * count),
    ]);
    return {
      tokens: Array.from(sampled.subarray(0, count)),
      slots: cases.map((_, index) => {
        const slot = slotOf(index, count);
        const { token, position } = SLOT_TOKEN.read(slots, slot);
        return [token, position];
      }),
    };
  } finally {
    for (const buffer of Object.values(buffers)) device.free(buffer);
  }
}

/** The tokens that so many draws from `logits` yield, in order. */
export async function drawn(
  device: Device,
  logits: Float32Array,
  options: SamplingOptions,
  mask?: Uint32Array,
  draws = 500,
): Promise<number[]> {
  const cases = Array.from(
    { length: draws },
    (_, position) => ({ logits, options, position, ...(mask && { mask }) }),
  );
  return [...new Set((await runBatch(device, cases)).tokens)].sort((a, b) => a - b);
}
