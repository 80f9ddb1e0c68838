// The causal convolution of columns of x in WebAssembly. An item is a sequence and some channels; the
// state of a slot is its last inputs, [width - 1, channels].

import type { FloatRows } from "../../ops/activation.ts";
import type { ColumnRange, ConvolutionOptions, StepSegments } from "../../ops/recurrent.ts";
import type { Buffer } from "../../operation.ts";
import type { CpuCore } from "../core.ts";
import { keepCall } from "../kept_calls.ts";
import { sigmoidTimes } from "../activate/kernel.ts";
import { addKernel, forItems, inOrder } from "../kernel.ts";
import { cpu } from "../memory.ts";
import { panelModule } from "../modules.ts";
import { clear, forFours } from "../vectors.ts";
import { f32x4, type I32, i32, type Memory, type ModuleBuilder, v128 } from "../wasm/mod.ts";
import { readSegment, SEGMENT_ARGUMENTS, segmentAddresses } from "./segment.ts";

/** Channels of an item, few enough for their weights to fit a thread's own memory. */
const CHUNK = 256;

interface Shape {
  readonly width: number;
  readonly hasBias: boolean;
  readonly silu: boolean;
  readonly gated: boolean;
}

const TAKES = [
  ...SEGMENT_ARGUMENTS,
  ...["x", "stride", "input", "output", "y", "yStride", "state", "channels", "chunks"] as const,
  ...["weight", "bias"] as const,
] as const;

function addConvolution(
  module: ModuleBuilder,
  work: Memory,
  panel: Memory,
  { width, hasBias, silu, gated }: Shape,
): void {
  const history = width - 1;
  addKernel(
    module,
    work,
    { name: "convolution", takes: TAKES },
    (f, given, first, last) =>
      forItems(f, first, last, (item) => {
        const { chunks, channels } = given;
        const segment = readSegment(f, work, given, f.let(i32.div_u(item, chunks)));
        const channel = f.let(i32.mul(i32.rem_u(item, chunks), CHUNK));
        const count = f.let(i32.const(CHUNK));
        const left = f.let(i32.sub(channels, channel));
        f.if(i32.lt_u(left, count), () => f.set(count, left));
        // Weights of the chunk column by column: [width, CHUNK].
        const weight = f.let(i32.add(given.weight, i32.mul(channel, 4 * width)));
        const at = f.let(i32.const(0));
        f.forUpTo(at, i32.mul(count, 4), 4, () => {
          for (let j = 0; j < width; j++) {
            f.do(panel.f32.store(at, work.f32.load(weight, 4 * j), 4 * CHUNK * j));
          }
          f.increase(weight, 4 * width);
        });
        const byte = f.let(i32.mul(channel, 4));
        const states = f.let(i32.add(
          i32.add(given.state, i32.mul(i32.mul(segment.slot, channels), 4 * history)),
          byte,
        ));
        const stateStride = f.let(i32.mul(channels, 4));
        const stateAt = (index: I32) => i32.add(states, i32.mul(index, stateStride));
        f.if(segment.isFresh, () => {
          for (let j = 0; j < history; j++) {
            const to = f.let(stateAt(j));
            forFours(f, work, count, (four) => four.store(to, v128.const(new Uint8Array(16))));
          }
        });
        const begin = f.let(i32.add(i32.mul(segment.first, given.stride), byte));
        const x = f.let(i32.add(given.x, begin));
        const inputGate = i32.add(given.input, begin);
        const rowOf = (base: I32, row: I32) => i32.add(base, i32.mul(row, given.stride));
        const row = f.let(i32.const(0));
        const out = f.let(i32.add(
          i32.add(given.y, i32.mul(segment.first, given.yStride)),
          byte,
        ));
        f.forUpTo(row, segment.count, 1, () => {
          // Each input of a row: one of this step, multiplied by its gate, or one of the state.
          const sources = Array.from({ length: width }, (_, j) => {
            const own = f.let(i32.sub(i32.add(row, j), history));
            const isKept = f.let(i32.lt_s(own, 0));
            const from = f.let(rowOf(x, own));
            const gate = gated ? f.let(rowOf(inputGate, own)) : undefined;
            f.if(isKept, () => f.set(from, stateAt(i32.add(row, j))));
            return { isKept, from, gate };
          });
          const outputGate = gated ? f.let(rowOf(i32.add(given.output, begin), row)) : undefined;
          const bias = hasBias ? f.let(i32.add(given.bias, byte)) : undefined;
          forFours(f, work, count, (four) => {
            const sum = f.let(bias ? four.load(bias) : v128.const(new Uint8Array(16)));
            sources.forEach(({ isKept, from, gate }, j) => {
              const value = f.let(four.load(from));
              if (gate) {
                f.if(i32.eqz(isKept), () => f.set(value, f32x4.mul(value, four.load(gate))));
              }
              const weight = panel.v128.load(four.at, 4 * CHUNK * j);
              f.set(sum, f32x4.add(sum, f32x4.mul(four.kept(weight), value)));
            });
            if (silu) f.set(sum, sigmoidTimes(f, sum, sum));
            if (outputGate) f.set(sum, f32x4.mul(sum, four.load(outputGate)));
            four.store(out, sum);
          });
          f.if(i32.eq(left, count), () => {
            const after = f.let(i32.add(i32.sub(out, byte), given.yStride));
            clear(f, work, i32.add(out, i32.mul(count, 4)), after);
          });
          f.increase(out, given.yStride);
        });
        // The new state is the last inputs; if there are few rows, it keeps some of the old state.
        for (let j = 0; j < history; j++) {
          const to = f.let(stateAt(j));
          const own = f.let(i32.sub(i32.add(segment.count, j), history));
          const isKept = f.let(i32.lt_s(own, 0));
          const from = f.let(rowOf(x, own));
          f.if(isKept, () => f.set(from, stateAt(i32.add(segment.count, j))));
          const gate = gated ? f.let(rowOf(inputGate, own)) : undefined;
          forFours(f, work, count, (four) => {
            const value = f.let(four.load(from));
            if (gate) {
              f.if(i32.eqz(isKept), () => f.set(value, f32x4.mul(value, four.load(gate))));
            }
            four.store(to, value);
          });
        }
      }),
  );
}

/** The causal convolution, for `segments` sequences. */
export function convolution(
  core: CpuCore,
  x: ColumnRange,
  y: FloatRows,
  step: StepSegments,
  state: Buffer,
  { width, weight, bias, silu = false, gates }: ConvolutionOptions,
) {
  const shape: Shape = { width, hasBias: bias !== undefined, silu, gated: gates !== undefined };
  const kernels = core.kernels(
    `convolution ${Object.values(shape)}`,
    () => panelModule((module, work, panel) => addConvolution(module, work, panel, shape)),
  );
  const base = cpu(x.rows.floats).address;
  const chunks = Math.ceil(y.columns / CHUNK);
  const words = inOrder(TAKES, {
    ...segmentAddresses(step),
    x: base + 4 * x.first,
    stride: 4 * x.rows.stride,
    input: gates ? base + 4 * gates.input : 0,
    output: gates ? base + 4 * gates.output : 0,
    y: cpu(y.floats).address,
    yStride: 4 * y.stride,
    state: cpu(state).address,
    channels: y.columns,
    chunks,
    weight: cpu(weight).address,
    bias: bias ? cpu(bias).address : 0,
  });
  return keepCall(
    core,
    (segments: number) => ({
      kernels,
      name: "convolution",
      arguments: words,
      items: segments * chunks,
    }),
  );
}
