// The files of the page, as `deno task web:build` has made them, and those of the library that it loads
// to run a model, from `deno task build:tab`: compressed with Brotli. A file is read at its first request and kept. Clients that do not accept Brotli, such as browsers without TLS
// on other hosts, get gzip or the plain bytes.

import { createHash } from "node:crypto";
import { brotliDecompressSync, gzipSync } from "node:zlib";

/** The files of the page. */
const PAGE = new URL("./assets/", import.meta.url);

/** The library for pages. */
export const LIBRARY = new URL("../../../dist/library/", import.meta.url);

const TYPES: Record<string, string> = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
};

type Bytes = Uint8Array<ArrayBuffer>;

/** A file in the encodings that were asked for so far. */
interface Asset {
  type: string;
  etag: string;
  brotli: Bytes;
  gzip?: Bytes;
  plain?: Bytes;
}

const assets = new Map<string, Asset>();

/**
 * A response with a file of the page; undefined if there is none of that name. Files with a hash in
 * their names never change and are cached for ever; others are requested again each time.
 *
 * @param request whose headers tell the encodings that it takes, and what it has
 * @param folder where it is; by default the page's own
 */
export async function assetResponse(
  name: string,
  request: Request,
  headers: Record<string, string> = {},
  folder = PAGE,
): Promise<Response | undefined> {
  const asset = await find(name, folder);
  if (!asset) return undefined;
  const known = {
    ...headers,
    "cache-control": /-[A-Z0-9]{8,}\./.test(name)
      ? "public, max-age=31536000, immutable"
      : "no-cache",
    etag: asset.etag,
    vary: "accept, accept-encoding",
    "x-content-type-options": "nosniff",
    // The page's threads have to be isolated as it is.
    "cross-origin-embedder-policy": "require-corp",
  };
  if (request.headers.get("if-none-match")?.includes(asset.etag)) {
    return new Response(null, { status: 304, headers: known });
  }
  const { encoding, bytes } = encode(asset, request.headers.get("accept-encoding") ?? "");
  return new Response(bytes, {
    headers: {
      ...known,
      "content-type": asset.type,
      "content-length": String(bytes.length),
      ...(encoding && { "content-encoding": encoding }),
    },
  });
}

/** Whether there is the library for pages, which a checkout has only once it is built. */
export async function hasLibrary(): Promise<boolean> {
  return await find("index.js", LIBRARY) !== undefined;
}

/** The text of a file of the page, which must be there. */
export async function readAsset(name: string): Promise<string> {
  const asset = await find(name, PAGE);
  if (!asset) throw new Error(`Cannot read ${name}: it is not among the files of the page`);
  return new TextDecoder().decode(plainBytes(asset));
}

async function find(name: string, folder: URL): Promise<Asset | undefined> {
  const type = TYPES[/\.\w+$/.exec(name)?.[0] ?? ""];
  // The name comes from a client, so only a plain file name is accepted.
  if (!type || !/^[\w-]{1,64}\.\w+$/.test(name)) return undefined;
  const path = new URL(`${name}.br`, folder);
  const known = assets.get(path.href);
  if (known) return known;
  try {
    const brotli = await Deno.readFile(path);
    const hash = createHash("sha256").update(brotli).digest("base64url").slice(0, 20);
    const asset = { type, etag: `"${hash}"`, brotli };
    assets.set(path.href, asset);
    return asset;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

function encode(asset: Asset, accepted: string): { encoding: string; bytes: Bytes } {
  const takes = (name: string) =>
    new RegExp(`\\b${name}\\b(?!\\s*;\\s*q=0(?:\\.0*)?\\s*(?:,|$))`).test(accepted);
  if (takes("br")) return { encoding: "br", bytes: asset.brotli };
  const plain = plainBytes(asset);
  if (!takes("gzip")) return { encoding: "", bytes: plain };
  asset.gzip ??= new Uint8Array(gzipSync(plain));
  return { encoding: "gzip", bytes: asset.gzip };
}

function plainBytes(asset: Asset): Bytes {
  return asset.plain ??= new Uint8Array(brotliDecompressSync(asset.brotli));
}
