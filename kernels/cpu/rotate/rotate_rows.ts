// Rotation of heads by angles of each row, as for images, in WebAssembly. One item is a row.

import type { FloatRows } from "../../ops/activation.ts";
import type { RotateRowsOptions } from "../../ops/rotate.ts";
import type { Buffer } from "../../operation.ts";
import type { CpuCore } from "../core.ts";
import { addKernel, forItems, inOrder } from "../kernel.ts";
import { cpu } from "../memory.ts";
import { workModule } from "../modules.ts";
import { forFours } from "../vectors.ts";
import { f32x4, i32, type Memory, type ModuleBuilder, shuffleLanes } from "../wasm/mod.ts";

const TAKES = ["x", "stride", "angles", "heads", "headDim", "distance"] as const;

function addRotateRows(module: ModuleBuilder, work: Memory): void {
  addKernel(
    module,
    work,
    { name: "rotate_rows", takes: TAKES },
    (f, given, first, last) =>
      forItems(f, first, last, (row) => {
        const { headDim, distance } = given;
        const anglesOfRow = f.let(i32.add(given.angles, i32.mul(row, i32.mul(headDim, 4))));
        const head = f.let(i32.add(given.x, i32.mul(row, given.stride)));
        const end = f.let(i32.add(head, i32.mul(i32.mul(given.heads, headDim), 4)));
        f.while(i32.lt_u(head, end), () => {
          const angles = f.let(anglesOfRow);
          const nextHead = f.let(i32.add(head, i32.mul(headDim, 4)));
          f.while(i32.lt_u(head, nextHead), () => {
            const other = f.let(i32.add(head, i32.mul(distance, 4)));
            forFours(f, work, distance, (four) => {
              // (cos, sin) of each pair, one after the other.
              const pairs = f.let(i32.add(angles, i32.shl(four.at, 1)));
              const [a, b] = [f.let(work.v128.load(pairs)), f.let(work.v128.load(pairs, 16))];
              const cos = f.let(shuffleLanes(a, b, [0, 2, 4, 6]));
              const sin = f.let(shuffleLanes(a, b, [1, 3, 5, 7]));
              const [x, y] = [f.let(four.load(head)), f.let(four.load(other))];
              four.store(head, f32x4.sub(f32x4.mul(x, cos), f32x4.mul(y, sin)));
              four.store(other, f32x4.add(f32x4.mul(y, cos), f32x4.mul(x, sin)));
            });
            f.increase(angles, i32.mul(distance, 8));
            f.increase(head, i32.mul(distance, 8));
          });
        });
      }),
  );
}

/** Rotates the heads of each row by the row's angles. */
export function rotateRows(
  core: CpuCore,
  x: FloatRows,
  angles: Buffer,
  { heads, headDim, distance }: RotateRowsOptions,
) {
  const kernels = core.kernels("rotate rows", () => workModule(addRotateRows));
  const words = inOrder(TAKES, {
    x: cpu(x.floats).address,
    stride: 4 * x.stride,
    angles: cpu(angles).address,
    ...{ heads, headDim, distance },
  });
  return (rows: number) =>
    core.run([{ kernels, name: "rotate_rows", arguments: words, items: rows }]);
}
