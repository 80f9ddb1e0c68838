// The errors of the frame machine: types that exceed its limits, and a document that cannot go on.

/** A schema that is valid but exceeds the limits of the machine. */
export class MachineError extends Error {
  override readonly name: string = "MachineError";
}

/** A document after which nothing may come although it is not complete: a fault of the machine. */
export class DeadEndError extends MachineError {
  constructor() {
    super("nothing may follow in the answer, which is not complete");
  }
}
