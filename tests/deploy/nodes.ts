// Querns that gateways of tests stand before: processes with one store that has the model in the box, one
// that reads images (`sees`) and one that never ends (`endless`), and all asking for a key.

import { Server } from "../attack/server.ts";
import { freePort } from "../free_port.ts";
import { BOX } from "../server/box_talk.ts";
import { createVisionApp } from "../server/http/api/vision_app.ts";
import { startServer } from "../clients/server.ts";

/** The key of the nodes, which is what the programs of tests/clients send. */
export const KEY = "any";

/** The nodes. */
export class Nodes implements AsyncDisposable {
  readonly #folder: string;
  readonly #environment: Record<string, string>;
  /** Those that run or have ended. */
  readonly servers: Server[] = [];

  private constructor(folder: string, environment: Record<string, string>) {
    this.#folder = folder;
    this.#environment = environment;
  }

  /** Starts some, whose model in the box is loaded. */
  static async start(count: number, environment: Record<string, string> = {}): Promise<Nodes> {
    const { folder } = await createVisionApp(`nodes-${crypto.randomUUID()}`);
    await (await startServer(folder)).stop();
    const nodes = new Nodes(folder, environment);
    for (let i = 0; i < count; i++) await nodes.add(freePort());
    return nodes;
  }

  /** Starts one more, on a port. */
  async add(port: number): Promise<Server> {
    const server = await Server.start({
      folder: this.#folder,
      environment: {
        OLLAMA_HOST: `127.0.0.1:${port}`,
        QUERN_API_KEY: KEY,
        QUERN_CACHE: await Deno.makeTempDir({ dir: this.#folder }),
        QUERN_DEVICE: "cpu",
        QUERN_PRELOAD: BOX,
        QUERN_SHUTDOWN_TIMEOUT: "60s",
        QUERN_THREADS: "1",
        ...this.#environment,
      },
    });
    this.servers.push(server);
    while ((await statusOf(`${server.url}/health/ready`)) !== 200) {
      await new Promise((done) => setTimeout(done, 100));
    }
    return server;
  }

  /** The ports of those that were started. */
  get ports(): number[] {
    return this.servers.map(({ url }) => Number(new URL(url).port));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const server of this.servers) await server[Symbol.asyncDispose]();
  }
}

async function statusOf(url: string): Promise<number> {
  const response = await fetch(url);
  await response.body?.cancel();
  return response.status;
}
