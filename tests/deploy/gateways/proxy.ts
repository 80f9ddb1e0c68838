// What every gateway has to do that passes requests on as they are: nginx and Envoy, with their files of
// deploy/gateways. The unmodified clients of tests/clients work through it, streams are not held up, and
// neither a node that is killed nor one that shuts down costs a request that had no answer yet.

import { assert, assertEquals } from "@std/assert";
import { freePort } from "../../free_port.ts";
import { runChecks } from "../../clients/checked_program.ts";
import { CHECKS } from "../../clients/client.ts";
import { ENVIRONMENT } from "../../clients/python_libraries.ts";
import { BOX, name } from "../../server/box_talk.ts";
import { PROJECT_ROOT } from "../../source_files.ts";
import { KEY, Nodes } from "../nodes.ts";
import { Program } from "../programs.ts";
import { type Answer, askStream, outcomeOf, says, underLoad } from "../streams.ts";
import { report } from "../report.ts";

/** Libraries whose programs of tests/clients are run. */
const LIBRARIES = ["openai", "anthropic", "ollama"];

/** A gateway. */
export interface Proxy {
  name: string;
  /** Its file in deploy/gateways. */
  file: string;
  /** Its executable; undefined where there is none, so that its tests are ignored by name. */
  executable: string | undefined;
  /** With what it is started with this file. */
  args: (file: string) => string[];
}

/** What the files of deploy/gateways name, in this order: the gateway and two nodes. */
const PORTS = [8080, 11434, 11435];

/** A file of deploy/gateways with other ports, in a folder of its own. Errors: Error if it lacks one. */
export async function withPorts(file: string, ports: readonly number[]): Promise<string> {
  let text = await Deno.readTextFile(new URL(`deploy/gateways/${file}`, PROJECT_ROOT));
  const folder = await Deno.makeTempDir({ prefix: "quern-gateway-" });
  for (const [index, port] of PORTS.entries()) {
    const mark = new RegExp(`\\b${port}\\b`, "g");
    assert(mark.test(text), `${file} does not name port ${port}`);
    text = text.replaceAll(mark, `:${index}:`);
  }
  for (const [index, port] of ports.entries()) text = text.replaceAll(`:${index}:`, `${port}`);
  text = text.replaceAll("/tmp/", `${folder}/`);
  await Deno.writeTextFile(`${folder}/${file}`, text);
  return `${folder}/${file}`;
}

/** Registers the tests. @param python has the libraries */
export function testProxy({ name: gateway, file, executable, args }: Proxy, python: string): void {
  let nodes: Nodes;
  let program: Program;
  let url: string;
  const authorization = `Bearer ${KEY}`;

  const ignore = executable === undefined;
  const test = (what: string, fn: () => Promise<void>) =>
    Deno.test({ name: `${gateway}: ${what}`, ignore, fn });

  Deno.test.beforeAll(async () => {
    if (executable === undefined) return;
    nodes = await Nodes.start(2);
    const port = freePort();
    url = `http://127.0.0.1:${port}`;
    const path = await withPorts(file, [port, ...nodes.ports]);
    program = await Program.start({
      program: executable,
      args: args(path),
      ready: `${url}/health`,
    });
  });
  Deno.test.afterAll(async () => {
    await program?.[Symbol.asyncDispose]();
    await nodes?.[Symbol.asyncDispose]();
  });

  const ask = (text: string, tokens: number, headers: Record<string, string> = {}) =>
    askStream({
      url,
      model: BOX,
      messages: says(text),
      tokens,
      headers: { authorization, ...headers },
    });

  /** Asks 96 requests, 12 at once, and does something after 24 of them. */
  const loaded = (act: () => void): Promise<Answer[]> =>
    underLoad({
      count: 96,
      atOnce: 12,
      after: 24,
      act,
      ask: (index) => ask(`Number ${index}: tell me more.`, 60),
    });

  test("the openai, anthropic and ollama packages work unmodified", async () => {
    const passed: Record<string, string> = {};
    for (const library of LIBRARIES) {
      const home = await Deno.makeTempDir();
      const countStopped = () =>
        nodes.servers.flatMap(({ lines }) => lines)
          .filter((line) => / 499 - endless | - endless - canceled/.test(line)).length;
      // What one node keeps, such as a response in the background, the other has not.
      const [port, node] = [freePort(), nodes.ports[0]!];
      const single = `http://127.0.0.1:${port}`;
      const path = await withPorts(file, [port, node, node]);
      await using _ = await Program.start({
        program: executable!,
        args: args(path),
        ready: `${single}/health`,
      });
      const results = await runChecks(
        [python, new URL(`tests/clients/python/${library}_sdk.py`, PROJECT_ROOT).pathname],
        CHECKS,
        { url: single, folder: home, home, node: "/usr/bin", countStopped },
        { ...ENVIRONMENT, OLLAMA_API_KEY: KEY },
      );
      assertEquals(Object.values(results).filter(({ failure }) => failure), [], library);
      passed[library] = Object.keys(results).join(", ");
    }
    report(`${gateway}: clients`, passed);
  });

  test("a stream passes as it comes, with keys and the request's id", async () => {
    const answer = await ask("Tell me a story.", 200, { "x-request-id": "my-request-1" });
    assert(!answer.failed && answer.text.length > 100, answer.text);
    assert(answer.first < answer.whole / 2, `${answer.first} of ${answer.whole} ms`);
    assert(answer.pieces > 10, `${answer.pieces} pieces`);
    assertEquals(answer.headers.get("x-request-id"), "my-request-1");
    const { status } = await ask("Hi", 4, { authorization: "Bearer wrong" });
    assertEquals(status, 401);
    report(`${gateway}: a stream`, { pieces: answer.pieces, first: Math.round(answer.first) });
  });

  test("a conversation finds its cache", async () => {
    let [cached, prompt] = [0, 0];
    for (const id of ["a", "b", "c", "d"]) {
      const messages = says(`Conversation ${id}. ${`Fact ${id}. `.repeat(100)} ${name.told}`);
      for (let turn = 0; turn < 3; turn++) {
        const answer = await askStream({
          url,
          model: BOX,
          messages,
          tokens: 8,
          headers: { authorization, "x-conversation-id": `conversation-${id}` },
        });
        messages.push({ role: "assistant", content: answer.text }, ...says(name.question));
        if (turn > 0) [cached, prompt] = [cached + answer.cached, prompt + answer.prompt];
      }
    }
    report(`${gateway}: cached part of later turns`, cached / prompt);
    assert(cached / prompt > 0.8, `${cached} of ${prompt}`);
  });

  test("connections to nodes are kept", async () => {
    const before = countClosed(nodes.ports);
    for (let i = 0; i < 40; i++) await ask("Hi", 1);
    const closed = countClosed(nodes.ports) - before;
    assert(closed < 8, `${closed} connections were closed`);
  });

  test("a node that is killed costs nothing that had not begun", async () => {
    const [killed] = nodes.servers;
    const answers = await loaded(() => killed!.kill());
    const outcome = outcomeOf(answers);
    report(`${gateway}: a node killed`, outcome);
    assertEquals(outcome.failed, 0);
    assert(outcome.cut <= 6, JSON.stringify(outcome)); // Half of those that ran.
  });

  test("a node that comes back is asked again", async () => {
    const server = await nodes.add(nodes.ports[0]!);
    const deadline = performance.now() + 20_000;
    const asked = () => server.lines.some((line) => line.includes("POST /v1/chat/completions"));
    while (!asked() && performance.now() < deadline) {
      await Promise.all(["a", "b", "c", "d"].map((text) => ask(text, 4)));
    }
    assert(asked(), "it was not asked");
  });

  test("a node that shuts down costs nothing at all", async () => {
    const server = nodes.servers.at(-1)!;
    let stopped: Promise<boolean> | undefined;
    const outcome = outcomeOf(await loaded(() => stopped = server.stop()));
    report(`${gateway}: a node shut down`, outcome);
    assertEquals(outcome, { asked: 96, whole: 96, cut: 0, failed: 0 });
    assertEquals(await stopped, true);
  });
}

/** How many connections to these ports were closed lately (TIME_WAIT), by whichever side. */
function countClosed(ports: readonly number[]): number {
  const hex = ports.map((port) => port.toString(16).toUpperCase().padStart(4, "0"));
  return Deno.readTextFileSync("/proc/net/tcp").split("\n").filter((line) => {
    const [, local, remote, state] = line.trim().split(/\s+/);
    return state === "06" &&
      hex.some((port) => local!.endsWith(`:${port}`) || remote!.endsWith(`:${port}`));
  }).length;
}
