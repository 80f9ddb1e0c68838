// Long work on a thread that others need, cut so that they have a turn every few milliseconds: in a
// server the thread of requests, whose new connections nextTask() would keep waiting.

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

/** Runs work that yields now and then, and pauses there when it is time. Gives what it returns. */
export async function inSlices<T>(work: Iterator<void, T>): Promise<T> {
  const slice = new TimeSlice();
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
    if (slice.isOver) await slice.pause();
  }
}
