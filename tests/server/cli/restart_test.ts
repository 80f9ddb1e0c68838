// A program that was started without V8's flags starts itself again with them, where it can.

import { assert, assertEquals } from "@std/assert";
import { missingFlags, type Start } from "../../../server/cli/setup/restart.ts";
import { V8_FLAGS } from "../../../server/cli/setup/v8_flags.ts";
import { freePort } from "../../free_port.ts";

const PLAIN: Start = {
  command: "serve",
  os: "linux",
  architecture: "x86_64",
  isStandalone: false,
  flags: undefined,
};

Deno.test("flags are missing where commands compute, nobody has set any, and V8 has some", () => {
  assertEquals(missingFlags(PLAIN), V8_FLAGS.x86_64);
  for (const command of ["run", "embed", "bench"]) {
    assertEquals(missingFlags({ ...PLAIN, command }), V8_FLAGS.x86_64);
  }
  const others: Partial<Start>[] = [
    { command: "list" },
    { command: undefined },
    { os: "darwin" },
    { os: "windows" },
    { architecture: "aarch64" },
    { isStandalone: true },
    { flags: "" },
    { flags: "--max-lazy" },
  ];
  for (const other of others) assertEquals(missingFlags({ ...PLAIN, ...other }), undefined);
});

const canRestart = missingFlags({
  ...PLAIN,
  os: Deno.build.os,
  architecture: Deno.build.arch,
}) !== undefined;

Deno.test({
  name: "`deno run -A mod.ts serve` is the same process, with the flags and all arguments",
  ignore: !canRestart,
}, async () => {
  const [folder, port] = [await Deno.makeTempDir(), freePort()];
  const env: Record<string, string> = {
    ...Deno.env.toObject(),
    OLLAMA_HOST: `127.0.0.1:${port}`,
    OLLAMA_MODELS: folder,
    QUERN_CACHE: `${folder}/cache`,
  };
  delete env["DENO_V8_FLAGS"];
  const process = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-lock", "--no-check", "mod.ts", "serve"],
    cwd: new URL("../../..", import.meta.url),
    clearEnv: true,
    env,
    stdout: "null",
    stderr: "null",
  }).spawn();
  try {
    await answer(`http://127.0.0.1:${port}/api/version`);
    const environment = Deno.readTextFileSync(`/proc/${process.pid}/environ`).split("\0");
    assert(environment.includes(`DENO_V8_FLAGS=${V8_FLAGS[Deno.build.arch]}`));
    const line = Deno.readTextFileSync(`/proc/${process.pid}/cmdline`).split("\0");
    assertEquals(line.slice(1, -1), ["run", "-A", "--no-lock", "--no-check", "mod.ts", "serve"]);
  } finally {
    process.kill("SIGTERM");
    assertEquals((await process.status).code, 0);
    await Deno.remove(folder, { recursive: true });
  }
});

/** Waits until a server answers. */
async function answer(url: string): Promise<void> {
  for (let attempt = 0;; attempt++) {
    try {
      return void await (await fetch(url)).text();
    } catch (error) {
      if (attempt === 300) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}
