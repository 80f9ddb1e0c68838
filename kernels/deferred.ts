// Operations whose operands have no memory yet, such as the values of a step while its network is
// put together. Their names, reads and writes are known at once; they are bound to a device when
// the memory is there.

import type { Device } from "./device.ts";
import {
  describe,
  makeOn,
  type MakersOf,
  type OperationCall,
  operationMakers,
  withParts,
} from "./makers.ts";
import type { Described } from "./ops/described.ts";
import type { Buffer, FloatRows, Operation, Pass, Work, WorkCounts } from "./operation.ts";

/** A buffer that stands for memory that will be allocated later. */
export abstract class Placeholder implements Buffer {
  abstract readonly label: string;
  abstract readonly size: number;
}

/**
 * The operations of a device on placeholders, which stay data until they are bound.
 * @param memoryOf the memory of a placeholder, asked for when an operation is bound
 */
export function deferred(
  device: Device,
  memoryOf: (placeholder: Placeholder) => Buffer,
): MakersOf<DeferredOperation> {
  const memoryIn = <T>(operand: T): T =>
    withParts(operand, (part) => part instanceof Placeholder ? memoryOf(part) : undefined);
  return operationMakers((name, operands) =>
    new DeferredOperation(
      describe(name, operands),
      { operation: name, operands } as OperationCall,
      () => makeOn(device, name, operands.map(memoryIn) as typeof operands),
    )
  );
}

/** An operation that is bound when its operands have memory. */
export class DeferredOperation implements Operation {
  readonly name: string;
  readonly reads: readonly Buffer[];
  readonly writes: readonly Buffer[];
  readonly output: FloatRows | undefined;
  readonly #work: Operation["work"];
  readonly #make: () => Operation;
  #bound: Operation | undefined;

  /**
   * @param call the operation as data
   * @param make binds it
   */
  constructor(
    { name, reads, writes, output, work }: Described,
    readonly call: OperationCall,
    make: () => Operation,
  ) {
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
