// Sizes of workgroups that reduce one row: a single subgroup where barriers are dear.

import reduceSource from "./reduce.wgsl" with { type: "text" };
import type { Gpu } from "./gpu.ts";

/** Constants and the snippet of reduce.wgsl for this device. */
export function reduction(device: Gpu): {
  constants: { WORKGROUP: number; SUBGROUPS: boolean };
  snippet: string;
} {
  const { software, subgroupSize } = device.capabilities;
  const SUBGROUPS = software && subgroupSize > 1;
  const WORKGROUP = SUBGROUPS ? subgroupSize : software ? 8 : 256;
  return { constants: { WORKGROUP, SUBGROUPS }, snippet: reduceSource };
}
