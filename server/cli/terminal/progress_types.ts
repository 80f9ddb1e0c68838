// What is told of something that takes long, and who shows it.

/** A state, or how far a count is, in bytes; records of the same status are about the same thing. */
export interface ProgressRecord {
  status: string;
  total?: number;
  completed?: number;
}

/** Shows records until it is disposed of. */
export interface Progress extends Disposable {
  update(record: ProgressRecord): void;
}
