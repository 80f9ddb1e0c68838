// How workgroups reduce a row: in a single subgroup where barriers are expensive, or by shuffles
// within the smallest subgroup of a device and workgroup memory between subgroups.

import reduceSource from "./reduce.wgsl" with { type: "text" };
import type { Constants } from "./template.ts";
import type { Gpu } from "./gpu.ts";

/** Most values that an invocation adds up one after the other. More are summed in two stages. */
const MOST_PARTS = 16;

/** Most invocations of a workgroup that reduces a row, unless a kernel says otherwise. */
const MOST_INVOCATIONS = 256;

/**
 * Constants and the snippet of reduce.wgsl for this device. The constants belong together: a kernel
 * that takes them must not change WORKGROUP.
 * @param most invocations of a workgroup, a power of two
 */
export function reduction(device: Gpu, most: number = MOST_INVOCATIONS): {
  constants: Constants & { WORKGROUP: number; SUBGROUPS: boolean };
  snippet: string;
} {
  const { software, subgroupSize, leastSubgroup } = device.capabilities;
  const SUBGROUPS = software && subgroupSize > 1;
  const WORKGROUP = SUBGROUPS ? subgroupSize : software ? 8 : most;
  const SHUFFLED = software ? 1 : Math.min(WORKGROUP, powerOfTwo(leastSubgroup));
  const parts = WORKGROUP / SHUFFLED;
  const TWO_STAGES = parts > MOST_PARTS;
  const FIRST_STAGE = TWO_STAGES ? MOST_PARTS : 1;
  return {
    constants: {
      WORKGROUP,
      SUBGROUPS,
      SHUFFLES: SHUFFLED > 1,
      SHUFFLED,
      SHUFFLE_STEPS: Math.log2(SHUFFLED),
      TWO_STAGES,
      FIRST_STAGE,
      LAST_STAGE: parts / FIRST_STAGE,
    },
    snippet: reduceSource,
  };
}

/** The largest power of two up to `count`, at least 1. */
function powerOfTwo(count: number): number {
  return 2 ** Math.floor(Math.log2(Math.max(1, count)));
}
