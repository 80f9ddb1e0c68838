// The error of the frame machine: types that exceed its limits.

/** A schema that is valid but exceeds the limits of the machine. */
export class MachineError extends Error {
  override readonly name = "MachineError";
}
