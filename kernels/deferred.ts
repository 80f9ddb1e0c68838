// Operations whose operands have no memory yet, such as the values of a step while its network is
// put together. Their names, reads and writes are known at once; they are bound to a device when
// the memory is there.

import type { Device } from "./device.ts";
import { type Described, operands, withParts } from "./operands.ts";
import type { Buffer, FloatRows, Operation, Pass, Work, WorkCounts } from "./operation.ts";

type Maker = keyof typeof operands;

/** The methods of a device that make operations. */
export type OperationMakers = Pick<Device, Maker>;

/** A buffer that stands for memory that will be allocated later. */
export abstract class Placeholder implements Buffer {
  abstract readonly label: string;
  abstract readonly size: number;
}

/**
 * The operations of a device on placeholders.
 * @param memoryOf the memory of a placeholder, asked for when an operation is bound
 */
export function deferred(
  device: Device,
  memoryOf: (placeholder: Placeholder) => Buffer,
): OperationMakers {
  const makers = Object.keys(operands).map((name) => {
    const make = (...given: unknown[]) => {
      // Each entry of `operands` takes the arguments of the device's method of that name.
      const describe = operands[name as Maker] as (...given: unknown[]) => Described;
      const bind = device[name as Maker] as (...given: unknown[]) => Operation;
      const memoryIn = (operand: unknown) =>
        withParts(operand, (part) => part instanceof Placeholder ? memoryOf(part) : undefined);
      return new DeferredOperation(
        describe(...given),
        () => bind.apply(device, given.map(memoryIn)),
      );
    };
    return [name, make];
  });
  return Object.fromEntries(makers);
}

class DeferredOperation implements Operation {
  readonly name: string;
  readonly reads: readonly Buffer[];
  readonly writes: readonly Buffer[];
  readonly output: FloatRows | undefined;
  readonly #work: Operation["work"];
  readonly #make: () => Operation;
  #bound: Operation | undefined;

  constructor({ name, reads, writes, output, work }: Described, make: () => Operation) {
    this.name = name;
    this.reads = reads;
    this.writes = writes;
    this.output = output;
    this.#work = work;
    this.#make = make;
  }

  work(counts: WorkCounts): Work {
    return this.#bound?.work(counts) ?? this.#work(counts);
  }

  get bound(): Operation {
    return this.#bound ??= this.#make();
  }

  bind(): void {
    this.#bound = this.bound;
  }

  prepare(...most: number[]): void {
    this.bound.prepare?.(...most);
  }

  encode(pass: Pass, ...counts: number[]): void {
    this.bound.encode(pass, ...counts);
  }
}
