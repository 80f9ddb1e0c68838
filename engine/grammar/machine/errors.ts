// The errors of the frame machine: types that exceed its limits, and a document that cannot go on.

/** A schema that is valid but exceeds the limits of the machine. */
export class MachineError extends Error {
  override readonly name: string = "MachineError";
}

/** A document after which nothing may come although it is not complete: a fault of the machine. */
export class DeadEndError extends MachineError {
  override readonly name = "DeadEndError";
  /** @param place keys and indices that lead to the value that cannot go on */
  constructor(readonly place: readonly (string | number)[]) {
    super(`nothing may follow in the answer's ${JSON.stringify(place)}, which is not complete`);
  }
}
