// Waiting for what other tasks, threads or processes do.

/** Long enough for a machine that has much else to do: whoever waits for it in vain has failed. */
const PATIENCE_MILLISECONDS = 120_000;

/**
 * Waits until the condition holds, and looks every few milliseconds.
 *
 * @param what it says where it never does
 */
export async function until(
  condition: () => boolean | Promise<boolean>,
  what = "Expected the condition to come true",
): Promise<void> {
  for (const began = Date.now(); !await condition();) {
    if (Date.now() - began > PATIENCE_MILLISECONDS) throw new Error(what);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}
