// Where registries may lead: a public one to public addresses alone, a local one anywhere but to the
// addresses where clouds tell their machines secrets.

import { assert, assertEquals, assertRejects } from "@std/assert";
import { AddressError } from "../../../server/network/checked_fetch.ts";
import { pullModel } from "../../../server/registry/mod.ts";
import { registryFetch } from "../../../server/registry/client.ts";
import { openStore, QUICK, withFolder } from "./fixtures.ts";

/** Addresses by name; of a list of lists, one after the other. */
const NAMES: Record<string, string[][]> = {
  "public.test": [["8.8.8.8"]],
  "storage.test": [["1.1.1.1"]],
  "local.test": [["192.168.1.9", "fd12::9"]],
  "nas.test": [["192.168.1.9", "2606:4700::9"]],
  "turns-in.test": [["8.8.8.8"], ["127.0.0.1"]],
  "turns-out.test": [["127.0.0.1"], ["8.8.8.8"]],
  "metadata.test": [["169.254.169.254"]],
};

function fetchOf(registry: string) {
  const asked: string[] = [];
  const lookups: Record<string, number> = {};
  const fetch = registryFetch(new URL(registry), {
    resolve: (name) => {
      const answers = NAMES[name]!;
      const count = lookups[name] = (lookups[name] ?? -1) + 1;
      return Promise.resolve(answers[Math.min(count, answers.length - 1)]!);
    },
    fetch: (input) => {
      asked.push(String(input));
      return Promise.resolve(new Response());
    },
  });
  return { fetch, asked };
}

Deno.test("where a registry leads depends on where it is", async () => {
  const cases: [registry: string, next: string, isAllowed: boolean][] = [
    ["http://public.test", "http://public.test/x", true],
    ["https://public.test", "https://storage.test/x", true],
    ["http://public.test", "http://local.test/x", false],
    ["http://public.test", "http://127.0.0.1:8500/x", false],
    ["http://public.test", "http://nas.test/x", true],
    ["https://public.test", "http://metadata.test/x", false],
    ["http://local.test:5000", "http://local.test:9000/x", true],
    ["http://local.test:5000", "http://127.0.0.1:9000/x", true],
    ["http://local.test:5000", "https://storage.test/x", true],
    ["http://local.test:5000", "http://metadata.test/x", false],
    ["http://127.0.0.1:5000", "http://[fe80::1]/x", false],
    ["http://nas.test:5000", "http://local.test/x", false],
    ["http://turns-in.test", "http://turns-in.test/x", false],
    ["http://turns-out.test", "http://turns-out.test/x", false],
    ["http://turns-out.test", "http://public.test/x", true],
  ];
  for (const [registry, next, isAllowed] of cases) {
    const { fetch, asked } = fetchOf(registry);
    await fetch(registry);
    if (isAllowed) await fetch(next);
    else await assertRejects(() => fetch(next), AddressError);
    assertEquals([registry, next, asked.length], [registry, next, isAllowed ? 2 : 1]);
  }
  for (
    const registry of ["http://metadata.test", "http://169.254.169.254", "http://[fd00:ec2::254]"]
  ) {
    const { fetch, asked } = fetchOf(registry);
    await assertRejects(() => fetch(registry), AddressError);
    assertEquals(asked, []);
  }
});

Deno.test("of a registry whose addresses are mixed, the public ones are asked", async () => {
  const { fetch, asked } = fetchOf("http://nas.test");
  await fetch("http://nas.test/v2/");
  assertEquals(asked, ["http://[2606:4700::9]/v2/"]);
});

Deno.test("a pull asks no metadata service, and tells nothing of what is no registry's error", async () => {
  await using server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    ({ url }) =>
      url.includes("moved")
        ? Response.redirect("http://169.254.169.254/latest/meta-data")
        : new Response("inner-secret", { status: 418 }),
  );
  const local = `127.0.0.1:${server.addr.port}`;
  await withFolder(async (folder) => {
    for (
      const [name, expected] of [
        ["169.254.169.254/a/b", "is at an address that a registry must not lead to"],
        [`${local}/a/moved`, "is at an address that a registry must not lead to"],
        [`${local}/a/b`, "the server answered 418"],
      ]
    ) {
      const { signal } = new AbortController();
      const options = { signal, insecure: true, tuning: QUICK };
      const error = await assertRejects(
        () => Array.fromAsync(pullModel(openStore(folder), name!, options)),
        Error,
        expected,
      );
      assert(!error.message.includes("secret"), error.message);
    }
  });
});
