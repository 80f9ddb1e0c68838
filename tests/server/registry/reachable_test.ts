// A registry that is not there: whoever misspells a model's name offline is told so within seconds.

import { assert, assertEquals, assertRejects } from "@std/assert";
import { pullModel, RegistryError } from "../../../server/registry/mod.ts";
import { failUnlessReachable } from "../../../server/registry/client.ts";
import { freePort } from "../../free_port.ts";
import { collect, openStore, withFolder } from "./fixtures.ts";

Deno.test("a pull from a registry that refuses connections is tried for a second or two, not longer", async () => {
  await withFolder(async (folder) => {
    const port = freePort();
    const started = performance.now();
    const options = { insecure: true, signal: new AbortController().signal };
    await assertRejects(
      () => collect(pullModel(openStore(folder), `127.0.0.1:${port}/a/b`, options)),
      RegistryError,
      `127.0.0.1:${port} cannot be reached`,
    );
    // All retries take half a minute.
    assert(performance.now() - started < 10_000);
  });
});

Deno.test("failUnlessReachable() rejects where nobody takes or refuses the connection", async () => {
  const url = new URL("https://registry.test/v2/");
  const options = { subject: "pull", milliseconds: 20 };
  const asked: unknown[] = [];
  const swallow = ({ signal, ...address }: Deno.ConnectOptions) => {
    asked.push(address);
    return new Promise<never>((_, reject) => {
      signal!.addEventListener("abort", () => reject(signal!.reason));
    });
  };
  await assertRejects(
    () => failUnlessReachable(url, { ...options, connect: swallow }),
    RegistryError,
    "pull: registry.test cannot be reached: no connection in 0.02 seconds",
  );
  assertEquals(asked, [{ hostname: "registry.test", port: 443 }]);
});

Deno.test("failUnlessReachable() leaves it to the request where somebody answers", async () => {
  const url = new URL("http://[::1]:5000/");
  let closed = 0;
  const answers = [
    () => Promise.resolve({ close: () => void closed++ }),
    () => Promise.reject(new Deno.errors.ConnectionRefused("refused")),
  ];
  for (const connect of answers) {
    const late = new Promise((resolve) => setTimeout(resolve, 60, "nothing"));
    const options = { subject: "pull", milliseconds: 20, connect };
    assertEquals(await Promise.race([failUnlessReachable(url, options), late]), "nothing");
  }
  assertEquals(closed, 1);
});
