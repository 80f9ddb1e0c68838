// The selective scan of Mamba and Mamba 2 in WebAssembly. An item is a sequence and some heads. The
// states of a channel, [slots, channels, states], are kept in local variables over the rows, as
// many as fit. Sums over the others, time steps and decays are kept in the thread's memory for a
// block of rows.

import type { FloatRows } from "../../ops/activation.ts";
import type { ScanInputs, ScanShape, ScanWeights, StepSegments } from "../../ops/recurrent.ts";
import type { Buffer } from "../../operation.ts";
import type { CpuCore } from "../core.ts";
import { keepCall } from "../kept_calls.ts";
import { exponential } from "../activate/kernel.ts";
import { addKernel, forItems, inOrder } from "../kernel.ts";
import { cpu } from "../memory.ts";
import { panelModule } from "../modules.ts";
import { clear, sumOfLanes } from "../vectors.ts";
import { f32, f32x4, i32, type Memory, type ModuleBuilder, v128 } from "../wasm/mod.ts";
import {
  exponentialOf,
  readSegment,
  SEGMENT_ARGUMENTS,
  segmentAddresses,
  sigmoid,
  softplus,
} from "./segment.ts";

/** Rows of a block. */
const ROWS = 64;
/** Local variables with four states each: registers hold half of them beside operands. */
const MOST_VECTORS = 8;
/** Channels of an item of Mamba 1, whose heads have one each. */
const CHANNELS = 16;

const TAKES = [
  ...SEGMENT_ARGUMENTS,
  ...["x", "xStride", "dt", "dtStride", "b", "c", "sharedStride", "z", "zStride"] as const,
  ...["y", "yStride", "state", "a", "d", "bias", "chunks"] as const,
] as const;

function addScan(
  module: ModuleBuilder,
  work: Memory,
  panel: Memory,
  { channels, heads, groups, states, scalarDecay, gated }: ScanShape & {
    scalarDecay: boolean;
    gated: boolean;
  },
): void {
  const perHead = channels / heads;
  const headsOfItem = headsPerItem({ channels, heads });
  const [steps, decays, sums] = [0, 4 * ROWS, 8 * ROWS];
  const zero = v128.const(new Uint8Array(16));
  addKernel(
    module,
    work,
    { name: "scan", takes: TAKES },
    (f, given, first, last) =>
      forItems(f, first, last, (item) => {
        const segment = readSegment(f, work, given, f.let(i32.div_u(item, given.chunks)));
        const head = f.let(i32.mul(i32.rem_u(item, given.chunks), headsOfItem));
        const lastHead = f.let(i32.add(head, headsOfItem));
        f.if(i32.gt_u(lastHead, heads), () => f.set(lastHead, heads));
        const state = f.let(
          i32.add(given.state, i32.mul(segment.slot, 4 * channels * states)),
        );
        f.if(i32.eq(lastHead, heads), () => {
          const row = f.let(i32.const(0));
          const y = f.let(i32.add(given.y, i32.mul(segment.first, given.yStride)));
          f.forUpTo(row, segment.count, 1, () => {
            const next = f.let(i32.add(y, given.yStride));
            clear(f, work, i32.add(y, 4 * channels), next);
            f.set(y, next);
          });
        });
        f.forUpTo(head, lastHead, 1, () => {
          const firstChannel = f.let(i32.mul(head, perHead));
          const own = (channel: typeof firstChannel) =>
            i32.add(state, i32.mul(channel, 4 * states));
          f.if(segment.isFresh, () => {
            const at = f.let(own(firstChannel));
            const end = f.let(i32.add(at, 4 * perHead * states));
            f.forUpTo(at, end, 16, () => f.do(work.v128.store(at, zero)));
          });
          const bias = f.let(work.f32.load(i32.add(given.bias, i32.mul(head, 4))));
          const direct = f.let(work.f32.load(i32.add(given.d, i32.mul(head, 4))));
          const rate = scalarDecay
            ? f.let(work.f32.load(i32.add(given.a, i32.mul(head, 4))))
            : undefined;
          const begin = f.let(segment.first);
          const after = f.let(i32.add(segment.first, segment.count));
          f.while(i32.lt_u(begin, after), () => {
            const rows = f.let(i32.sub(after, begin));
            f.if(i32.gt_u(rows, ROWS), () => f.set(rows, ROWS));
            const end = f.let(i32.mul(rows, 4));
            const at = f.let(i32.const(0));
            const pointer = (base: typeof at, stride: typeof at) =>
              f.let(i32.add(base, i32.mul(begin, stride)));
            const time = pointer(f.let(i32.add(given.dt, i32.mul(head, 4))), given.dtStride);
            f.forUpTo(at, end, 4, () => {
              const step = f.let(softplus(f, f32.add(work.f32.load(time), bias)));
              f.do(panel.f32.store(at, step, steps));
              if (rate) f.do(panel.f32.store(at, exponentialOf(f, f32.mul(step, rate)), decays));
              f.increase(time, given.dtStride);
            });
            const channel = f.let(firstChannel);
            const lastChannel = f.let(i32.add(firstChannel, perHead));
            f.forUpTo(channel, lastChannel, 1, () => {
              const byte = f.let(i32.mul(channel, 4));
              const shared = f.let(i32.mul(
                i32.div_u(i32.mul(channel, groups), channels),
                4 * states,
              ));
              const h = f.let(own(channel));
              const rates = f.let(i32.add(given.a, i32.mul(channel, 4 * states)));
              for (let from = 0; from < states / 4; from += MOST_VECTORS) {
                const vectors = Math.min(MOST_VECTORS, states / 4 - from);
                const offsets = Array.from({ length: vectors }, (_, i) => 16 * (from + i));
                const own = offsets.map((offset) => f.let(work.v128.load(h, offset)));
                const x = pointer(f.let(i32.add(given.x, byte)), given.xStride);
                const b = pointer(f.let(i32.add(given.b, shared)), given.sharedStride);
                const c = pointer(f.let(i32.add(given.c, shared)), given.sharedStride);
                f.set(at, 0);
                f.forUpTo(at, end, 4, () => {
                  const step = f.let(panel.v128.load32_splat(at, steps));
                  const input = f.let(f32x4.mul(step, work.v128.load32_splat(x)));
                  const decay = scalarDecay
                    ? f.let(panel.v128.load32_splat(at, decays))
                    : undefined;
                  const sum = f.let(zero);
                  offsets.forEach((offset, i) => {
                    const kept = decay ?? exponential(
                      f,
                      f.let(f32x4.mul(step, work.v128.load(rates, offset))),
                    );
                    const fresh = f32x4.mul(input, work.v128.load(b, offset));
                    f.set(own[i], f32x4.add(f32x4.mul(own[i], kept), fresh));
                    f.set(sum, f32x4.add(sum, f32x4.mul(own[i], work.v128.load(c, offset))));
                  });
                  const total = sumOfLanes(f, sum);
                  const before = panel.f32.load(at, sums);
                  f.do(panel.f32.store(at, from === 0 ? total : f32.add(before, total), sums));
                  f.increase(x, given.xStride);
                  f.increase(b, given.sharedStride);
                  f.increase(c, given.sharedStride);
                });
                offsets.forEach((offset, i) => f.do(work.v128.store(h, own[i], offset)));
              }
              const x = pointer(f.let(i32.add(given.x, byte)), given.xStride);
              const y = pointer(f.let(i32.add(given.y, byte)), given.yStride);
              const z = gated ? pointer(f.let(i32.add(given.z, byte)), given.zStride) : undefined;
              f.set(at, 0);
              f.forUpTo(at, end, 4, () => {
                const through = f32.mul(direct, work.f32.load(x));
                const sum = f.let(f32.add(panel.f32.load(at, sums), through));
                if (z) {
                  const gate = f.let(work.f32.load(z));
                  f.set(sum, f32.mul(sum, f32.mul(gate, sigmoid(f, gate))));
                  f.increase(z, given.zStride);
                }
                f.do(work.f32.store(y, sum));
                f.increase(x, given.xStride);
                f.increase(y, given.yStride);
              });
            });
            f.increase(begin, rows);
          });
        });
      }),
  );
}

function headsPerItem({ channels, heads }: Pick<ScanShape, "channels" | "heads">): number {
  return Math.max(1, Math.floor(CHANNELS * heads / channels));
}

/** The selective scan, for `segments` sequences. */
export function scan(
  core: CpuCore,
  { x, dt, b, c, z }: ScanInputs,
  y: FloatRows,
  step: StepSegments,
  state: Buffer,
  { a, d, bias, scalarDecay }: ScanWeights,
  shape: ScanShape,
) {
  const { channels, heads, groups, states } = shape;
  const kernels = core.kernels(
    `scan ${[channels, heads, groups, states, scalarDecay, z !== undefined]}`,
    () =>
      panelModule((module, work, panel) =>
        addScan(module, work, panel, { ...shape, scalarDecay, gated: z !== undefined })
      ),
  );
  const addressOf = ({ rows, first }: typeof x) => cpu(rows.floats).address + 4 * first;
  const chunks = Math.ceil(heads / headsPerItem(shape));
  const words = inOrder(TAKES, {
    ...segmentAddresses(step),
    x: addressOf(x),
    xStride: 4 * x.rows.stride,
    dt: addressOf(dt),
    dtStride: 4 * dt.rows.stride,
    b: addressOf(b),
    c: addressOf(c),
    sharedStride: 4 * b.rows.stride,
    z: z ? addressOf(z) : 0,
    zStride: z ? 4 * z.rows.stride : 0,
    y: cpu(y.floats).address,
    yStride: 4 * y.stride,
    state: cpu(state).address,
    a: cpu(a).address,
    d: cpu(d).address,
    bias: cpu(bias).address,
    chunks,
  });
  return keepCall(
    core,
    (segments: number) => ({ kernels, name: "scan", arguments: words, items: segments * chunks }),
  );
}
