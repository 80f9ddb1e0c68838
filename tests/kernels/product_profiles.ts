// Products as GPUs of other profiles do them, computed: for every step that a tile begins or ends at,
// single and paired, with float and int8 in- and outputs, and by experts, in every kind of format.

import { allocateRouting, floatRows, quantizedRows } from "../../kernels/mod.ts";
import {
  allocateMatrix,
  chooseTile,
  ExpertLinear,
  GpuExpertPairs,
  Linear,
  WebGpuDevice,
} from "../../kernels/webgpu/mod.ts";
import { pretendGpu } from "../pretended_gpu.ts";
import { type Profile } from "../profiles.ts";
import { type Kernels, recordingGpu } from "../recording_gpu.ts";
import { assertExperts } from "./experts_case.ts";
import { assertLinear } from "./linear_case.ts";
import { formatNamed } from "./weights.ts";

/** A product, and the steps that it is tried with. */
export interface ProductCase {
  readonly format: string;
  readonly sides: 1 | 2;
  readonly integer: boolean;
  readonly quantized: boolean;
  /** By experts, of which each row has two. */
  readonly gathered?: boolean;
}

/** Whether all is computed, and not what finishes in less than an hour. */
const SWEEP = Deno.env.has("QUERN_SWEEP");

/** A format of each kind: floats; one scale; with a minimum; two scales; two with a minimum. */
export const KINDS = ["F16", "Q8_0", "Q4_K", "Q6_K", "Q2_K"];

/** Every product of these formats that models have. */
export function productCases(formats: readonly string[]): ProductCase[] {
  return formats.flatMap((format) =>
    [false, true].filter((integer) => !integer || formatNamed(format).kind === "integer")
      .flatMap((integer) =>
        [false, true].flatMap((gathered) => [
          { format, integer, gathered, sides: 1 as const, quantized: false },
          { format, integer, gathered, sides: 2 as const, quantized: integer },
          // Read by a matrix of another kind.
          ...(format === "F16" || format === "Q8_0"
            ? [{ format, integer, gathered, sides: 2 as const, quantized: !integer }]
            : []),
        ])
      )
  );
}

/** Opens what pretends to be a GPU of this profile. */
export function openPretended(profile: Profile): Promise<WebGpuDevice> {
  return WebGpuDevice.open({ gpu: pretendGpu(profile) });
}

/**
 * Steps of which each has a tile of its own, and the last one that has it: kernels differ by tile,
 * and compiling them is what takes time.
 */
export function stepsOf(device: WebGpuDevice, use: ProductCase, most = 72): number[] {
  const tiles = Array.from(
    { length: most },
    (_, i) => JSON.stringify(chooseTile(device.profile, i + 1, use)),
  );
  return tiles.flatMap((tile, i) => tile === tiles[i - 1] && tile === tiles[i + 1] ? [] : [i + 1]);
}

/** Fails unless a product is right for these steps; of a shape that no tile divides. */
export async function assertProduct(
  device: WebGpuDevice,
  product: ProductCase,
  steps: readonly number[],
): Promise<void> {
  const { format, sides, integer, quantized, gathered } = product;
  const rows = 70;
  const weights = formatNamed(format);
  // Of floats, every lane reads some quads at once, and then those that are left. Both sides of a pair
  // begin on a whole word.
  const few = device.canPair(weights, rows, 96) ? 96 : 128;
  const columns = weights.kind === "float" ? 2144 : Math.max(few, weights.blockSize);
  const shape = { format, rows, columns, integer, quantized, paired: sides === 2 };
  // Those that do not accumulate differ in one operator.
  const sums = sides === 1 ? SWEEP ? [true, false] : [true] : [false];
  await device.scoped("multiply", async () => {
    for (const tokens of steps) {
      // Two topK of two experts: as many pairs of each, on average, as there are tokens.
      if (gathered) {
        await assertExperts(device, { ...shape, tokens, experts: 2, topK: 2, perPair: true });
      } else {
        for (const accumulate of sums) {
          await assertLinear(device, { ...shape, tokens, options: { accumulate } });
        }
      }
    }
  });
}

/** The kernels of products with these formats, for steps of 1 to 72 rows. */
export async function productKernels(
  profile: Profile,
  formats: readonly string[],
): Promise<Kernels> {
  const kernels: Kernels = new Map();
  await encodeProducts(recordingGpu(profile, kernels), productCases(formats));
  return kernels;
}

/** Encodes products for steps of 1 to 72 rows, without computing them. */
export async function encodeProducts(gpu: GPU, products: readonly ProductCase[]): Promise<void> {
  using device = await WebGpuDevice.open({ gpu });
  const pass = device.gpu.createCommandEncoder().beginComputePass();
  const [rows, columns, most] = [64, 256, 72];
  const routing = allocateRouting(device, most, { experts: 2, topK: 2 });
  const chosen = new GpuExpertPairs(device, routing, most);
  for (const product of products) {
    const { sides, integer, quantized, gathered = false } = product;
    const format = formatNamed(product.format);
    const x = (integer ? quantizedRows : floatRows)(device, "x", 2 * most, columns);
    const y = (quantized ? quantizedRows : floatRows)(device, "y", 2 * most, rows);
    const shape = { columns, sides, rows: gathered ? 2 * rows : rows, unit: rows };
    const matrix = allocateMatrix(device, "w", format, shape);
    const linears = gathered
      ? [chosen, new ExpertLinear(device, matrix, chosen, x, y, { share: 1 })]
      : [false, true].filter((accumulate) => !accumulate || !quantized)
        .map((accumulate) => new Linear(device, matrix, x, y, { accumulate }));
    for (const step of stepsOf(device, product)) {
      for (const linear of linears) linear.encode(pass, step);
    }
  }
}
