// Registries that want a token, and redirects: who gets to see the user's credentials.

import { Buffer } from "node:buffer";
import { generateKeyPairSync, type KeyObject, verify } from "node:crypto";
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { pullModel, RegistryError } from "../../../server/registry/mod.ts";
import { maySign, parseChallenge, parseSshKey } from "../../../server/registry/token_source.ts";
import { type FakeAnswer, FakeRegistry, type FakeRequest } from "./fake_registry.ts";
import { collect, encode, openStore, QUICK, sampleModel, withFolder } from "./fixtures.ts";

const options = {
  insecure: true,
  signal: new AbortController().signal,
  tuning: QUICK,
  keyPath: "does-not-exist",
};

/** Hands out numbered tokens, each good for so many requests. */
class TokenDesk {
  issued = 0;
  asked: FakeRequest[] = [];
  #uses = 0;

  constructor(readonly host: string, readonly usesOfToken: number) {}

  /** The tokens that are out are good no more. */
  revoke(): void {
    this.#uses = Infinity;
  }

  answer(request: FakeRequest, proper: FakeAnswer): FakeAnswer {
    if (request.path === "/token") {
      this.asked.push(request);
      this.#uses = 0;
      return { status: 200, body: encode(JSON.stringify({ token: `token-${++this.issued}` })) };
    }
    const isGood = request.headers.get("authorization") === `Bearer token-${this.issued}`;
    if (isGood && this.#uses++ < this.usesOfToken) return proper;
    const challenge =
      `Bearer realm="http://${this.host}/token",service="a, b",scope="pull:x push:y"`;
    return { status: 401, headers: { "www-authenticate": challenge } };
  }
}

async function withDesk(
  usesOfToken: number,
  test: (registry: FakeRegistry, desk: TokenDesk, folder: string) => Promise<void>,
): Promise<void> {
  await withFolder(async (folder) => {
    await using registry = new FakeRegistry(sampleModel());
    const desk = new TokenDesk(registry.host, usesOfToken);
    registry.misbehave((request, proper) => desk.answer(request, proper));
    await test(registry, desk, folder);
  });
}

Deno.test("pullModel() asks for one token and keeps it", () =>
  withDesk(Infinity, async (registry, desk, folder) => {
    await collect(pullModel(openStore(folder), registry.name, options));
    assertEquals(desk.issued, 1);
    const [{ query, headers }] = desk.asked as [FakeRequest];
    assertEquals(query.get("service"), "a, b");
    assertEquals(query.getAll("scope"), ["pull:x", "push:y"]);
    assertEquals(query.has("nonce"), false);
    assertEquals(headers.has("authorization"), false, "anonymous");
    assertMatch(headers.get("user-agent")!, /^quern\/\d+\.\d+/);
  }));

Deno.test("pullModel() gets a new token when the old one runs out in the middle", () =>
  withDesk(7, async (registry, desk, folder) => {
    const store = openStore(folder);
    await collect(pullModel(store, registry.name, options));
    assert(desk.issued >= 3, `${desk.issued} tokens`);
    assert(await store.find(registry.name));
  }));

Deno.test("pullModel() gets one new token for all the streams that are refused together", () =>
  withDesk(Infinity, async (registry, desk, folder) => {
    const { promise: renewed, resolve } = Promise.withResolvers<void>();
    let refused = 0;
    registry.misbehave((request, proper) => {
      if (desk.issued === 2 && request.kind === "blob") resolve();
      if (desk.issued !== 1 || request.kind !== "blob") return desk.answer(request, proper);
      desk.revoke();
      const refusal = desk.answer(request, proper);
      // One of them learns of it only after another has a new token.
      return ++refused === 2 ? { ...refusal, after: renewed } : refusal;
    });
    await collect(pullModel(openStore(folder), registry.name, options));
    assertEquals(desk.issued, 2);
  }));

Deno.test("pullModel() says that a token does not help", () =>
  withDesk(0, async (registry, _desk, folder) => {
    const error = await assertRejects(
      () => collect(pullModel(openStore(folder), registry.name, options)),
      RegistryError,
    );
    assertEquals(error.status, 401);
    assertMatch(error.message, /pull model manifest: the server answered 401/);
  }));

Deno.test("pullModel() says that a registry wants a password or gives no token", async () => {
  const answers: [header: string, body: string, message: RegExp][] = [
    ['Basic realm="x"', "", /passwords are not supported/],
    ["Bearer realm=/token", "{}", /Cannot get a token for .*: the answer holds no token/],
    ["Bearer realm=/token", "<html>", /the answer holds no token/],
    ['Bearer realm="http://["', "", /which is no address/],
  ];
  for (const [header, body, message] of answers) {
    await withFolder(async (folder) => {
      await using registry = new FakeRegistry(sampleModel());
      registry.misbehave(({ path }) =>
        path === "/token"
          ? { status: 200, body: encode(body) }
          : { status: 401, headers: { "www-authenticate": header } }
      );
      const error = await assertRejects(
        () => collect(pullModel(openStore(folder), registry.name, options)),
        RegistryError,
      );
      assertMatch(error.message, message);
    });
  }
});

Deno.test("pullModel() follows redirects to other servers without its token", () =>
  withDesk(Infinity, async (registry, desk, folder) => {
    await using storage = new FakeRegistry(registry.model);
    await using mirror = new FakeRegistry(registry.model);
    registry.misbehave((request, proper) => {
      const answer = desk.answer(request, proper);
      if (request.kind !== "blob" || answer !== proper) return answer;
      return { status: 307, headers: { location: `http://${storage.host}${request.path}` } };
    });
    // Back to the first server's name would be no reason to trust it again.
    storage.misbehave(({ path }) => (
      { status: 302, headers: { location: `http://${mirror.host}${path}` } }
    ));
    await collect(pullModel(openStore(folder), registry.name, options));
    assert(mirror.requests.length >= 3);
    for (const { headers } of [...storage.requests, ...mirror.requests]) {
      assertEquals(headers.has("authorization"), false);
    }
    const ofBlobs = registry.requests.filter(({ kind }) => kind === "blob");
    assert(ofBlobs.every(({ headers }) => headers.has("authorization")), "the registry gets it");
  }));

Deno.test("a redirect that leads home again does not get the token back", () =>
  withDesk(Infinity, async (registry, desk, folder) => {
    await using storage = new FakeRegistry(registry.model);
    storage.misbehave(({ path }) => (
      { status: 302, headers: { location: `http://${registry.host}/home${path}` } }
    ));
    registry.misbehave((request, proper) => {
      if (request.path.startsWith("/home")) return proper;
      const answer = desk.answer(request, proper);
      if (request.kind !== "blob" || answer !== proper) return answer;
      return { status: 307, headers: { location: `http://${storage.host}${request.path}` } };
    });
    await collect(pullModel(openStore(folder), registry.name, options));
    const home = registry.requests.filter(({ path }) => path.startsWith("/home"));
    assert(home.length > 0);
    for (const { headers } of home) assertEquals(headers.has("authorization"), false);
  }));

Deno.test("pullModel() follows no redirect from https to http", () =>
  withFolder(async (folder) => {
    await using storage = new FakeRegistry(sampleModel());
    const location = `http://${storage.host}/x`;
    const redirecting: typeof fetch = () =>
      Promise.resolve(new Response(null, { status: 307, headers: { location } }));
    const strict = { ...options, insecure: false, fetch: redirecting };
    const error = await assertRejects(
      () => collect(pullModel(openStore(folder), "registry.test/sample", strict)),
      RegistryError,
    );
    assertMatch(error.message, /http:\/\/127\.0\.0\.1:\d+ is not reached by https/);
    assertEquals(storage.requests, []);
  }));

Deno.test("pullModel() signs the request for a token with the user's key", () =>
  withDesk(Infinity, async (registry, desk, folder) => {
    const { publicKey, privateKey } = generateKeyPairSync("ed25519");
    const keyPath = `${folder}/id_ed25519`;
    await Deno.writeTextFile(keyPath, openSshKey(privateKey));
    await collect(pullModel(openStore(`${folder}/store`), registry.name, { ...options, keyPath }));

    const [{ headers, path, query }] = desk.asked as [FakeRequest];
    const [key, signature] = headers.get("authorization")!.split(":") as [string, string];
    assertEquals(Buffer.from(key, "base64").subarray(-32), rawHalves(privateKey).open);
    assertMatch(query.get("nonce")!, /^[\w-]{22}$/);
    assert(Math.abs(Number(query.get("ts")) - Date.now() / 1000) < 60);
    const empty =
      "ZTNiMGM0NDI5OGZjMWMxNDlhZmJmNGM4OTk2ZmI5MjQyN2FlNDFlNDY0OWI5MzRjYTQ5NTk5MWI3ODUyYjg1NQ==";
    const signed = `GET,http://${registry.host}${path}?${query},${empty}`;
    assert(verify(null, Buffer.from(signed), publicKey, Buffer.from(signature, "base64")));
  }));

Deno.test("pullModel() does not sign for a realm of another host", () =>
  withFolder(async (folder) => {
    const model = sampleModel();
    await using foreign = new FakeRegistry(model);
    await using registry = new FakeRegistry(model);
    const desk = new TokenDesk(foreign.host, Infinity);
    registry.misbehave((request, proper) => desk.answer(request, proper));
    foreign.misbehave((request, proper) => desk.answer(request, proper));
    const keyPath = `${folder}/id_ed25519`;
    await Deno.writeTextFile(keyPath, openSshKey(generateKeyPairSync("ed25519").privateKey));
    await collect(pullModel(openStore(`${folder}/store`), registry.name, { ...options, keyPath }));
    assertEquals(desk.asked.map(({ headers }) => headers.has("authorization")), [false]);
  }));

Deno.test("maySign() trusts the registry's own host and the known token hosts over https", () => {
  const cases: [registry: string, realm: string, trusted: boolean][] = [
    ["https://registry.ollama.ai", "https://ollama.com/token", true],
    ["https://registry.ollama.ai", "http://ollama.com/token", false],
    ["https://registry.ollama.ai", "https://registry.ollama.ai/v2/token", true],
    ["https://hf.co", "https://huggingface.co/v2/token", true],
    ["https://evil.test", "https://ollama.com/token", false],
    ["http://127.0.0.1:5000", "http://127.0.0.1:5001/token", false],
  ];
  for (const [registry, realm, trusted] of cases) {
    assertEquals(maySign(new URL(registry), new URL(realm)), trusted, `${registry} ${realm}`);
  }
});

Deno.test("parseChallenge() reads what registries write", () => {
  const realm = "https://a.test/token";
  assertEquals(parseChallenge(`Bearer realm="${realm}"`), { realm, scopes: [] });
  assertEquals(parseChallenge(`bearer  realm=${realm} , service=s`), {
    realm,
    service: "s",
    scopes: [],
  });
  assertEquals(
    parseChallenge(`Basic realm="x", Bearer realm="${realm}",scope="a:b:pull,push c"`),
    { realm, scopes: ["a:b:pull,push", "c"] },
  );
  for (const none of [null, "", "Basic realm=x", "Bearer", "Bearer service=x"]) {
    assertEquals(parseChallenge(none), undefined);
  }
});

Deno.test("parseSshKey() refuses what is no unencrypted Ed25519 key", async () => {
  const good = openSshKey(generateKeyPairSync("ed25519").privateKey);
  assert(parseSshKey(good).publicKey.startsWith("AAAAC3NzaC1lZDI1NTE5"));
  const [, body] = /-\n([^-]+)\n-/.exec(good)!;
  const pem = (content: string) => good.replace(body!, Buffer.from(content).toString("base64"));
  for (
    const bad of [
      "",
      "-----BEGIN",
      pem(""),
      pem("openssh-key-v1\0\0\0\0\x04none"),
      pem("x".repeat(99)),
    ]
  ) {
    await assertRejects(
      async () => await parseSshKey(bad),
      SyntaxError,
      "Cannot read the private key",
    );
  }
});

/** The private and public half of a key, 32 bytes each. */
function rawHalves(key: KeyObject): { seed: Buffer; open: Buffer } {
  const { d, x } = key.export({ format: "jwk" });
  return { seed: Buffer.from(d!, "base64url"), open: Buffer.from(x!, "base64url") };
}

/** A private key in OpenSSH's format, as ssh-keygen writes it. */
function openSshKey(key: KeyObject): string {
  const { seed, open } = rawHalves(key);
  const number = (value: number) => Buffer.from([0, 0, value >> 8, value & 255]);
  const string = (value: string | Buffer) =>
    Buffer.concat([number(value.length), Buffer.from(value as string)]);
  const type = string("ssh-ed25519");
  const secret = Buffer.concat([
    Buffer.alloc(8, 7),
    type,
    string(open),
    string(Buffer.concat([seed, open])),
    string("a comment"),
    Buffer.from([1, 2, 3]),
  ]);
  const whole = Buffer.concat([
    Buffer.from("openssh-key-v1\0"),
    string("none"),
    string("none"),
    string(""),
    number(1),
    string(Buffer.concat([type, string(open)])),
    string(secret),
  ]);
  const lines = whole.toString("base64").match(/.{1,70}/g)!.join("\n");
  return `-----BEGIN OPENSSH PRIVATE KEY-----\n${lines}\n-----END OPENSSH PRIVATE KEY-----\n`;
}
