// The methods of devices that make operations, as they follow from the operands (operands.ts): a device
// is a table from the name of an operation to its kernel.

import type { Described } from "./ops/described.ts";
import { operands } from "./operands.ts";
import type { Operation } from "./operation.ts";
import type { ExpertPairs } from "./ops/experts.ts";
import type { Matrix, StackedMatrix } from "./ops/matrix.ts";

export type OperationName = keyof typeof operands;

/** The operands of an operation, in order. */
export type OperandsOf<Name extends OperationName> = Parameters<typeof operands[Name]>;

/** An operation as data. */
export type OperationCall = {
  [Name in OperationName]: { readonly operation: Name; readonly operands: OperandsOf<Name> };
}[OperationName];

/** A method for each operation, which makes something of its operands. */
export type MakersOf<Made> = {
  readonly [Name in OperationName]: (...operands: OperandsOf<Name>) => Made;
};

/** The methods of a device that make operations. */
export type OperationMakers = MakersOf<Operation>;

/** The classes of the operands that a device makes itself. */
export interface OwnClasses {
  readonly matrix: Matrix;
  readonly pairs: ExpertPairs;
}

/** An operand as one device has it. */
type Own<Operand, Classes extends OwnClasses> = Operand extends ExpertPairs ? Classes["pairs"]
  : Operand extends Matrix ? Classes["matrix"]
  : Operand extends readonly StackedMatrix[] ? readonly StackedMatrix<Classes["matrix"]>[]
  : Operand;

type OwnAll<Operands extends readonly unknown[], Classes extends OwnClasses> = {
  [Index in keyof Operands]: Own<Operands[Index], Classes>;
};

/** The operands of an operation, in order, as one device has them. */
export type OwnOperands<Name extends OperationName, Classes extends OwnClasses> = OwnAll<
  OperandsOf<Name>,
  Classes
>;

/** The facts of an operation with these operands. */
export function describe<Name extends OperationName>(
  name: Name,
  given: OperandsOf<Name>,
): Described {
  return (operands[name] as (...given: OperandsOf<Name>) => Described)(...given);
}

/** Calls the method of an operation. */
export function makeOn<Name extends OperationName, Made>(
  makers: MakersOf<Made>,
  name: Name,
  given: OperandsOf<Name>,
): Made {
  const make = makers[name] as (...given: OperandsOf<Name>) => Made;
  return make.apply(makers, given);
}

/** The methods for all operations, each of which calls `make` with its name and its operands. */
export function operationMakers<Made>(
  make: <Name extends OperationName>(name: Name, operands: OperandsOf<Name>) => Made,
): MakersOf<Made> {
  const makers = (Object.keys(operands) as OperationName[]).map((name) =>
    [name, (...given: OperandsOf<typeof name>) => make(name, given)] as const
  );
  return Object.fromEntries(makers) as MakersOf<Made>;
}

/**
 * An operand with some of its parts replaced. An operand without such parts is returned as it is.
 */
export function withParts<T>(operand: T, partOf: (part: object) => object | undefined): T {
  if (typeof operand !== "object" || operand === null) return operand;
  const other = partOf(operand);
  if (other) return other as T;
  if (Object.getPrototypeOf(operand) !== Object.prototype) return operand;
  const parts = Object.entries(operand)
    .map(([name, part]) => [name, part, withParts(part, partOf)] as const);
  if (parts.every(([, before, after]) => before === after)) return operand;
  return Object.fromEntries(parts.map(([name, , part]) => [name, part])) as T;
}
