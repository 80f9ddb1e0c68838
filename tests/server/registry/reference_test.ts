// Names as addresses, and when a failed request is tried again.

import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { StoreError } from "../../../engine/mod.ts";
import { RegistryError } from "../../../server/registry/mod.ts";
import { RegistryReference } from "../../../server/registry/reference.ts";
import { parseRetryAfter, withRetries } from "../../../server/registry/retry.ts";
import { DEFAULT_TUNING } from "../../../server/registry/tuning.ts";

Deno.test("RegistryReference knows where models of all kinds of names live", () => {
  const cases: [name: string, insecure: boolean, url: string][] = [
    ["gemma3", false, "https://registry.ollama.ai/v2/library/gemma3/manifests/latest"],
    ["user/gemma3:1b", false, "https://registry.ollama.ai/v2/user/gemma3/manifests/1b"],
    ["hf.co/user/repo:Q4_K_M", false, "https://hf.co/v2/user/repo/manifests/Q4_K_M"],
    [
      "huggingface.co/user/Repo-GGUF",
      false,
      "https://huggingface.co/v2/user/Repo-GGUF/manifests/latest",
    ],
    ["127.0.0.1:5000/a", true, "http://127.0.0.1:5000/v2/library/a/manifests/latest"],
    ["localhost:5000/team/a:7b", true, "http://localhost:5000/v2/team/a/manifests/7b"],
    ["https://localhost:5000/a/b", true, "https://localhost:5000/v2/a/b/manifests/latest"],
    ["http://localhost/a/b", true, "http://localhost/v2/a/b/manifests/latest"],
  ];
  for (const [name, insecure, url] of cases) {
    assertEquals(new RegistryReference(name, insecure).manifestUrl.href, url);
  }
});

Deno.test("RegistryReference refuses what is no name, no host or not allowed", () => {
  for (const name of ["", "a b", "../x", "a/b/c/d", "x:y:z"]) {
    assertThrows(() => new RegistryReference(name, false), StoreError, "invalid model name");
  }
  assertThrows(() => new RegistryReference("a:b:c/d/e", false), RegistryError, "it is no host");
  assertThrows(() => new RegistryReference("http://a.b/c", false), RegistryError, "insecure");
});

Deno.test("parseRetryAfter() reads seconds and dates", () => {
  assertEquals(parseRetryAfter(null), undefined);
  assertEquals(parseRetryAfter("soon"), undefined);
  assertEquals(parseRetryAfter("3"), 3000);
  assertEquals(parseRetryAfter("Fri, 01 Jan 2021 00:00:00 GMT"), 0);
  const later = parseRetryAfter(new Date(Date.now() + 60_000).toUTCString())!;
  assert(later > 55_000 && later <= 60_000);
});

Deno.test("withRetries() counts anew after progress and leaves other errors alone", async () => {
  const tuning = { ...DEFAULT_TUNING, retries: 2, firstDelay: 1, longestDelay: 2 };
  const { signal } = new AbortController();
  let attempts = 0;
  const failing = () => {
    attempts++;
    return Promise.reject(new RegistryError("no", { transient: true, status: 503 }));
  };
  const error = await assertRejects(() => withRetries(failing, { tuning, signal }), RegistryError);
  assertEquals([attempts, error.status], [3, 503]);

  attempts = 0;
  const progress = () => Math.min(attempts, 4);
  await assertRejects(() => withRetries(failing, { tuning, signal, progress }), RegistryError);
  assertEquals(attempts, 6, "four with progress, the last of which counts, and two without");

  attempts = 0;
  const fatal = () => {
    attempts++;
    return Promise.reject(new TypeError("a defect"));
  };
  await assertRejects(() => withRetries(fatal, { tuning, signal }), TypeError, "a defect");
  assertEquals(attempts, 1);
});

Deno.test("withRetries() stops waiting when it is cancelled", async () => {
  const controller = new AbortController();
  const reason = new Error("The client has gone");
  const work = () => {
    setTimeout(() => controller.abort(reason), 5);
    return Promise.reject(new RegistryError("no", { transient: true, retryAfter: 100_000 }));
  };
  const options = { tuning: DEFAULT_TUNING, signal: controller.signal };
  assertEquals(await assertRejects(() => withRetries(work, options)), reason);
});
