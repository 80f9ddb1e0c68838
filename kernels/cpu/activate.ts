// Activation functions of feed-forward blocks on the host's side.

import { type Activation, type FloatRows, GROUP, isQuantized } from "../ops/activation.ts";
import type { ActivateOptions } from "../ops/activation_function.ts";
import type { CpuCore } from "./core.ts";
import { ACTIVATE_ARGUMENTS } from "./activate/kernel.ts";
import { keepCalls } from "./kept_calls.ts";
import { inOrder } from "./kernel.ts";
import { cpu } from "./memory.ts";

/** y = f(x), or f(gate) * up of the halves of each row of x. */
export function activate(
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
