// A server that answers commands as it is told to, and remembers what they asked.

import type { CliDependencies } from "../../../../server/cli/dependencies.ts";
import { main } from "../../../../server/cli/main.ts";
import { FakeTerminal } from "../fake_terminal.ts";

/** A request as the server got it. */
export interface Asked {
  /** Such as `POST /api/pull`. */
  route: string;
  headers: Headers;
  /** JSON as its value, else the text. */
  body: unknown;
}

/** Answers a request. */
export type Route = (asked: Asked) => Response | Promise<Response>;

/** How a command ran. */
export interface CommandRun {
  code: number;
  terminal: FakeTerminal;
  /** Without the question whether anybody is there. */
  asked: Asked[];
}

/** What a command runs in. */
export interface CommandOptions {
  terminal?: FakeTerminal;
  environment?: Record<string, string>;
  spawn?: CliDependencies["spawn"];
}

/** Runs a command against a server of such routes; others answer 404. */
export async function runCommand(
  args: string[],
  routes: Record<string, Route>,
  { terminal = new FakeTerminal(), environment = {}, spawn }: CommandOptions = {},
): Promise<CommandRun> {
  const asked: Asked[] = [];
  const code = await main(args, {
    open: () => Promise.reject(new Error("not reached")),
    inspect: () => Promise.reject(new Error("not reached")),
    terminal,
    environment,
    ...(spawn && { spawn }),
    fetch: fakeFetch(routes, asked),
  });
  return { code, terminal, asked };
}

/** A fetch to a server of such routes. */
export function fakeFetch(
  routes: Record<string, Route>,
  asked: Asked[] = [],
): typeof globalThis.fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    const { method, headers } = request;
    const route = `${method} ${new URL(request.url).pathname}`;
    if (route === "GET /") return new Response("Ollama is running");
    const text = await request.text();
    const isJson = headers.get("content-type") === "application/json";
    const one = { route, headers, body: isJson ? JSON.parse(text) : text };
    asked.push(one);
    return await routes[route]?.(one) ?? new Response("404 page not found", { status: 404 });
  };
}

/** An answer of NDJSON. */
export function records(...values: unknown[]): Response {
  return new Response(values.map((value) => JSON.stringify(value) + "\n").join(""), {
    headers: { "content-type": "application/x-ndjson" },
  });
}

/** An answer that refuses. */
export function refusal(status: number, error: string): Response {
  return Response.json({ error }, { status });
}
