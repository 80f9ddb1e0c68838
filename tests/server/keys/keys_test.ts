// API keys of a file: what a file may say, limits over time, and that changes reach a running server.

import { assertEquals, assertThrows } from "@std/assert";
import { KeyAccount } from "../../../server/keys/account.ts";
import {
  createKey,
  encodeKeys,
  type KeyEntry,
  KeyFileError,
  KeyRing,
  parseKeys,
} from "../../../server/keys/mod.ts";

const SHA = "a".repeat(64);

Deno.test("a file of keys is refused with the entry and the member that is wrong", () => {
  const cases: [content: unknown, state: string][] = [
    [[], 'it has no list named "keys"'],
    [{ keys: [1] }, "keys[0] is no object"],
    [{ keys: [{ name: "a" }] }, "keys[0].sha256 is missing"],
    [{ keys: [{ name: "a b", sha256: SHA }] }, "keys[0].name must be up to 64 letters"],
    [{ keys: [{ name: "a", sha256: "A" }] }, "keys[0].sha256 must be 64 hexadecimal digits"],
    [{ keys: [{ name: "a", sha256: SHA, weight: 0 }] }, "keys[0].weight must be a number above 0"],
    [{ keys: [{ name: "a", sha256: SHA, rpm: 1 }] }, "keys[0].rpm is not known: members are name"],
    [{ keys: [{ name: "a", sha256: SHA, priority: "high" }] }, "keys[0].priority must be"],
    [
      { keys: [{ name: "a", sha256: SHA }, { name: "a", sha256: "b".repeat(64) }] },
      'keys[1].name is "a" again',
    ],
    [
      { keys: [{ name: "a", sha256: SHA }, { name: "b", sha256: SHA }] },
      "keys[1].sha256 is that of another key",
    ],
  ];
  for (const [content, state] of cases) {
    assertThrows(() => parseKeys(JSON.stringify(content), "keys.json"), KeyFileError, state);
  }
  assertThrows(() => parseKeys("{", "keys.json"), KeyFileError, "it is no JSON");
});

Deno.test("a limit admits what a minute allows at once, and then at its rate", () => {
  let now = 0;
  const entry = { name: "a", sha256: SHA, requests_per_minute: 3, tokens_per_minute: 60 };
  const account = new KeyAccount(entry, () => now);
  for (let i = 0; i < 3; i++) assertEquals(account.begin(), undefined);
  assertEquals(account.begin(), { kind: "requests", limit: 3, waitMilliseconds: 20_000 });
  now += 20_000;
  assertEquals(account.begin(), undefined);
  // 100 tokens where 60 were allowed: 40 are owed, and one has to be there.
  account.charge({ promptTokens: 70, cachedTokens: 20, completionTokens: 50 });
  now += 20_000;
  assertEquals(account.begin(), { kind: "tokens", limit: 60, waitMilliseconds: 21_000 });
  assertEquals(account.limits().map(({ kind, remaining }) => [kind, remaining]), [
    ["requests", 1],
    ["tokens", 0],
  ]);
  now += 21_000;
  assertEquals(account.begin(), undefined);
  // Nothing is saved up beyond a minute.
  now += 3_600_000;
  assertEquals(account.limits().map(({ remaining }) => remaining), [3, 60]);
  assertEquals(account.usage, {
    requests: 5,
    refused: 2,
    promptTokens: 70,
    cachedTokens: 20,
    completionTokens: 50,
  });
});

async function withRing(
  entries: KeyEntry[],
  test: (
    ring: KeyRing,
    write: (text: string) => Promise<void>,
    warnings: string[],
  ) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    const file = `${folder}/keys.json`;
    const warnings: string[] = [];
    const write = (text: string) => Deno.writeTextFile(file, text);
    await write(encodeKeys(entries));
    const ring = new KeyRing({ file, lookMilliseconds: 0, warn: (text) => warnings.push(text) });
    await ring.open();
    await test(ring, write, warnings);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("a file that changes is read again, and a wrong one changes nothing", async () => {
  const [one, two] = [createKey({ name: "one" }), createKey({ name: "two" })];
  await withRing([one.entry], async (ring, write, warnings) => {
    const account = await ring.find(one.key);
    account!.begin();
    assertEquals(await ring.find(two.key), undefined);
    await write(encodeKeys([{ ...one.entry, weight: 2 }, two.entry]));
    assertEquals((await ring.find(two.key))?.entry.name, "two");
    assertEquals((await ring.find(one.key))?.usage.requests, 1);
    await write("{");
    assertEquals((await ring.find(one.key))?.entry.weight, 2);
    await ring.find(one.key);
    assertEquals(warnings.length, 1);
    await write(encodeKeys([two.entry]));
    assertEquals(await ring.find(one.key), undefined);
  });
});
