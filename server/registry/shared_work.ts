// Work that several want done at the same time is done once, for all of them, within this process.
// It ends early when the last who wants it has left.

/** Work that is under way. */
interface Running {
  readonly result: Promise<void>;
  readonly controller: AbortController;
  readonly reports: Set<(progress: number) => void>;
}

const running = new Map<string, Running>();

/**
 * Does the work, or waits for whoever does it already. If that one fails, the work is tried by one
 * who waited: they may know another way.
 *
 * @param key the same for the same work, anywhere in this process
 * @param report told the progress, whoever does the work
 */
export async function shareWork(
  key: string,
  work: (report: (progress: number) => void, signal: AbortSignal) => Promise<void>,
  report: (progress: number) => void,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    const existing = running.get(key);
    const joined = existing ?? start(key, work);
    try {
      return await attend(joined, report, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (!existing) throw error;
    }
  }
}

function start(
  key: string,
  work: (report: (progress: number) => void, signal: AbortSignal) => Promise<void>,
): Running {
  const controller = new AbortController();
  const reports = new Set<(progress: number) => void>();
  const tell = (progress: number) => {
    for (const report of reports) report(progress);
  };
  const result = work(tell, controller.signal).finally(() => running.delete(key));
  const started = { result, controller, reports };
  running.set(key, started);
  return started;
}

async function attend(
  { result, controller, reports }: Running,
  report: (progress: number) => void,
  signal: AbortSignal,
): Promise<void> {
  const own = (progress: number) => report(progress);
  reports.add(own);
  const left = Promise.withResolvers<never>();
  const leave = () => {
    reports.delete(own);
    if (reports.size === 0) controller.abort(signal.reason);
    left.reject(signal.reason);
  };
  if (signal.aborted) leave();
  signal.addEventListener("abort", leave, { once: true });
  try {
    await Promise.race([result, left.promise]);
  } catch (error) {
    // Who leaves last waits for the end: the file must be closed when the pull is over.
    if (reports.size === 0) await result.catch(() => {});
    throw error;
  } finally {
    signal.removeEventListener("abort", leave);
    reports.delete(own);
  }
}
