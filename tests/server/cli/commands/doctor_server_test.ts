// `quern doctor` on what it asks over the network, and on the environment variables that say whom.

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { refusal } from "./fake_api.ts";
import {
  type FakeMachine,
  QUERN_SERVER,
  runDoctor,
  todosIn,
  wideTerminal,
} from "./fake_machine.ts";

const notFound = () => new Response("404 page not found", { status: 404 });

const SERVER_CASES: [name: string, machine: FakeMachine, code: number, finding: RegExp][] = [
  ["none", {}, 0, /ok +server +none at http:\/\/127\.0\.0\.1:11434: commands load models/],
  [
    "another version",
    {
      server: {
        ...QUERN_SERVER,
        "GET /api/version": () => Response.json({ version: "0.34.0", quern_version: "9.9" }),
      },
    },
    0,
    /warning +server +\S+ runs, but with version 9\.9/,
  ],
  [
    "Ollama itself",
    { server: { "GET /api/version": () => Response.json({ version: "0.12" }) } },
    0,
    /warning +server +\S+ is Ollama's or another one,\s+version\s+0\.12/,
  ],
  [
    "a web server",
    { server: { "GET /api/version": notFound } },
    1,
    /problem +server +\S+ is taken by a program that has no/,
  ],
  ["what never answers", { isPortOpen: true }, 1, /problem +server +\S+ is taken by a program/],
  [
    "a key that is missing",
    { server: { "GET /api/version": () => refusal(401, "missing") } },
    1,
    /problem +server +\S+ refuses who has no key/,
  ],
  [
    "one elsewhere that is not there",
    { environment: { OLLAMA_HOST: "gpu.test" } },
    1,
    /problem +server +none can be reached at http:\/\/gpu\.test:11434/,
  ],
];

for (const [name, machine, code, finding] of SERVER_CASES) {
  Deno.test(`doctor tells of the server: ${name}`, async () => {
    const run = await runDoctor(machine);
    assertEquals(run.code, code);
    assertMatch(run.output, finding);
  });
}

Deno.test("doctor reads the environment: misspelt names, values that are none, keys hidden", async () => {
  const { code, output } = await runDoctor({
    environment: {
      OLLAMA_MODLES: "/x",
      QUERN_FROBNICATE: "1",
      OLLAMA_KEEP_ALIVE: "5 minutes",
      OLLAMA_NUM_PARALLEL: "'8'",
      OLLAMA_FLASH_ATTENTION: "1",
      QUERN_GPU_MEMORY: "24 GB",
      QUERN_API_KEY: "s3cret",
      QUERN_CLOUD_HOST: "http://",
    },
  }, { terminal: wideTerminal() });
  assertEquals(code, 1);
  assertMatch(output, /warning +OLLAMA_MODLES +is not known: OLLAMA_MODELS is$/m);
  assertMatch(output, /warning +QUERN_FROBNICATE +is not known, and has no effect$/m);
  assertMatch(output, /problem +OLLAMA_KEEP_ALIVE +"5 minutes" cannot be read/);
  assertMatch(output, /ok +OLLAMA_NUM_PARALLEL +'8'$/m);
  assertMatch(output, /ok +OLLAMA_FLASH_ATTENTION +is Ollama's and has no effect here$/m);
  assertMatch(output, /ok +QUERN_GPU_MEMORY +24 GB$/m);
  assertMatch(output, /problem +QUERN_CLOUD_HOST +"http:\/\/" cannot be read/);
  assertLacks(output, /s3cret/);
  const todos = todosIn(output);
  assertStringIncludes(todos, "Set QUERN_CLOUD_HOST to an address such as https://");
  assertStringIncludes(todos, "Set OLLAMA_KEEP_ALIVE to a duration such as 90s");
  assertStringIncludes(todos, "Write OLLAMA_MODELS instead of OLLAMA_MODLES.");
});

Deno.test("doctor asks the server of models elsewhere without sending its key", async () => {
  const environment = { QUERN_CLOUD_HOST: "https://models.test", QUERN_CLOUD_KEY: "s3cret" };
  const asked: Request[] = [];
  const there = await runDoctor({
    environment,
    fetch(input, init) {
      const request = new Request(input, init);
      if (!request.url.startsWith("https://models.test")) return Promise.reject(new TypeError());
      asked.push(request);
      return Promise.resolve(new Response("Unauthorized", { status: 401 }));
    },
  });
  assertMatch(there.output, /ok +server +https:\/\/models\.test answers; with a key/);
  assertEquals(asked.map(({ headers }) => headers.get("authorization")), [null]);
  const away = await runDoctor({ environment });
  assertMatch(away.output, /warning +server +https:\/\/models\.test does not answer/);
  assertEquals(away.code, 0);
  assertLacks(there.output + away.output, /s3cret/);
});

function assertLacks(text: string, pattern: RegExp): void {
  assert(!pattern.test(text), text);
}
