// Rows of f32 to int8 groups, for products that read them.

import { type FloatRows, GROUP, type QuantizedRows } from "../ops/activation.ts";
import type { CpuCore } from "./core.ts";
import { cpu } from "./memory.ts";

/** y = x as int8 groups. */
export function quantize(core: CpuCore, x: FloatRows, y: QuantizedRows) {
  const [from, to] = [cpu(x.floats), cpu(y.groups)];
  return (rows: number) => core.quantize(from, to, rows, x.stride / GROUP);
}
