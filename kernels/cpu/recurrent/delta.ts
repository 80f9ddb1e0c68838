// The gated delta rule in WebAssembly. An item is a sequence, a head, and some rows of the head's
// state, [slots, heads, values, keys], which are independent of each other.

import type { FloatRows } from "../../ops/activation.ts";
import type { DeltaInputs, DeltaShape, DeltaWeights, StepSegments } from "../../ops/recurrent.ts";
import type { Buffer } from "../../operation.ts";
import { type CpuCore, floatBits } from "../core.ts";
import { keepCall } from "../kept_calls.ts";
import { addKernel, forItems, inOrder } from "../kernel.ts";
import { cpu } from "../memory.ts";
import { panelModule } from "../modules.ts";
import { sumOfLanes } from "../vectors.ts";
import {
  f32,
  f32x4,
  type I32,
  i32,
  type Local,
  type Memory,
  type ModuleBuilder,
  v128,
} from "../wasm/mod.ts";
import {
  exponentialOf,
  readSegment,
  SEGMENT_ARGUMENTS,
  segmentAddresses,
  sigmoid,
  softplus,
} from "./segment.ts";

/** Rows of the state of an item: keys are normalized once for all of them. */
const VALUES = 32;
/** Vectors of four elements of a key that a loop takes at a time. */
const VECTORS = 4;

const TAKES = [
  ...SEGMENT_ARGUMENTS,
  ...["q", "k", "v", "stride", "alpha", "alphaStride", "beta", "betaStride"] as const,
  ...["y", "yStride", "state", "a", "bias", "epsilon"] as const,
] as const;

function addDelta(
  module: ModuleBuilder,
  work: Memory,
  panel: Memory,
  { heads, keyHeads, dim, tiledHeads = false, vectorGate }: DeltaShape & { vectorGate: boolean },
): void {
  const bytes = 4 * dim;
  const [keys, queries, decays] = [0, bytes, 2 * bytes];
  const zero = v128.const(new Uint8Array(16));
  const parts = Math.ceil(dim / VALUES);
  addKernel(module, work, { name: "delta", takes: TAKES }, (f, given, first, last) => {
    const at = f.local("i32");
    /** Runs `body` for every four of the head's elements. */
    const each = (body: (offset: number) => void) => {
      f.set(at, 0);
      f.forUpTo(at, bytes, 16 * VECTORS, () => {
        for (let i = 0; i < VECTORS; i++) body(16 * i);
      });
    };
    /** Writes a vector of length one into the thread's memory. */
    const readUnit = (from: Local<"i32">, to: number) => {
      const squares = f.let(zero);
      each((offset) => {
        const value = f.let(work.v128.load(i32.add(from, at), offset));
        f.set(squares, f32x4.add(squares, f32x4.mul(value, value)));
      });
      const length = f32.max(f32.sqrt(sumOfLanes(f, squares)), f32.reinterpret_i32(given.epsilon));
      const lengths = f.let(f32x4.splat(length));
      each((offset) => {
        const value = work.v128.load(i32.add(from, at), offset);
        f.do(panel.v128.store(at, f32x4.div(value, lengths), to + offset));
      });
    };
    forItems(f, first, last, (item) => {
      const segment = readSegment(f, work, given, f.let(i32.div_u(item, heads * parts)));
      const head = f.let(i32.div_u(i32.rem_u(item, heads * parts), parts));
      const value = f.let(i32.mul(i32.rem_u(item, parts), VALUES));
      const values = f.let(i32.sub(dim, value));
      f.if(i32.gt_u(values, VALUES), () => f.set(values, VALUES));
      const keyHead = tiledHeads
        ? i32.rem_u(head, keyHeads)
        : i32.div_u(i32.mul(head, keyHeads), heads);
      const keyByte = f.let(i32.mul(keyHead, bytes));
      const valueByte = f.let(i32.add(i32.mul(head, bytes), i32.mul(value, 4)));
      const matrix = f.let(i32.add(
        given.state,
        i32.mul(
          i32.add(i32.mul(i32.add(i32.mul(segment.slot, heads), head), dim), value),
          bytes,
        ),
      ));
      const matrixEnd = f.let(i32.add(matrix, i32.mul(values, bytes)));
      f.if(segment.isFresh, () => {
        const to = f.let(matrix);
        f.forUpTo(to, matrixEnd, 16, () => f.do(work.v128.store(to, zero)));
      });
      const pointer = (base: I32, stride: Local<"i32">) =>
        f.let(i32.add(base, i32.mul(segment.first, stride)));
      const k = pointer(i32.add(given.k, keyByte), given.stride);
      const q = pointer(i32.add(given.q, keyByte), given.stride);
      const v = pointer(i32.add(given.v, valueByte), given.stride);
      const y = pointer(i32.add(given.y, valueByte), given.yStride);
      const beta = pointer(i32.add(given.beta, i32.mul(head, 4)), given.betaStride);
      const alphaByte = f.let(i32.mul(head, vectorGate ? bytes : 4));
      const alpha = pointer(i32.add(given.alpha, alphaByte), given.alphaStride);
      const bias = f.let(i32.add(given.bias, alphaByte));
      const rate = f.let(work.f32.load(i32.add(given.a, i32.mul(head, 4))));
      const row = f.let(i32.const(0));
      f.forUpTo(row, segment.count, 1, () => {
        readUnit(k, keys);
        readUnit(q, queries);
        const strength = f.let(sigmoid(f, work.f32.load(beta)));
        const decayOf = (offset: I32) => {
          const sum = f32.add(
            work.f32.load(i32.add(alpha, offset)),
            work.f32.load(i32.add(bias, offset)),
          );
          return exponentialOf(f, f32.mul(rate, softplus(f, sum)));
        };
        const decay = vectorGate ? undefined : f.let(f32x4.splat(decayOf(0)));
        if (vectorGate) {
          const element = f.let(i32.const(0));
          f.forUpTo(element, bytes, 4, () => {
            f.do(panel.f32.store(element, decayOf(element), decays));
          });
        }
        const decayAt = (offset: number) => decay ?? panel.v128.load(at, decays + offset);
        const both = f.let(zero);
        each((offset) => {
          const product = f32x4.mul(
            panel.v128.load(at, keys + offset),
            panel.v128.load(at, queries + offset),
          );
          f.set(both, f32x4.add(both, product));
        });
        const overlap = f.let(sumOfLanes(f, both));
        const states = f.let(matrix);
        const from = f.let(v);
        const to = f.let(y);
        f.while(i32.lt_u(states, matrixEnd), () => {
          const [known, asked] = [f.let(zero), f.let(zero)];
          each((offset) => {
            const state = f.let(
              f32x4.mul(work.v128.load(i32.add(states, at), offset), decayAt(offset)),
            );
            const key = panel.v128.load(at, keys + offset);
            const query = panel.v128.load(at, queries + offset);
            f.set(known, f32x4.add(known, f32x4.mul(state, key)));
            f.set(asked, f32x4.add(asked, f32x4.mul(state, query)));
          });
          const wrong = f32.sub(work.f32.load(from), sumOfLanes(f, known));
          const change = f.let(f32.mul(strength, wrong));
          // The product of the updated row and q: (S + change k) q = S q + change (k q).
          const answer = f32.add(sumOfLanes(f, asked), f32.mul(change, overlap));
          f.do(work.f32.store(to, f32.mul(answer, 1 / Math.sqrt(dim))));
          const changes = f.let(f32x4.splat(change));
          each((offset) => {
            const address = f.let(i32.add(states, at));
            const state = f32x4.mul(work.v128.load(address, offset), decayAt(offset));
            const added = f32x4.mul(changes, panel.v128.load(at, keys + offset));
            f.do(work.v128.store(address, f32x4.add(state, added), offset));
          });
          f.increase(states, bytes);
          f.increase(from, 4);
          f.increase(to, 4);
        });
        for (const pointer of [k, q, v]) f.increase(pointer, given.stride);
        f.increase(y, given.yStride);
        f.increase(beta, given.betaStride);
        f.increase(alpha, given.alphaStride);
      });
    });
  });
}

/** The gated delta rule, for `segments` sequences. */
export function deltaRule(
  core: CpuCore,
  { qkv, alpha, beta }: DeltaInputs,
  y: FloatRows,
  step: StepSegments,
  state: Buffer,
  { a, bias, vectorGate, epsilon }: DeltaWeights,
  shape: DeltaShape,
) {
  const { heads, keyHeads, dim, tiledHeads = false } = shape;
  const kernels = core.kernels(
    `delta ${[heads, keyHeads, dim, tiledHeads, vectorGate]}`,
    () =>
      panelModule((module, work, panel) => addDelta(module, work, panel, { ...shape, vectorGate })),
  );
  const base = cpu(qkv.rows.floats).address;
  const words = inOrder(TAKES, {
    ...segmentAddresses(step),
    q: base + 4 * qkv.q,
    k: base + 4 * qkv.k,
    v: base + 4 * qkv.v,
    stride: 4 * qkv.rows.stride,
    alpha: cpu(alpha.rows.floats).address + 4 * alpha.first,
    alphaStride: 4 * alpha.rows.stride,
    beta: cpu(beta.rows.floats).address + 4 * beta.first,
    betaStride: 4 * beta.rows.stride,
    y: cpu(y.floats).address,
    yStride: 4 * y.stride,
    state: cpu(state).address,
    a: cpu(a).address,
    bias: cpu(bias).address,
    epsilon: floatBits(epsilon),
  });
  const items = heads * Math.ceil(dim / VALUES);
  return keepCall(
    core,
    (segments: number) => ({ kernels, name: "delta", arguments: words, items: segments * items }),
  );
}
