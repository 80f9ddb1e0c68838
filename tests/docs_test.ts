// The documentation in docs/: every example in TypeScript and every curl runs against a server with the
// model in the box, those in Python where Python and the packages they import are installed, and every
// link leads somewhere. A block that is marked `ignore` is not run: it needs a download, or a terminal.

import { assert, assertEquals } from "@std/assert";
import { join } from "node:path";
import { systemDependencies } from "../server/cli/wiring.ts";
import { assemble } from "../server/http/assemble.ts";
import { createLog } from "../server/log.ts";
import { readSettings } from "../server/settings/settings.ts";
import { portWay } from "./server/tiny_app.ts";
import { listSourceFiles, PROJECT_ROOT, readSource } from "./source_files.ts";

const DOCS = new URL("docs/", PROJECT_ROOT);
const SERVER = "http://127.0.0.1:11434";

interface Page {
  name: string;
  text: string;
}

const pages: Page[] = [...Deno.readDirSync(DOCS)]
  .filter(({ name }) => name.endsWith(".md"))
  .map(({ name }) => ({ name, text: Deno.readTextFileSync(new URL(name, DOCS)) }))
  .sort((a, b) => a.name < b.name ? -1 : 1);

/** The blocks of a page in a language that are not to be ignored. */
function blocksOf({ text }: Page, language: string): string[] {
  return [...text.matchAll(/^```(\w+)( ignore)?\n([\s\S]*?)^```$/gm)]
    .filter(([, name, ignored]) => name === language && !ignored)
    .map(([, , , code]) => code!);
}

/** Packages as these tests have them, and the library as a checkout has it. */
function resolved(code: string): string {
  return code
    .replace(/from "([^"]+)"/g, (_, name) => `from ${JSON.stringify(resolvedName(name))}`)
    .replace(
      /import\.meta\.resolve\("@quern\/quern\/([^"]+)"\)/g,
      (_, path) => JSON.stringify(new URL(path, PROJECT_ROOT).href),
    );
}

function resolvedName(name: string): string {
  const own: Record<string, string> = {
    "@quern/quern": "mod.ts",
    "@quern/quern/ai": "library/ai/mod.ts",
  };
  return own[name] ? new URL(own[name], PROJECT_ROOT).href : import.meta.resolve(name);
}

Deno.test("the examples of the documentation run", async (test) => {
  const home = await Deno.makeTempDir();
  try {
    // On a port of this process, which loads the modules for the library's examples anyway.
    const { app, manager } = assemble({
      dependencies: systemDependencies(),
      settings: readSettings({ HOME: home, OLLAMA_MODELS: home, QUERN_CACHE: home }),
      log: createLog({ write() {} }),
    });
    await using _ = { [Symbol.asyncDispose]: () => manager.closeAll() };
    const server = portWay({ app });
    for (const page of pages) {
      for (const [index, code] of blocksOf(page, "ts").entries()) {
        await test.step(`${page.name}, TypeScript ${index + 1}`, async () => {
          const path = join(home, `${page.name}-${index}.ts`);
          await Deno.writeTextFile(path, resolved(code).replaceAll(SERVER, server.url));
          await quietly(() => import(`file://${path}`));
        });
      }
      for (const [index, code] of blocksOf(page, "sh").entries()) {
        await test.step(`${page.name}, shell ${index + 1}`, () => runShell(code, server.url));
      }
      for (const [index, code] of blocksOf(page, "python").entries()) {
        await test.step({
          name: `${page.name}, Python ${index + 1}`,
          ignore: !await hasPackages(code),
          fn: () => runProgram("python3", ["-c", code.replaceAll(SERVER, server.url)]),
        });
      }
    }
  } finally {
    await Deno.remove(home, { recursive: true });
  }
});

/** Without what it prints. */
async function quietly(run: () => Promise<unknown>): Promise<void> {
  const { log } = console;
  const { write } = Deno.stdout;
  // deno-lint-ignore no-console
  console.log = () => {};
  Deno.stdout.write = (bytes) => Promise.resolve(bytes.length);
  try {
    await run();
  } finally {
    // deno-lint-ignore no-console
    console.log = log;
    Deno.stdout.write = write;
  }
}

async function runShell(code: string, url: string): Promise<void> {
  assert(code.startsWith("curl "), `only curl can be run, else say ignore:\n${code}`);
  const command = code.replace("curl ", "curl --fail-with-body --silent --show-error ")
    .replaceAll(SERVER, url);
  await runProgram("bash", ["-c", command]);
}

async function runProgram(program: string, args: string[]): Promise<void> {
  const { code, stdout, stderr } = await new Deno.Command(program, { args }).output();
  const output = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
  assertEquals(code, 0, output);
}

/** Whether Python is there, with the packages that an example imports. */
async function hasPackages(code: string): Promise<boolean> {
  const imports = code.split("\n").filter((line) => /^(from|import) /.test(line)).join("\n");
  try {
    const python = new Deno.Command("python3", { args: ["-c", imports], stderr: "null" });
    return (await python.output()).success;
  } catch {
    return false;
  }
}

Deno.test("examples of the documentation in other languages name the server and the model in the box", () => {
  for (const page of pages) {
    for (const code of blocksOf(page, "python")) {
      assert(code.includes(SERVER) && code.includes("quern:tiny"), `${page.name}:\n${code}`);
    }
  }
});

Deno.test("links of the documentation lead to pages and headings that are there", async () => {
  for (const page of pages) {
    for (const [, target] of page.text.matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^https?:/.test(target!)) continue;
      const [path, heading] = target!.split("#") as [string, string?];
      const file = path === "" ? page.name : path;
      const text = await Deno.readTextFile(new URL(file, DOCS)).catch(() => undefined);
      assert(text !== undefined, `${page.name} leads to ${target}, which is not there`);
      if (heading === undefined) continue;
      const headings = [...text.matchAll(/^#+ (.*)$/gm)].map(([, words]) =>
        words!.toLowerCase().replace(/[^\w\s-]/g, "").replaceAll(" ", "-")
      );
      assert(
        headings.includes(heading),
        `${page.name} leads to ${target}, which has no such heading`,
      );
    }
  }
});

Deno.test("every page of the documentation is in its list", () => {
  const list = pages.find(({ name }) => name === "README.md")!.text;
  for (const { name } of pages) {
    if (name !== "README.md") assert(list.includes(`](${name})`), name);
  }
});

Deno.test("the messages that the documentation explains are those of the sources", () => {
  const paths = listSourceFiles([".ts"]).filter((path) =>
    /^(?:engine|host|kernels|server|tokenizer)\//.test(path)
  );
  // Long messages are written in parts, one a line.
  const text = paths.map(readSource).join("\n").replaceAll(/["`] \+\s*["`]/g, "").replaceAll(
    '\\"',
    '"',
  );
  const { text: page } = pages.find(({ name }) => name === "troubleshooting.md")!;
  const messages = [...page.matchAll(/^\| `([^`]+)` +\|/gm)].map(([, message]) => message!);
  assert(messages.length > 30);
  for (const message of messages) {
    for (const part of message.split(/…|"/).map((part) => part.trim())) {
      assert(part.length < 3 || text.includes(part), `no source says: ${part}`);
    }
  }
});
