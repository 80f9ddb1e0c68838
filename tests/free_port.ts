// Ports for programs that are told where to listen.

/** Those from which no system takes ports for clients, or for servers that leave the choice to it. */
const [FIRST, END] = [10_000, 32_768];

/** A port of 127.0.0.1 that nobody listens on, and that no connection is given meanwhile. */
export function freePort(): number {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * (END - FIRST));
    try {
      Deno.listen({ hostname: "127.0.0.1", port }).close();
      return port;
    } catch (error) {
      if (!(error instanceof Deno.errors.AddrInUse)) throw error;
    }
  }
}
