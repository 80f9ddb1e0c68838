// The clock that programs read, set ahead or stopped by tests that must not depend on how busy a machine
// is. Timers are none of it: they take their time.

const { now: sinceStart } = performance;
const { now: sinceEpoch } = Date;

/** How far the clock is ahead, in milliseconds. */
let ahead = 0;

/** Sets the clock ahead until disposal: `performance.now()` and `Date.now()`. */
export function later(milliseconds: number): Disposable {
  ahead += milliseconds;
  performance.now = () => sinceStart.call(performance) + ahead;
  Date.now = () => sinceEpoch() + ahead;
  return {
    [Symbol.dispose]() {
      ahead -= milliseconds;
      if (ahead > 0) return;
      performance.now = sinceStart;
      Date.now = sinceEpoch;
    },
  };
}

/** Stops `performance.now()` until disposal, so that nothing seems to take longer than something else. */
export function stopped(): Disposable {
  const time = sinceStart.call(performance);
  performance.now = () => time;
  return { [Symbol.dispose]: () => void (performance.now = sinceStart) };
}
