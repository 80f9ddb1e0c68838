// The twin of a loaded model on the CPU: some of its layers with their weights, and all that belongs to
// no layer. The other layers are on a dry device, which only counts, so that the operations of both are
// put together alike. What an operation of the twin has written is replaced by what the device wrote, so
// that each operation is judged alone, by inputs that both have.

import { type Device, openDevice, openDryDevice } from "../../kernels/mod.ts";
import { type GgufFile, noTensorBytes, type TensorBytes, TensorReader } from "../gguf/mod.ts";
import type { Network, OutputKind, StepLimits } from "../nn/mod.ts";
import type { StepPlan, StepRunner } from "../run/mod.ts";
import type { Placement } from "../weights/mod.ts";
import { operationsOf, outputKeys, type Written } from "./captured_step.ts";
import { compare, type Difference } from "./compare.ts";

/** The options by which a twin is built, besides those of its model. */
export interface TwinOptions {
  readonly limits: StepLimits;
  readonly cacheBlocks: number;
  readonly openTensors: (gguf: GgufFile) => Promise<TensorBytes>;
}

/** Builds the network of a model once more. */
export type BuildTwin = (
  placement: Placement,
  options: TwinOptions,
) => Promise<{ network: Network; runner: StepRunner }>;

/** A model's layers on the CPU. Disposing of it frees all its memory. */
export class Twin implements Disposable {
  readonly #device: Device;
  readonly #runner: StepRunner;
  readonly #network: Network;
  readonly #kind: OutputKind;
  readonly #layers: readonly number[];

  private constructor(
    device: Device,
    { network, runner }: { network: Network; runner: StepRunner },
    kind: OutputKind,
    layers: readonly number[],
  ) {
    this.#device = device;
    this.#network = network;
    this.#runner = runner;
    this.#kind = kind;
    this.#layers = layers;
  }

  /** Builds it. Errors: those of loading its model. */
  static async open(
    build: BuildTwin,
    kind: OutputKind,
    layers: readonly number[],
    sizes: Pick<TwinOptions, "limits" | "cacheBlocks">,
  ): Promise<Twin> {
    const device = await openDevice({ kind: "cpu" });
    try {
      const dry = openDryDevice(device.profile);
      const isWanted = (tensor: string) => {
        const [, layer] = /^blk\.(\d+)\./.exec(tensor) ?? [];
        return layer === undefined || layers.includes(Number(layer));
      };
      const placement: Placement = {
        top: device,
        deviceOf: (tensor) => isWanted(tensor) ? device : dry,
        handOver: () => ({ encode() {} }),
      };
      const built = await build(placement, {
        ...sizes,
        openTensors: async (gguf) => onlySome(await TensorReader.open(gguf), isWanted),
      });
      await built.network.prepare();
      return new Twin(device, built, kind, layers);
    } catch (error) {
      device[Symbol.dispose]();
      throw error;
    }
  }

  /** See `StepExecutor.tileRows`. */
  get tileRows(): number {
    return this.#runner.tileRows;
  }

  /** The memory of its sequences. */
  get memory(): StepRunner["memory"] {
    return this.#runner.memory;
  }

  /** Runs a step, and says where what a device has written in it differs. */
  async differences(plan: StepPlan, written: Written): Promise<Difference[]> {
    const { observer } = this.#runner;
    const all = this.#network.operations(this.#kind);
    const operations = operationsOf(this.#network, this.#kind, this.#layers)
      .filter(({ name }) => name !== "hand over");
    const keys = outputKeys(operations);
    const found: Difference[] = [];
    using _ = observer.tap({}, ({ operation: { index }, values }) => {
      const operation = all[index]!;
      const actual = written.get(keys.get(operation) ?? "");
      if (!actual) return;
      const { name, layer, outputName = "" } = operation;
      found.push({ name, layer, output: outputName, ...compare(actual, values) });
      // What is not finite would be found again in all that follows.
      return actual.every(Number.isFinite) ? actual : undefined;
    });
    await observer.step(plan, async (step) => {
      this.#runner.write(plan);
      await step.run(operations);
    });
    return found;
  }

  [Symbol.dispose](): void {
    this.#device[Symbol.dispose]();
  }
}

/** The bytes of some tensors; those of the others are zeros. */
function onlySome(reader: TensorReader, isWanted: (name: string) => boolean): TensorBytes {
  const sourceOf = (name: string): TensorBytes => isWanted(name) ? reader : noTensorBytes;
  return {
    chunks: (tensor, ...rest) => sourceOf(tensor.name).chunks(tensor, ...rest),
    read: (tensor, ...rest) => sourceOf(tensor.name).read(tensor, ...rest),
    [Symbol.dispose]: () => reader.close(),
  };
}
