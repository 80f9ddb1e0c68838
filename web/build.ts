// Bundles the page into the files that the server hands out: server/http/web/assets. The same sources
// and the same Deno give the same bytes in every folder and on every machine, which a test checks.
// Each file is named by what is in it, so that browsers may keep it for ever, and lies there
// compressed with Brotli.

import { createHash } from "node:crypto";
import { brotliCompressSync, constants } from "node:zlib";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const WEB = join(ROOT, "web");
const ASSETS = join(ROOT, "server/http/web/assets");
const STYLES = ["base", "shell", "chat", "views"];

/** A file of the page: its name in /web/, and what is in it. */
export type Asset = [name: string, content: Uint8Array<ArrayBuffer>];

/** Makes all files of the page; those without a hash in their names are the documents. */
export async function buildPage(): Promise<Asset[]> {
  const folder = await Deno.makeTempDir();
  try {
    await bundle(folder, ["pdf_worker.ts"], []);
    const worker = named("pdf-worker", ".js", await Deno.readFile(join(folder, "pdf_worker.js")));
    await Deno.remove(join(folder, "pdf_worker.js"));
    await bundle(folder, ["main.tsx", "docs.tsx", "guide.tsx"], ["--code-splitting"]);
    const texts = new Map<string, string>();
    for await (const { name } of Deno.readDir(folder)) {
      texts.set(name, await Deno.readTextFile(join(folder, name)));
    }
    const bundled = nameChunks(texts);
    const style = named("style", ".css", encode(await readStyles()));
    const icon = named("icon", ".svg", await Deno.readFile(join(WEB, "icon.svg")));
    const entries = bundled.filter(([name]) => /^(?:docs|guide|main)\.js$/.test(name));
    const chunks = bundled.filter((asset) => !entries.includes(asset));
    const [docs, guide, main] = entries.map(([name, content]) =>
      named(name.slice(0, -3), ".js", content)
    );
    const document = async (file: string, script: Asset) =>
      encode(
        (await Deno.readTextFile(join(WEB, file))).replaceAll("SCRIPT", script[0]).replaceAll(
          "STYLE",
          style[0],
        )
          .replaceAll("ICON", icon[0]).replaceAll("PDF_WORKER", worker[0]),
      );
    return [
      ["page.html", await document("page.html", main!)],
      ["docs.html", await document("page.html", docs!)],
      ["guide.html", await document("guide.html", guide!)],
      main!,
      docs!,
      guide!,
      ...chunks,
      worker,
      style,
      icon,
    ];
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/**
 * Names chunks by what is in them, sorted by their names. The bundler's own hashes depend on where
 * packages and sources lie. Chunks may import each other in circles, so the hash of each is taken
 * with no names in it first, and then again and again with those of the round before, until every
 * name depends on all chunks that can be reached from it.
 */
export function nameChunks(bundled: ReadonlyMap<string, string>): Asset[] {
  const chunkName = /\b([a-z_]+)-[0-9A-Z]{8}\.js\b/g;
  const names = new Map(
    [...bundled.keys()].map((name) => [name, name.replace(chunkName, "$1.js")]),
  );
  const rename = (text: string) => text.replace(chunkName, (name) => names.get(name) ?? name);
  const chunks = [...bundled].filter(([name]) => names.get(name) !== name);
  for (let round = 0; round <= chunks.length; round++) {
    const renamed = chunks.map(([name, text]) =>
      [name, named(name.replace(chunkName, "$1"), ".js", encode(rename(text)))[0]] as const
    );
    for (const [name, next] of renamed) names.set(name, next);
  }
  return [...bundled].map(([name, text]): Asset => [names.get(name)!, encode(rename(text))])
    .sort(([a], [b]) => a < b ? -1 : 1);
}

async function bundle(folder: string, entries: string[], args: string[]): Promise<void> {
  const lock = join(ROOT, "tests/deno.lock");
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      ...["bundle", "--quiet", "--platform", "browser", "--minify", "--lock", lock, "--frozen"],
      ...[...args, "--outdir", folder],
      ...entries.map((entry) => join(WEB, entry)),
    ],
    cwd: ROOT,
  }).output();
  if (!success) throw new Error(`Cannot bundle ${entries}: ${new TextDecoder().decode(stderr)}`);
}

/** The style sheets as one, without comments and without the white space that only people need. */
async function readStyles(): Promise<string> {
  const sheets = await Promise.all(
    STYLES.map((name) => Deno.readTextFile(join(WEB, "style", `${name}.css`))),
  );
  return sheets.join("\n").replaceAll(/\/\*[^]*?\*\//g, "").replaceAll(/\s*\n\s*/g, "");
}

function named(name: string, ending: string, content: Uint8Array<ArrayBuffer>): Asset {
  const hash = createHash("sha256").update(content).digest("hex").slice(0, 10).toUpperCase();
  return [`${name}-${hash}${ending}`, content];
}

function encode(content: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(content);
}

/** As small as Brotli makes it. */
function compress(content: Uint8Array): Uint8Array {
  return brotliCompressSync(content, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
      [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
    },
  });
}

if (import.meta.main) {
  const assets = await buildPage();
  await Deno.remove(ASSETS, { recursive: true }).catch(() => {});
  await Deno.mkdir(ASSETS, { recursive: true });
  for (const [name, content] of assets) {
    await Deno.writeFile(join(ASSETS, `${name}.br`), compress(content));
  }
}
