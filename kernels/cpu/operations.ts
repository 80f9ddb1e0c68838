// The operations of the CPU device: a table of the functions that bind them to their buffers. They run
// in WebAssembly on threads when they are submitted, one after the other.

import {
  describe,
  type OperationMakers,
  operationMakers,
  type OperationName,
  type OwnOperands,
} from "../makers.ts";
import type { Described } from "../operands.ts";
import type { Operation } from "../operation.ts";
import { activate } from "./activate.ts";
import { attention } from "./attention/bind.ts";
import { elementwise } from "./columns/elementwise.ts";
import { matchMagnitude, mix, sparsify } from "./columns/mix.ts";
import { combine } from "./experts/combine.ts";
import type { CpuCore } from "./core.ts";
import { embed } from "./embed.ts";
import type { CpuExpertPairs } from "./experts/expert_pairs.ts";
import type { WeightMatrix } from "./matrix.ts";
import { gatedNorm, norm } from "./norm.ts";
import { expertLinear, linear, stackedLinear } from "./linear.ts";
import { quantize } from "./quantize.ts";
import { convolution } from "./recurrent/convolution.ts";
import { deltaRule } from "./recurrent/delta.ts";
import { scan } from "./recurrent/scan.ts";
import { rotate } from "./rotate/bind.ts";
import { rotateRows } from "./rotate/rotate_rows.ts";
import { route } from "./experts/route.ts";

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
  embed,
  norm,
  quantize,
  linear,
  stackedLinear,
  activate,
  elementwise,
  rotate,
  rotateRows,
  attention,
  route,
  expertLinear,
  combine,
  mix,
  matchMagnitude,
  sparsify,
  convolution,
  scan,
  deltaRule,
  gatedNorm,
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
