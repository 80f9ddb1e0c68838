// The order of what two devices do for one another: work that has to wait for a device holds up what
// comes after it, as a device's own queue does. What fails ends all that follows.

/** A queue of work on both devices. */
export class SubmitOrder {
  /** Resolves when the last of the work is done; missing where none is under way. */
  #last: Promise<void> | undefined;
  #fault: unknown;

  /** Whether work is under way, so that what is added has to wait. */
  get isBusy(): boolean {
    return this.#last !== undefined;
  }

  /** Throws what failed. */
  check(): void {
    if (this.#fault !== undefined) throw this.#fault;
  }

  /**
   * Does work after all that came before: at once if none of that is under way.
   * The result rejects with what failed, in it or before it; nobody has to wait for it.
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

  /** Resolves when all work until now is done. Errors: what failed. */
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
    told.catch(() => {}); // told by check() and by reads, too
    return told;
  }
}
