// The operations of the CPU device: a table of the functions that bind them to their buffers. They run
// in WebAssembly on threads when they are submitted, one after the other.

import {
  describe,
  type OperationMakers,
  operationMakers,
  type OperationName,
  type OwnOperands,
} from "../makers.ts";
import type { Described } from "../ops/described.ts";
import type { Operation } from "../operation.ts";
import {
  type ActivateOptions,
  type Activation,
  type FloatRows,
  GROUP,
  isQuantized,
  type QuantizedRows,
} from "../ops/activation.ts";
import { ACTIVATE_ARGUMENTS } from "./activate/kernel.ts";
import { attention } from "./attention/bind.ts";
import { columnKernels } from "./columns/mix.ts";
import type { CpuCore } from "./core.ts";
import { embed } from "./embed.ts";
import { combine, type CpuExpertPairs, route } from "./experts/route.ts";
import { keepCall, keepCalls } from "./kept_calls.ts";
import { inOrder } from "./kernel.ts";
import { expertLinear, linear, stackedLinear } from "./linear.ts";
import type { WeightMatrix } from "./matrix.ts";
import { cpu } from "./memory.ts";
import { gatedNorm, norm } from "./norm.ts";
import { convolution } from "./recurrent/convolution.ts";
import { deltaRule } from "./recurrent/delta.ts";
import { scan } from "./recurrent/scan.ts";
import { rotate, rotateRows } from "./rotate/kernel.ts";
import { gatherRows, spanAttention } from "./spans/kernel.ts";

/** A recorded pass: the calls to make when it is submitted. */
export type Call = () => void;

/** What a bound operation does, given its counts. */
export type Run = (...counts: number[]) => void;

/** Binds an operation to its operands. */
type Binder<Operands extends readonly unknown[]> = (core: CpuCore, ...operands: Operands) => Run;

const KERNELS: {
  readonly [Name in OperationName]: Binder<
    OwnOperands<Name, { matrix: WeightMatrix; pairs: CpuExpertPairs }>
  >;
} = {
  ...columnKernels,
  embed,
  norm,
  quantize,
  linear,
  stackedLinear,
  activate,
  rotate,
  rotateRows,
  attention,
  route,
  expertLinear,
  combine,
  convolution,
  scan,
  deltaRule,
  gatedNorm,
  gatherRows,
  spanAttention,
};

/** The methods of a device that make operations. */
export function cpuOperations(core: CpuCore): OperationMakers {
  return operationMakers((name, operands) => {
    // Matrices and pairs that a device is given are those that it made.
    const bind = KERNELS[name] as Binder<readonly unknown[]>;
    return boundOperation(describe(name, operands), bind(core, ...operands));
  });
}

/** An operation that does `run`. */
export function boundOperation(described: Described, run: Run): Operation {
  return {
    ...described,
    encode: (pass, ...counts) => (pass as Call[]).push(() => run(...counts)),
  };
}

/** y = x as int8 groups. */
function quantize(core: CpuCore, x: FloatRows, y: QuantizedRows) {
  const [from, to] = [cpu(x.floats), cpu(y.groups)];
  return keepCall(
    core,
    (rows: number) => ({ ...core.quantizing(from, to, rows, x.stride / GROUP), items: rows }),
  );
}

/** y = f(x), or f(gate) * up of the halves of each row of x. */
function activate(
  core: CpuCore,
  x: FloatRows,
  y: Activation,
  { activation, gated }: ActivateOptions,
) {
  const from = cpu(x.floats).address;
  return keepCalls(core, (rows: number) => {
    const to = isQuantized(y) ? core.temporary(rows * y.stride * 4) : cpu(y.floats);
    const words = inOrder(ACTIVATE_ARGUMENTS, {
      x: from,
      up: gated ? from + 4 * y.stride : 0,
      xStride: 4 * x.stride,
      y: to.address,
      yStride: 4 * y.stride,
      columns: y.stride,
      accumulate: 0,
    });
    const name = `activate_${activation}`;
    const then = isQuantized(y)
      ? core.quantizing(to, cpu(y.groups), rows, y.stride / GROUP)
      : undefined;
    return [[{ kernels: core.common, name, arguments: words, items: rows, then }]];
  });
}
