// Addresses, durations and the environment, as tables.

import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { main } from "../../../server/cli/main.ts";
import { parseDuration } from "../../../server/settings/quantities.ts";
import { faultsOf, READERS, VARIABLES } from "../../../server/settings/environment.ts";
import { clientUrl, isLoopback, parseHost } from "../../../server/network/host.ts";
import { readSettings } from "../../../server/settings/settings.ts";
import { systemDependencies } from "../../../server/cli/wiring.ts";
import { FakeTerminal } from "../cli/fake_terminal.ts";

Deno.test("parseHost() reads every form of OLLAMA_HOST", () => {
  const cases: [string, string, number][] = [
    ["", "127.0.0.1", 11434],
    ["1.2.3.4", "1.2.3.4", 11434],
    ["1.2.3.4:1234", "1.2.3.4", 1234],
    [":1234", "0.0.0.0", 1234],
    ["example.com", "example.com", 11434],
    ["example.com:1234", "example.com", 1234],
    ["example.com:", "example.com", 11434],
    ["example.com:x", "example.com", 11434],
    ["example.com:66000", "example.com", 11434],
    ["example.com:-1", "example.com", 11434],
    ["example.com:0", "example.com", 0],
    ["http://1.2.3.4", "1.2.3.4", 80],
    ["http://1.2.3.4:8080/", "1.2.3.4", 8080],
    ["https://example.com", "example.com", 443],
    ["https://example.com:1234/ollama", "example.com", 1234],
    ["example.com/path", "example.com", 11434],
    ["::1", "::1", 11434],
    ["[::1]", "::1", 11434],
    ["[::1]:1337", "::1", 1337],
    ["[::]:1337", "::", 1337],
    ["http://[::1]", "::1", 80],
  ];
  for (const [text, hostname, port] of cases) {
    const address = parseHost(text);
    assertEquals([text, address.hostname, address.port], [text, hostname, port]);
  }
  assertEquals([parseHost("https://x").scheme, parseHost("x").scheme], ["https", "http"]);
});

Deno.test("clientUrl() names an address that can be connected to", () => {
  const cases = [
    ["", "http://127.0.0.1:11434"],
    [":80", "http://127.0.0.1:80"],
    ["[::]:99", "http://[::1]:99"],
    ["https://example.com", "https://example.com:443"],
  ];
  for (const [text, url] of cases) assertEquals(clientUrl(parseHost(text)), url);
});

Deno.test("isLoopback() tells this machine from the network", () => {
  const loopback = ["localhost", "LocalHost", "a.localhost", "127.0.0.1", "127.8.8.8", "::1"];
  for (const name of [...loopback, "0:0:0:0:0:0:0:1", "::ffff:127.0.0.1"]) {
    assertEquals(isLoopback(name), true);
  }
  for (const name of ["0.0.0.0", "::", "192.168.1.2", "127.0.0.1.evil.com", "nolocalhost", "box"]) {
    assertEquals(isLoopback(name), false);
  }
});

Deno.test("parseDuration() reads Go's notation and seconds", () => {
  const cases: [string | number, number][] = [
    ["5m", 300_000],
    ["1h30m", 5_400_000],
    ["1.5s", 1500],
    ["300ms", 300],
    ["0", 0],
    ["0s", 0],
    ["300", 300_000],
    [60, 60_000],
    [0, 0],
    [0.5, 500],
    ["-1", Infinity],
    [-1, Infinity],
    ["-1m", Infinity],
    ["24h", 86_400_000],
  ];
  for (const [value, milliseconds] of cases) {
    assertEquals([value, parseDuration(value)], [value, milliseconds]);
  }
  for (const text of ["", "x", "5 m", "m", "5mm", "1h-5m"]) {
    assertThrows(() => parseDuration(text), RangeError, `time: invalid duration "${text}"`);
  }
});

Deno.test("readSettings() has defaults, trims quotes, and survives nonsense", () => {
  const plain = readSettings({ HOME: "/home/me" });
  assertEquals(plain, {
    models: "/home/me/.ollama/models",
    host: { scheme: "http", hostname: "127.0.0.1", port: 11434 },
    keepAlive: 300_000,
    loadTimeout: 300_000,
    maxLoaded: 0,
    device: "auto",
    gpuOverhead: 0,
    isolation: "auto",
    cache: "/home/me/.cache/quern",
    responseCount: 1000,
    responseBytes: 512 * 2 ** 20,
    responseAge: 30 * 24 * 3_600_000,
    keepUnused: false,
    noBox: false,
    noTuning: false,
    noProof: false,
    maxSequences: 4,
    maxQueue: 512,
    origins: [],
    hosts: [],
    preload: [],
    remotes: [],
    debug: false,
    anthropicExact: false,
    whiteSpaceAfter: 20_000,
    thinkingBudget: "ignore",
    completions: "raw",
    logFormat: "plain",
    shutdownTimeout: 5000,
    telemetry: false,
    noHistory: false,
  });
  const set = readSettings({
    QUERN_MODELS: " '/models' ",
    OLLAMA_MODELS: "/other",
    OLLAMA_HOST: '"0.0.0.0:99"',
    OLLAMA_KEEP_ALIVE: "-1",
    OLLAMA_LOAD_TIMEOUT: "1m",
    OLLAMA_MAX_LOADED_MODELS: "1",
    OLLAMA_GPU_OVERHEAD: "1000B",
    QUERN_GPU_MEMORY: "8GB",
    QUERN_ISOLATION: "Process",
    QUERN_CACHE: "/cache",
    QUERN_RESPONSES: "0",
    QUERN_RESPONSES_SIZE: "1GiB",
    QUERN_RESPONSES_AGE: "-1",
    OLLAMA_NOPRUNE: "1",
    QUERN_NO_BOX: "1",
    QUERN_NO_TUNING: "1",
    QUERN_NO_PROOF: "1",
    OLLAMA_NUM_PARALLEL: "7",
    OLLAMA_CONTEXT_LENGTH: "2048",
    OLLAMA_MAX_QUEUE: "9",
    OLLAMA_ORIGINS: "https://a.org, https://b.org",
    QUERN_HOSTS: "chat.example.org, *.lan",
    OLLAMA_REMOTES: "gpu.lan,10.0.0.5:8000",
    OLLAMA_DEBUG: "1",
    QUERN_API_KEY: ' "secret" ',
    QUERN_ANTHROPIC_EXACT: "true",
    QUERN_THINKING_BUDGET: "Enforce",
    QUERN_COMPLETIONS: "Chat",
    QUERN_LOG: "JSON",
    QUERN_SHUTDOWN_TIMEOUT: "30s",
    OTEL_DENO: "true",
    QUERN_DEVICE: "CPU",
    QUERN_THREADS: "3",
    OLLAMA_NOHISTORY: "1",
    QUERN_CACHE_RAM: "0",
    QUERN_CACHE_DISK: "/disk:1GiB",
    OLLAMA_KV_CACHE_TYPE: "q8_0/q4_0",
    QUERN_CLOUD_HOST: "https://ollama.com",
    QUERN_CLOUD_KEY: "key",
    QUERN_CLOUD_API: "OpenAI",
    QUERN_GPU: "radeon",
    NO_COLOR: "1",
  });
  assertEquals(set, {
    models: "/models",
    host: { scheme: "http", hostname: "0.0.0.0", port: 99 },
    keepAlive: Infinity,
    loadTimeout: 60_000,
    maxLoaded: 1,
    gpuOverhead: 1000,
    gpuMemory: 8e9,
    isolation: "process",
    cache: "/cache",
    responseCount: 0,
    responseBytes: 2 ** 30,
    responseAge: Infinity,
    keepUnused: true,
    noBox: true,
    noTuning: true,
    noProof: true,
    maxSequences: 7,
    contextLength: 2048,
    maxQueue: 9,
    origins: ["https://a.org", "https://b.org"],
    hosts: ["chat.example.org", "*.lan"],
    preload: [],
    remotes: ["gpu.lan", "10.0.0.5:8000"],
    debug: true,
    apiKey: "secret",
    anthropicExact: true,
    whiteSpaceAfter: 20_000,
    thinkingBudget: "enforce",
    completions: "chat",
    logFormat: "json",
    shutdownTimeout: 30_000,
    telemetry: true,
    device: "cpu",
    threads: 3,
    noHistory: true,
    cacheMemory: 0,
    cacheDisk: { folder: "/disk", bytes: 2 ** 30 },
    cacheTypes: { keys: "q8_0", values: "q4_0" },
    cloudHost: "https://ollama.com",
    cloudKey: "key",
    cloudApi: "openai",
    gpu: "radeon",
    noColor: "1",
  });
  const odd = {
    HOME: "/h",
    OLLAMA_MODELS: "/m",
    OLLAMA_KEEP_ALIVE: "soon",
    OLLAMA_MAX_QUEUE: "-2",
    OLLAMA_NUM_PARALLEL: "many",
    QUERN_LOG: "xml",
    QUERN_ISOLATION: "cage",
    QUERN_API_KEY: " ",
    QUERN_SHUTDOWN_TIMEOUT: "later",
  };
  assertEquals(readSettings(odd), { ...plain, models: "/m", cache: "/h/.cache/quern" });
  assertEquals(readSettings({}).cache, undefined);
  const shared = readSettings({ HOME: "/h", XDG_CACHE_HOME: "/x" });
  assertEquals([shared.cache, readSettings({ LOCALAPPDATA: "/l" }).cache], [
    "/x/quern",
    "/l/quern",
  ]);
});

Deno.test("faultsOf() names every variable whose value cannot be read, and what it must be", () => {
  const wrong: Record<string, string[]> = {
    OLLAMA_HOST: ["foo:bar", "127.0.0.1:99999", "a b", "http://x:1:2/y z:q"],
    OLLAMA_KEEP_ALIVE: ["abc", "5 minutes"],
    OLLAMA_LOAD_TIMEOUT: ["soon"],
    OLLAMA_NUM_PARALLEL: ["x", "-1", "1.5"],
    OLLAMA_MAX_QUEUE: ["many"],
    OLLAMA_GPU_OVERHEAD: ["1 elephant"],
    QUERN_LOG: ["xml"],
    QUERN_CLOUD_API: ["grpc"],
    QUERN_CLOUD_HOST: ["http://"],
  };
  for (const [name, values] of Object.entries(wrong)) {
    for (const value of values) {
      assertEquals(faultsOf({ [name]: value }).map((fault) => fault.name), [name], value);
    }
  }
  const right = {
    OLLAMA_HOST: ' "[::1]:99" ',
    OLLAMA_KEEP_ALIVE: "-1",
    OLLAMA_NUM_PARALLEL: "'8'",
    QUERN_LOG: "JSON",
    QUERN_API_KEY: "x",
    OLLAMA_MAX_QUEUE: "",
  };
  assertEquals(faultsOf(right), []);
  for (const host of ["0.0.0.0", ":8080", "::1", "localhost:1", "https://quern.test/path", "a-b"]) {
    assertEquals(faultsOf({ OLLAMA_HOST: host }), [], host);
  }
});

Deno.test("commands refuse values that cannot be read, all of them at once", async () => {
  const environment = { OLLAMA_HOST: "foo:bar", OLLAMA_KEEP_ALIVE: "abc" };
  const message = 'OLLAMA_HOST must be an address such as 127.0.0.1:11434, not "foo:bar"; ' +
    'OLLAMA_KEEP_ALIVE must be a duration such as 90s, 5m or 1h30m, not "abc"';
  for (const command of ["serve", "list"]) {
    const terminal = new FakeTerminal();
    const world = { ...systemDependencies(), terminal, environment };
    assertEquals(await main([command], world), 1);
    assertStringIncludes(terminal.errors, message);
  }
});

Deno.test("every setting is read: none has a variable that another one has", () => {
  assertEquals(new Set(VARIABLES.map(({ name }) => name)).size, VARIABLES.length);
  for (const { name, kind, default: value } of VARIABLES) {
    if (value !== undefined) assertEquals(typeof kind.read(value) !== "undefined", true, name);
  }
});

Deno.test("docs/settings.md has a row of each setting, as the table has it", async () => {
  const page = await Deno.readTextFile(new URL("../../../docs/settings.md", import.meta.url));
  const table = page.slice(page.indexOf("| variable "));
  const rows = table.slice(0, table.indexOf("\n\n")).split("\n").slice(2)
    .map((row) => row.split("|").slice(1, -1).map((cell) => cell.trim()));
  const expected = VARIABLES.map(({ name, default: value, standard = value, ...setting }) => {
    const { help, more, reader } = setting;
    return [`\`${name}\``, standard ?? "", reader, more ? `${help}; ${more}` : help];
  });
  assertEquals(rows, expected);
  for (const [reader, who] of Object.entries(READERS)) {
    assertStringIncludes(page.replaceAll(/\s+/g, " "), `\`${reader}\`: ${who}`);
  }
});

Deno.test("quern help and serve --help have a line of each setting, of at most 80 columns", async () => {
  for (const args of [["help"], ["--help"], ["serve", "--help"]]) {
    const terminal = new FakeTerminal();
    await main(args, { ...systemDependencies(), terminal });
    const lines = terminal.output.split("\n");
    for (const { name, help } of VARIABLES) {
      const line = lines.find((line) => line.startsWith(`  ${name} `)) ?? "";
      assertStringIncludes(line, help);
      assertEquals(line.length <= 80, true, line);
    }
  }
});
