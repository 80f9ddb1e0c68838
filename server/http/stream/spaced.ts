// A stream of records whose bursts are spread out: several tokens come of one submit to the GPU, and
// clients that parse what one read gives them as one record would fail at two. Knows no wire format.

/** What comes in a burst keeps this distance, in milliseconds: enough for a client to read it. */
const DISTANCE = 3;
/** More in a row than submits give: the source is faster than that, and is not to be held up. */
const MOST_IN_BURST = 16;

/** The items of the source. One that is at hand right after another comes a little later. */
export async function* spaced<T>(source: AsyncIterable<T>): AsyncGenerator<T> {
  let inBurst = 0;
  let given = -Infinity;
  let asked = performance.now();
  for await (const item of source) {
    const now = performance.now();
    inBurst = now - asked < DISTANCE ? inBurst + 1 : 0;
    const early = given + DISTANCE - now;
    if (early > 0 && inBurst <= MOST_IN_BURST) {
      await new Promise((resolve) => setTimeout(resolve, early));
    }
    given = performance.now();
    yield item;
    asked = performance.now();
  }
}
