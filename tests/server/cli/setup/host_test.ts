// The machine itself, as the set-up reaches it: commands, their failures, the lock between processes.

import { assertEquals } from "@std/assert";
import { localHost } from "../../../../server/cli/setup/host.ts";

const script = (code: string) => [Deno.execPath(), "eval", "--no-config", "--no-lock", code];

Deno.test("localHost().run() passes input and returns output", async () => {
  const echo = script("await Deno.stdin.readable.pipeTo(Deno.stdout.writable)");
  const outcome = await localHost().run(echo, { input: "one line\n" });
  assertEquals(outcome, { ok: true, output: "one line\n" });
});

Deno.test("localHost().run() sets a variable unless the caller's environment has it", async () => {
  const print = script("console.log(Deno.env.get('HOME'), Deno.env.get('QUERN_TEST_UNSET'))");
  const env = { HOME: "/elsewhere", QUERN_TEST_UNSET: "new" };
  const { output } = await localHost().run(print, { env });
  assertEquals(output, `${Deno.env.get("HOME") ?? "/elsewhere"} new\n`);
});

Deno.test("localHost().run() fails for a missing command, a bad status and a late one", async () => {
  const host = localHost();
  assertEquals((await host.run(["no-such-command-of-quern"])).ok, false);
  assertEquals((await host.run(script("Deno.exit(3)"))).ok, false);
  const endless = script("setInterval(() => {}, 1000)");
  assertEquals((await host.run(endless, { seconds: 0.3 })).ok, false);
});

Deno.test("localHost().exclusively() lets one task at a time through", async () => {
  const events: string[] = [];
  const begun = Promise.withResolvers<void>();
  const task = (name: string) => async () => {
    events.push(`${name} begins`);
    begun.resolve();
    await new Promise((resolve) => setTimeout(resolve, 50));
    events.push(`${name} ends`);
  };
  const [first, second] = [localHost(), localHost()];
  const one = first.exclusively(task("one"));
  await begun.promise;
  await Promise.all([one, second.exclusively(task("two"))]);
  assertEquals(events, ["one begins", "one ends", "two begins", "two ends"]);
});
