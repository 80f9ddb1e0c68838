// What operations hand to the core: kernels with their arguments, over items. Here they become operations
// of the pool, whose arguments are words in memory.

import type { CpuBuffer } from "./memory.ts";
import type { LinkedKernel, PoolOperation } from "./step.ts";

/** Numbers of a module's kernels in the pool, by name. */
export type Kernels = Readonly<Record<string, number>>;

/** A kernel with its arguments. */
export interface BoundKernel {
  readonly kernels: Kernels;
  readonly name: string;
  /** Words in memory. */
  readonly arguments: readonly number[];
  /** Items of it for each item of the call. Default 1. */
  readonly per?: number;
  /** A kernel that a thread runs for the same items when it has done these. */
  readonly then?: BoundKernel | undefined;
}

/** A kernel over items. */
export interface KernelCall extends BoundKernel {
  readonly items: number;
  /** Most items that a thread takes at once. Default: a fraction of its share. */
  readonly grain?: number;
  /** Items are taken by multiples of this number. Default 1. */
  readonly multiple?: number | undefined;
  /** Whether it is over so soon that threads own items; see ownedItems(). */
  readonly isBrief?: boolean;
}

/** Calls whose arguments are in memory, ready for steps. */
export interface KeptCalls {
  readonly phases: readonly (readonly PoolOperation[])[];
  readonly memory: CpuBuffer;
}

/** The pool's operation of a call. @param write writes arguments, and returns their address */
export function operationOf(
  call: KernelCall,
  write: (words: readonly number[]) => number,
): PoolOperation {
  const { items, grain: most, multiple, isBrief } = call;
  return { ...linked(call, write), items, most, multiple, isBrief };
}

function linked(
  { kernels, name, arguments: words, per, then }: BoundKernel,
  write: (words: readonly number[]) => number,
): LinkedKernel {
  const record = write(words);
  return { kernel: kernels[name]!, record, per, then: then && linked(then, write) };
}

/** Words of the arguments of a kernel and of those that follow it. */
export function wordsOf({ arguments: words, then }: BoundKernel): number {
  return words.length + (then ? wordsOf(then) : 0);
}
