// Connections and what comes by them: too many, idle, slow, torn; requests that are no HTTP; clients
// that hang up, whose work has to end with them.

import { Draws } from "../../engine/grammar/fuzz/draws.ts";
import { Server } from "../server.ts";
import { type Area, type Case, recordsOf, type Trial, type World } from "../trial.ts";
import { hostileText, randomBytes } from "./texts.ts";

const RANDOM = 80;
/** Fraction of a second in which a server without requests may compute. */
const IDLE_LOAD = 0.3;
/** Milliseconds for which a connection may stay whose request does not continue. */
const STUCK_MILLISECONDS = 60_000;

const HOST = "Host: localhost\r\n";
const wait = (milliseconds: number) => new Promise((done) => setTimeout(done, milliseconds));

async function connect(server: Server): Promise<Deno.TcpConn> {
  const { hostname, port } = new URL(server.url);
  return await Deno.connect({ hostname, port: Number(port) });
}

async function writeAll(connection: Deno.Conn, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await connection.write(bytes.subarray(at));
}

/**
 * Sends bytes as they are. Returns what comes until the server closes, or sends nothing for two
 * seconds.
 */
async function exchange(server: Server, bytes: Uint8Array): Promise<string> {
  using connection = await connect(server);
  const sent = writeAll(connection, bytes).catch(() => {});
  const decoder = new TextDecoder();
  const buffer = new Uint8Array(2 ** 16);
  let text = "";
  try {
    for (;;) {
      const count = await Promise.race([connection.read(buffer), wait(2000)]);
      if (typeof count !== "number") break;
      text += decoder.decode(buffer.subarray(0, count), { stream: true });
    }
  } catch {
    // A server may reset the connection before it has read everything.
  }
  connection.close();
  await sent;
  return text;
}

const post = (path: string, headers: string, body = "") =>
  `POST ${path} HTTP/1.1\r\n${HOST}${headers}\r\n${body}`;
const small = '{"model":"quern:tiny","prompt":"Hi","stream":false,"options":{"num_predict":2}}';

/** Requests that no client sends. */
function requests(draws: Draws): [string, string | Uint8Array][] {
  const many = draws.between(200, 5000);
  const length = `Content-Length: ${small.length}\r\n`;
  return [
    ["the length twice", post("/api/generate", length + length, small)],
    ["two lengths", post("/api/generate", `${length}Content-Length: 3\r\n`, small)],
    ["lengths in a list", post("/api/generate", `Content-Length: ${small.length}, 2\r\n`, small)],
    ["a length that is none", post("/api/generate", "Content-Length: 0x10\r\n", small)],
    ["a length of 2^64", post("/api/generate", "Content-Length: 18446744073709551616\r\n", small)],
    ["a length of 2^53", post("/api/generate", "Content-Length: 9007199254740992\r\n", small)],
    ["a negative length", post("/api/generate", "Content-Length: -5\r\n", small)],
    ["length and chunks", post("/api/generate", `${length}Transfer-Encoding: chunked\r\n`, small)],
    ["chunks of no size", post("/api/generate", "Transfer-Encoding: chunked\r\n", "zz\r\nx\r\n")],
    [
      "chunks of 2^70",
      post("/api/generate", "Transfer-Encoding: chunked\r\n", `${"f".repeat(18)}\r\n`),
    ],
    ["an unknown coding", post("/api/generate", "Transfer-Encoding: gzip, x\r\n", small)],
    [
      "a body that is to be unpacked",
      post("/api/generate", `Content-Encoding: br\r\n${length}`, small),
    ],
    ["an expectation", post("/api/generate", `Expect: 200-maybe\r\n${length}`, small)],
    ["two hosts", `GET /api/tags HTTP/1.1\r\n${HOST}Host: evil.com\r\n\r\n`],
    ["no host", "GET /api/tags HTTP/1.1\r\n\r\n"],
    ["HTTP/1.0", "GET /api/tags HTTP/1.0\r\n\r\n"],
    ["HTTP/9.9", `GET /api/tags HTTP/9.9\r\n${HOST}\r\n`],
    ["HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
    ["TLS", Uint8Array.of(22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3)],
    [`${many} headers`, `GET / HTTP/1.1\r\n${HOST}${"X: a\r\n".repeat(many)}\r\n`],
    ["a header of 2 MB", `GET / HTTP/1.1\r\n${HOST}X: ${"a".repeat(2e6)}\r\n\r\n`],
    ["a path of 200 KB", `GET /${"a".repeat(2e5)} HTTP/1.1\r\n${HOST}\r\n`],
    [
      "an upgrade",
      `GET /api/tags HTTP/1.1\r\n${HOST}Upgrade: websocket\r\nConnection: upgrade\r\n\r\n`,
    ],
    ["1,000 requests at once", `GET /api/version HTTP/1.1\r\n${HOST}\r\n`.repeat(1000)],
    ["bytes", randomBytes(draws, 3000)],
  ];
}

/** A request in which some characters are replaced by random ones. */
function mutated(draws: Draws): Uint8Array {
  const bytes = new TextEncoder().encode(
    post("/api/generate", `Content-Length: ${small.length}\r\n`, small),
  );
  for (let i = draws.between(1, 4); i > 0; i--) {
    bytes[draws.below(draws.oneIn(2) ? 60 : bytes.length)] = draws.one([
      0,
      10,
      13,
      32,
      58,
      128,
      255,
      draws.below(256),
    ]);
  }
  return bytes;
}

async function sendRaw(trial: Trial, bytes: string | Uint8Array): Promise<void> {
  const sent = typeof bytes === "string" ? new TextEncoder().encode(bytes) : bytes;
  const text = await exchange(trial.server, sent);
  const [, status, body = ""] = /^HTTP\/1\.[01] (\d+)[^]*?(?:\r\n\r\n|$)([^]*)/.exec(text) ?? [];
  trial.judge("a raw request", Number(status ?? 0), body.slice(0, 2000));
}

/** Processor time of a process, in seconds. */
function workOf(pid: number): number {
  const fields = Deno.readTextFileSync(`/proc/${pid}/stat`).split(") ")[1]!.split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** Waits until no request is being worked on, which must be soon. */
async function untilIdle(trial: Trial): Promise<void> {
  const start = performance.now();
  for (let load = 1; load > IDLE_LOAD;) {
    const before = workOf(trial.server.pid);
    await wait(1000);
    load = workOf(trial.server.pid) - before;
    if (trial.isLate((performance.now() - start) / 1000)) {
      return trial.fault(
        "hang",
        `${(100 * load).toFixed(0)} % of a core for clients that have gone`,
      );
    }
  }
}

const LONG = "x x x x x x x x";
const BODY_SIZES = [0, 600, 100_000];

/** Requests that take long, in all dialects. Padding comes before the end of the body. */
function longRequests(size: number): { path: string; body: object }[] {
  const padding = "p".repeat(size);
  const options = { num_predict: 2000, temperature: 0, padding };
  const messages = [{ role: "user", content: LONG }];
  const model = "quern:tiny";
  const seen = [true, false].flatMap((stream) => [
    { path: "/api/generate", body: { model, prompt: LONG, raw: true, stream, options } },
    {
      path: "/api/generate",
      body: { model, prompt: "word ".repeat(1500), raw: true, stream, options },
    },
    {
      path: "/v1/completions",
      body: { model, prompt: LONG, max_tokens: 2000, stream, user: padding },
    },
    {
      path: "/api/chat",
      body: {
        model,
        messages,
        stream,
        options,
        format: { type: "array", minItems: 400, items: { enum: [1, 2] } },
      },
    },
  ]);
  return seen;
}

/**
 * Clients that leave at any moment. After that the server must be idle, and accept requests at
 * once.
 */
function hangUps({ draws, folder }: World): Case[] {
  return BODY_SIZES.flatMap((size) =>
    longRequests(size).map(({ path, body }, index): Case => {
      const delay = draws.between(50, 1500);
      return {
        name: `six clients of ${path} (${index}) with ${size} bytes more hang up after ${delay} ms`,
        isUnwatched: true,
        async run(trial) {
          if (folder === "") return;
          await Promise.all(Array.from({ length: 6 }, (_, client) => {
            const hangUpAfter = (delay + client * 100) / 1000;
            return trial.ask({ path, body, hangUpAfter });
          }));
          await untilIdle(trial);
          const options = { num_predict: 2 };
          const short = { model: "quern:tiny", prompt: "Hi", stream: false, options };
          const { status, text } = await trial.ask({ path: "/api/generate", body: short });
          trial.check(recordsOf(text)[0]?.done === true, () => `then: ${status} ${text}`);
        },
      };
    })
  );
}

/** More connections than the system allows. */
function tooMany({ folder }: World): Case {
  return {
    name: "400 connections where there are files for 200",
    isUnwatched: true,
    async run(trial) {
      await using server = await Server.start({ folder, before: "ulimit -n 200" });
      const open = await Promise.allSettled(Array.from({ length: 400 }, () => connect(server)));
      await wait(2000);
      trial.check(!server.ended, () => `the server ended: ${server.tail()}`);
      for (const result of open) if (result.status === "fulfilled") result.value.close();
      await wait(1000);
      if (server.ended) return;
      const { status } = await trial.ask({ path: "/health" }, server);
      trial.check(status === 200, () => `then /health: ${status}`);
      const options = { num_predict: 2 };
      const body = { model: "quern:tiny", prompt: "Hi", stream: false, options };
      const { status: answered } = await trial.ask(
        { path: "/api/generate", body, seconds: 15 },
        server,
      );
      trial.check(answered === 200, () => `then /api/generate: ${answered}`);
      trial.check(server.openFiles() < 100, () => `${server.openFiles()} files are open`);
    },
  };
}

/** Connections in all, more than a server holds. */
const CROWD = 1100;

/** Clients that keep the server waiting, each in one way, while others ask and models are loaded. */
function crowds({ folder, share }: World): Case[] {
  const starts: [string, string][] = [
    ["say nothing", ""],
    ["send half a head", `GET /api/tags HTTP/1.1\r\n${HOST.slice(0, -3)}`],
    ["send half a body", post("/api/chat", "Content-Length: 99\r\n", "{")],
    ["do not read", `GET /openapi.json HTTP/1.1\r\n${HOST}\r\n`.repeat(20)],
  ];
  const limits = ["ulimit -n 1024", "ulimit -n 200", "ulimit -n 40"];
  return starts.flatMap(([what, text], index) =>
    limits.map((before, limit): [string, number] => [before, limit])
      .filter(([, limit]) => share === 1 || limit === index % limits.length)
      .map(([before]): Case => ({
        name: `${CROWD} clients that ${what}, ${before}`,
        isUnwatched: true,
        async run(trial) {
          await using server = await Server.start({ folder, before });
          const open: Deno.TcpConn[] = [];
          try {
            while (open.length < CROWD) {
              const connection = await connect(server);
              open.push(connection);
              // The server may have ended it to make room for another.
              await writeAll(connection, new TextEncoder().encode(text)).catch(() => {});
            }
            // Those who have sent a whole head have their places for a second.
            await wait(1500);
            const headers = { connection: "close" };
            for (let asked = 0; asked < 10; asked++) {
              const { status } = await trial.ask({ path: "/api/tags", headers }, server);
              trial.check(status === 200, () => `/api/tags beside them: ${status}`);
            }
            const body = JSON.parse(small);
            const { status, text: said } = await trial.ask(
              { path: "/api/generate", body, headers, seconds: 20 },
              server,
            );
            const isRight = status === 200 || before.endsWith("40") && status === 503;
            trial.check(isRight, () => `/api/generate beside them: ${status} ${said}`);
          } finally {
            for (const connection of open) connection.close();
          }
          trial.check(!server.ended, () => `the server ended: ${server.tail()}`);
        },
      }))
  );
}

/** The status for a client that asks once and waits for the end; 0 if there is none. */
async function statusOf(server: Server): Promise<number> {
  using connection = await connect(server);
  const length = `Connection: close\r\nContent-Length: ${small.length}\r\n`;
  await writeAll(connection, new TextEncoder().encode(post("/api/generate", length, small)));
  const buffer = new Uint8Array(2 ** 12);
  let head = "";
  for (let count; (count = await connection.read(buffer)) !== null;) {
    if (head.length < 20) head += new TextDecoder().decode(buffer.subarray(0, count));
  }
  return Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1] ?? 0);
}

/** More clients at once than may wait: each is answered or refused. */
function rush({ share }: World): Case {
  const many = share < 1 ? 200 : 1000;
  return {
    name: `${many} clients at once`,
    async run(trial) {
      const asked = Array.from({ length: many }, () => statusOf(trial.server).catch(() => 0));
      const odd = (await Promise.all(asked)).filter((status) => status !== 200 && status !== 503);
      trial.check(odd.length === 0, () => `${odd.length} got ${[...new Set(odd)]}`);
    },
  };
}

/** Connections whose request begins and does not continue. */
function idle({ share }: World): Case {
  const starts = [
    "GET / HT",
    `GET / HTTP/1.1\r\n${HOST}`,
    post("/api/chat", "Content-Length: 99\r\n", "{"),
  ];
  return {
    name: "90 requests that do not go on",
    async run(trial) {
      const before = trial.server.openFiles();
      const open = await Promise.all(Array.from({ length: 90 }, async (_, index) => {
        const connection = await connect(trial.server);
        const text = starts[index % starts.length]!;
        if (text) await writeAll(connection, new TextEncoder().encode(text));
        return connection;
      }));
      try {
        const { status } = await trial.ask({ path: "/api/tags" });
        trial.check(status === 200, () => `/api/tags beside them: ${status}`);
        if (share < 1) return; // it is a wait of a minute
        const end = performance.now() + STUCK_MILLISECONDS;
        while (performance.now() < end && trial.server.openFiles() > before + 10) await wait(1000);
        const left = trial.server.openFiles() - before;
        trial.check(left <= 10, () => `${left} are open after ${STUCK_MILLISECONDS / 1000} s`);
      } finally {
        for (const connection of open) connection.close();
      }
    },
  };
}

/** Connections. */
export const connections: Area = {
  name: "connections",
  weight: 3,
  cases(world) {
    const { draws, seed, count } = world;
    const odd = requests(draws).map(([name, bytes]): Case => ({
      name,
      run: (trial) => sendRaw(trial, bytes),
    }));
    const random = Array.from({ length: count(RANDOM) }, (_, index): Case => {
      const own = seed * 10_000 + index;
      return {
        name: `a raw request that is drawn, ${own}`,
        run: (trial) => sendRaw(trial, mutated(new Draws(own))),
      };
    });
    const torn: Case = {
      name: "an upload that is torn",
      async run(trial) {
        using connection = await connect(trial.server);
        const head = post(`/api/blobs/sha256:${"0".repeat(64)}`, "Content-Length: 100000\r\n");
        await writeAll(connection, new TextEncoder().encode(head + hostileText(draws, 500)));
        await wait(300);
        connection.close();
        await wait(700);
      },
    };
    return [
      ...odd,
      ...random,
      torn,
      rush(world),
      tooMany(world),
      idle(world),
      ...crowds(world),
      ...hangUps(world),
    ];
  },
};
