// LiteLLM's proxy with deploy/gateways/litellm.yaml before two Querns: OpenAI's and Anthropic's packages
// through it, and a node that is killed. `deno task test:gateways` runs it.

import { assert, assertEquals } from "@std/assert";
import { freePort } from "../../free_port.ts";
import { runProgram } from "../../clients/client.ts";
import { ENVIRONMENT } from "../../clients/python_libraries.ts";
import { BOX } from "../../server/box_talk.ts";
import { picture } from "../../server/http/api/vision_app.ts";
import { PROJECT_ROOT } from "../../source_files.ts";
import { KEY, Nodes } from "../nodes.ts";
import { Program } from "../programs.ts";
import { report } from "../report.ts";
import { type Answer, askStream, outcomeOf, says, underLoad } from "../streams.ts";
import { gatewayPython } from "./python.ts";

const MASTER_KEY = "sk-proxy";
const path = (name: string) => new URL(name, PROJECT_ROOT).pathname;
const python = await gatewayPython();
let nodes: Nodes | undefined;
let proxy: Program | undefined;
let url: string;

Deno.test.beforeAll(async () => {
  nodes = await Nodes.start(2);
  const port = freePort();
  url = `http://127.0.0.1:${port}`;
  const [first, second] = nodes.servers.map((server) => server.url);
  proxy = await Program.start({
    program: python.replace(/python3?$/, "litellm"),
    args: [
      "--config",
      path("deploy/gateways/litellm.yaml"),
      "--port",
      `${port}`,
      "--host",
      "127.0.0.1",
    ],
    env: {
      ...ENVIRONMENT,
      QUERN_1: `${first}/v1`,
      QUERN_2: `${second}/v1`,
      QUERN_API_KEY: KEY,
      LITELLM_MASTER_KEY: MASTER_KEY,
    },
    ready: `${url}/health/readiness`,
    patience: 300_000,
  });
});
Deno.test.afterAll(async () => {
  await proxy?.[Symbol.asyncDispose]();
  await nodes?.[Symbol.asyncDispose]();
});

const ask = (index: number, tokens: number, key = MASTER_KEY): Promise<Answer> =>
  askStream({
    url,
    model: BOX,
    messages: says(`Number ${index}: tell me more.`),
    tokens,
    headers: { authorization: `Bearer ${key}` },
  });

Deno.test("LiteLLM: the openai and anthropic packages", async () => {
  const home = await Deno.makeTempDir();
  const { text } = await runProgram(
    [python, path("tests/deploy/gateways/litellm_clients.py")],
    { home, node: "/usr/bin" },
    180_000,
    {
      ...ENVIRONMENT,
      PYTHONPATH: path("tests/clients/python"),
      QUERN_URL: url,
      QUERN_DIRECT: nodes!.servers[0]!.url,
      QUERN_KEY: MASTER_KEY,
      QUERN_PICTURE: picture(1).toBase64(),
    },
  );
  const results = text.split("\n").filter((line) => line.startsWith('{"check":'))
    .map((line) => JSON.parse(line) as { check: string; failure: string | null });
  const failed = results.filter(({ failure }) => failure !== null);
  report("LiteLLM: clients", {
    passed: results.filter(({ failure }) => failure === null).map(({ check }) => check),
    failed,
  });
  assert(results.length > 0, text);
  assertEquals(failed, []);
});

Deno.test("LiteLLM: a stream passes as it comes, and only with a key", async () => {
  const answer = await ask(0, 400);
  assert(!answer.failed, answer.text);
  assert(answer.pieces > 50, `${answer.pieces} pieces`);
  // Without a database it calls an unknown key a bad request.
  const { status } = await ask(0, 4, "sk-wrong");
  assert(status === 400 || status === 401, `${status}`);
});

Deno.test("LiteLLM: a node that is killed costs nothing that had not begun", async () => {
  const answers = await underLoad({
    count: 48,
    atOnce: 12,
    after: 16,
    act: () => nodes!.servers[0]!.kill(),
    ask: (index) => ask(index, 60),
  });
  const outcome = outcomeOf(answers);
  report("LiteLLM: a node killed", outcome);
  assertEquals(outcome.failed, 0);
  assert(outcome.cut <= 12, JSON.stringify(outcome));
});
