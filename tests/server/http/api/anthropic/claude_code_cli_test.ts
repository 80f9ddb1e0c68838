// Claude Code itself, where it is installed as `claude`, against the application on a real port: it
// reads a file because a model with a script asks for it. Nothing leaves this machine.

import { assertEquals, assertStringIncludes } from "@std/assert";
import type { ChatEvent, ChatRequest } from "../../../../../engine/mod.ts";
import { callEvents, gives } from "../openai/openai_scripts.ts";
import { createTestApp } from "../../../test_app.ts";
import { portWay } from "../../../tiny_app.ts";

/** Runs the program to its end in a folder that is its home, too. */
async function runClaude(args: string[], home: string, environment = {}) {
  const { code, stdout, stderr } = await new Deno.Command("claude", {
    args,
    cwd: home,
    clearEnv: true,
    env: { PATH: Deno.env.get("PATH") ?? "", HOME: home, ...environment },
    stdin: "null",
    signal: AbortSignal.timeout(60_000),
  }).output();
  const decoder = new TextDecoder();
  return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
}

const home = await Deno.makeTempDir();
globalThis.addEventListener("unload", () => Deno.removeSync(home, { recursive: true }));
const isInstalled = await runClaude(["--version"], home).then(
  ({ code }) => code === 0,
  () => false,
);

Deno.test({
  name: "Claude Code reads a file for a model and prints its answer" +
    (isInstalled ? "" : " (skipped: no `claude` on the path)"),
  ignore: !isInstalled,
  async fn() {
    const path = `${home}/note.txt`;
    await Deno.writeTextFile(path, "The word is quern.");
    const reading = callEvents("call_1", "Read", [JSON.stringify({ file_path: path })]);
    const served = createTestApp({
      info: { callsTools: true, thinks: true },
      script(request) {
        const last = (request as ChatRequest).messages.findLast(({ role }) => role === "tool");
        const answer: ChatEvent[] = last ? [{ type: "text", text: last.content }] : reading;
        return gives(answer)(request);
      },
    });
    const args = ["-p", "What is the word?", "--model", "tiny", "--allowedTools", "Read"];
    const { code, stdout, stderr } = await runClaude(args, home, {
      ANTHROPIC_BASE_URL: portWay(served).url,
      ANTHROPIC_AUTH_TOKEN: "any",
      ANTHROPIC_SMALL_FAST_MODEL: "tiny",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    });
    assertEquals(code, 0, stderr);
    assertStringIncludes(stdout, "The word is quern.");
    assertEquals(served.lines.filter((line) => !/ 200 /.test(line)), []);
  },
});
