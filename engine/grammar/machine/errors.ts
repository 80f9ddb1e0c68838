// The error of the frame machine: types that it cannot enforce within its caps.

/** A schema, though readable, is beyond what the machine enforces. */
export class MachineError extends Error {
  override readonly name = "MachineError";
}
