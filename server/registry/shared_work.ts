// Work that several callers want at the same time is done once for all of them, within this
// process. It is aborted when the last caller has given up.

/** Work that is under way. */
interface Running {
  readonly result: Promise<void>;
  readonly controller: AbortController;
  readonly reports: Set<(progress: number) => void>;
}

const running = new Map<string, Running>();

/**
 * Does the work, or waits for the caller that does it already. If that one fails, a waiting caller
 * tries the work itself, since it may have other options.
 *
 * @param key the same for the same work, anywhere in this process
 * @param report receives the progress, also if another caller started the work
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
    // The last caller waits for the end of the work, because the file must be closed when the pull
    // is over.
    if (reports.size === 0) await result.catch(() => {});
    throw error;
  } finally {
    signal.removeEventListener("abort", leave);
    reports.delete(own);
  }
}
