// A pause for the event loop, for work that would otherwise keep others from being heard.

/** Lets messages and timers come in between. A timer of 0 ms would take a millisecond or more. */
export function nextTask(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => {
    port1.close();
    resolve();
  };
  port2.postMessage(undefined);
  return promise;
}
