// Promises that fail while nobody awaits them, which ends a program of Deno: a server, or a whole group
// of tests.

/** The reasons of all that fails unheard during some work, which has to await what is to be heard. */
export async function unheardDuring(work: () => Promise<unknown>): Promise<unknown[]> {
  const reasons: unknown[] = [];
  const note = (event: PromiseRejectionEvent) => {
    event.preventDefault();
    reasons.push(event.reason);
  };
  globalThis.addEventListener("unhandledrejection", note);
  try {
    await work();
    // A failure counts as unheard at the end of its turn of the event loop.
    await new Promise((resolve) => setTimeout(resolve));
  } finally {
    globalThis.removeEventListener("unhandledrejection", note);
  }
  return reasons;
}
