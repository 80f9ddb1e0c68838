// The order of work on two devices: work that has to wait for a device delays all work after it, as
// in the queue of a single device. A failure ends all that follows.

/** A queue of work on both devices. */
export class SubmitOrder {
  /** Resolves when the last work is done; missing if nothing is running. */
  #last: Promise<void> | undefined;
  #fault: unknown;

  /** Whether work is running, so that added work has to wait. */
  get isBusy(): boolean {
    return this.#last !== undefined;
  }

  /** Throws the error of failed work. */
  check(): void {
    if (this.#fault !== undefined) throw this.#fault;
  }

  /**
   * Runs work after all that was added before, at once if none of that is running. The result
   * rejects with the error of this or earlier work; it need not be awaited.
   */
  add(work: () => Promise<void> | void): Promise<void> {
    if (!this.#last) {
      this.check();
      const done = work();
      if (!done) return Promise.resolve();
      return this.#follow(done);
    }
    return this.#follow(this.#last.then(() => {
      this.check();
      return work();
    }));
  }

  /** Resolves when all work until now is done. Errors: those of the work. */
  async idle(): Promise<void> {
    await this.#last;
    this.check();
  }

  #follow(done: Promise<void>): Promise<void> {
    const last: Promise<void> = done
      .catch((error) => {
        this.#fault ??= error ?? new Error("Cannot go on: a device failed without a reason");
      })
      .finally(() => {
        if (this.#last === last) this.#last = undefined;
      });
    this.#last = last;
    const told = last.then(() => this.check());
    told.catch(() => {}); // check() and reads report it, too
    return told;
  }
}
