// Turns work that reports its progress into a generator of the reports: the work runs by itself,
// the reader takes reports at its own pace, and when the reader stops, the work ends.

/** The receiver of the work's reports. */
export interface Outlet<T> {
  /** Hands on a report. */
  emit(report: T): void;
  /**
   * Whether the reader has taken all reports. If not, reports that later ones replace can be
   * skipped.
   */
  readonly isDrained: boolean;
}

/**
 * The reports of `work`, then its error if it fails.
 *
 * @param parent ends the work, as leaving the loop over the generator does
 */
export async function* relay<T>(
  work: (outlet: Outlet<T>, signal: AbortSignal) => Promise<void>,
  parent: AbortSignal,
): AsyncGenerator<T> {
  const left = new AbortController();
  const reports: T[] = [];
  let wake = () => {};
  let ended = false;
  const outlet: Outlet<T> = {
    emit(report) {
      reports.push(report);
      wake();
    },
    get isDrained() {
      return reports.length === 0;
    },
  };
  const result = work(outlet, AbortSignal.any([parent, left.signal])).finally(() => {
    ended = true;
    wake();
  });
  result.catch(() => {}); // It is thrown below, after the reports.
  try {
    for (;;) {
      while (reports.length > 0) yield reports.shift()!;
      if (ended) break;
      await new Promise<void>((resolve) => wake = resolve);
    }
    await result;
  } finally {
    left.abort();
    await result.catch(() => {});
  }
}
