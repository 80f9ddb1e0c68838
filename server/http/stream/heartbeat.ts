// A sign of life between the items of a slow source, so that neither a client nor a proxy gives up
// during a long prefill. Knows no wire format.

/**
 * How long a stream is silent before a sign of life, in milliseconds: proxies wait for 30 s and
 * more.
 */
export const HEARTBEAT_MILLISECONDS = 5000;

/** The item that says that nothing came for a while. */
export const HEARTBEAT = Symbol("heartbeat");

/** The items of the source, and a heartbeat whenever none came for a number of milliseconds. */
export async function* withHeartbeat<T>(
  source: Pick<AsyncIterator<T>, "next">,
  milliseconds: number,
): AsyncGenerator<T | typeof HEARTBEAT> {
  for (;;) {
    const next = source.next();
    // A reader may stop at a heartbeat, and then nobody awaits this: its failure must not crash the
    // program.
    next.catch(() => {});
    let result: IteratorResult<T> | undefined;
    while (!result) {
      result = await atMost(milliseconds, next);
      if (!result) yield HEARTBEAT;
    }
    if (result.done) return;
    yield result.value;
  }
}

/** The result of a promise, or undefined if that takes too long. */
async function atMost<T>(milliseconds: number, promise: Promise<T>): Promise<T | undefined> {
  const { promise: over, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), milliseconds);
  try {
    return await Promise.race([promise, over]);
  } finally {
    clearTimeout(timer);
  }
}
