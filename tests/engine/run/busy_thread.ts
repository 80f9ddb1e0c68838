// A program whose only thread computes steps, as on the CPU, and serves a socket beside them. Prints how
// often the socket answered while sequences ran, and how many submits of steps there were.

import { add, promptOf, start } from "./scheduler_runs.ts";

/** What a submit takes, in milliseconds. */
const SUBMIT = 3;

const { runner, scheduler } = start();
runner.submitsBlock = true;
const submit = runner.submit.bind(runner);
let submits = 0;
runner.submit = (plan, repeats) => {
  submits++;
  for (const end = performance.now() + SUBMIT; performance.now() < end;);
  return submit(plan, repeats);
};

const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
const client = await Deno.connect({ hostname: "127.0.0.1", port: listener.addr.port });
const served = await listener.accept();
let answers = 0;
void (async () => {
  const byte = new Uint8Array(1);
  while (await served.read(byte) !== null) await served.write(byte);
})();
void (async () => {
  const byte = new Uint8Array(1);
  for (;; answers++) {
    await client.write(byte);
    await client.read(byte);
  }
})();
for (let run = 0; run < 8; run++) await add(scheduler, promptOf(8, run), 200).ended;
Deno.stdout.writeSync(new TextEncoder().encode(JSON.stringify({ answers, submits })));
Deno.exit();
