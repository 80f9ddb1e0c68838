// WGSL that several kernels share, with the constants that it needs: structs of packed records, the
// reduction of a row, and activation functions.

import reduceSource from "./reduce.wgsl" with { type: "text" };
import source from "./activation_function.wgsl" with { type: "text" };
import type { ActivationFunction } from "../ops/activation.ts";
import type { Fields, FieldType, RecordLayout } from "../record.ts";
import type { Gpu } from "./gpu.ts";
import type { Constants } from "./template.ts";

// WGSL structs of packed records, made from their definitions.

const TYPES: Record<FieldType, string> = { u32: "u32", f32: "f32", u64: "vec2<u32>" };

/** A snippet that declares a struct for each of these records, with their fields in snake_case. */
export function structs(...layouts: readonly RecordLayout<Fields>[]): string {
  return layouts.map(({ name, fields, bytes }) => {
    const members = Object.entries(fields).map(([field, type], at) => {
      const member = `${snakeCase(field)}: ${TYPES[type]},`;
      // The first member's alignment is that of the struct, and pads it to the length of the
      // record.
      return at === 0 ? `  @align(${Math.min(bytes, 16)}) ${member}` : `  ${member}`;
    });
    return `struct ${name} {\n${members.join("\n")}\n}\n`;
  }).join("");
}

export function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

// How workgroups reduce a row: in a single subgroup where barriers are expensive, or by shuffles
// within the smallest subgroup of a device and workgroup memory between subgroups.

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

// The activation functions of feed-forward blocks in WGSL.

/** The constants and the snippet that define `activate(x)` and `gate(x, up)` in a kernel. */
export function activationFunction(name: ActivationFunction): {
  constants: Record<string, boolean>;
  snippet: string;
} {
  return {
    constants: {
      SILU: name === "silu",
      GELU: name === "gelu",
      GELU_ERF: name === "gelu_erf",
      QUICK_GELU: name === "quick_gelu",
      RELU: name === "relu",
      RELU_SQUARED: name === "relu_squared",
      CLAMPED_SWISH: name === "clamped_swish",
    },
    snippet: source,
  };
}
