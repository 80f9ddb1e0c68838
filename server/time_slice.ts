// Long work on the main thread, cut so that everybody else has a turn every few milliseconds.

/** How long others wait at most, in milliseconds; several such works share the thread. */
const SLICE_MILLISECONDS = 8;

/** The time that a work has before it has to let others have theirs. */
export class TimeSlice {
  #end = performance.now() + SLICE_MILLISECONDS;

  /** Whether it is time to pause. */
  get isOver(): boolean {
    return performance.now() >= this.#end;
  }

  /** Lets everybody else have a turn; a new slice begins. */
  async pause(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve));
    this.#end = performance.now() + SLICE_MILLISECONDS;
  }
}
