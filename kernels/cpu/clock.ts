// A clock on the operations of a CPU device: how long each takes in all, and how much of that in
// kernels; the rest is TypeScript on the host's thread. While it runs, operations are done one by one.

/** What an operation took, in milliseconds. */
export interface OperationTime {
  calls: number;
  /** In all. */
  total: number;
  /** Of these, while kernels ran. */
  kernels: number;
}

/** Takes the time of operations, by their names. */
export class OperationClock {
  readonly operations = new Map<string, OperationTime>();
  #kernels = 0;

  /** Forgets what was taken. */
  reset(): void {
    this.operations.clear();
  }

  /** Takes the time of an operation, which has to be done when `run` returns. */
  operation(name: string, run: () => void): void {
    let time = this.operations.get(name);
    if (!time) this.operations.set(name, time = { calls: 0, total: 0, kernels: 0 });
    this.#kernels = 0;
    const started = performance.now();
    run();
    time.total += performance.now() - started;
    time.kernels += this.#kernels;
    time.calls++;
  }

  /** Counts what `run` takes as the time of kernels. */
  inKernels(run: () => void): void {
    const started = performance.now();
    run();
    this.#kernels += performance.now() - started;
  }
}
