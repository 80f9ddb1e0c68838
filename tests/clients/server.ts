// The server that clients are tried with: a process with a store and a port of its own, and beside the
// model in the box copies of it that some clients need.

import { writeTinyWhisper } from "../engine/speech/tiny_whisper.ts";
import { Server } from "../attack/server.ts";
import { BOX } from "../server/box_talk.ts";

export { BOX };
/** The model whose template leaves out all that it is told. Codex wants names with a tag. */
export const AGENT = "agent:latest";
/** What it answers. */
export const AGENT_ANSWER = /quern pull/;

const ASKING = `{{ if .Tools }}{{ end }}{{ if .Messages }}{{ end }}<|im_start|>user
How do I pull a model?<|im_end|>
<|im_start|>assistant
`;
/** Begins a row of zeros that the model goes on with for ever. */
const ENDLESS = "{{ if .Messages }}{{ end }}" + "0".repeat(25);

const copies = {
  [AGENT]: { template: ASKING, parameters: { temperature: 0, num_predict: 60 } },
  endless: { template: ENDLESS, parameters: { temperature: 0, repeat_penalty: 1 } },
};
/** Names that mem0 asks for unless it is told others, and what they name here: its prompt is long. */
const aliases = { "llama3.1:8b": AGENT, "text-embedding-3-small": BOX };

/** A model that transcribes: its weights are random, and so are its words. */
const WHISPER = "whisper";

/** Starts a server and makes the copies. */
export async function startServer(folder: string): Promise<Server> {
  const server = await Server.start({ folder });
  const post = async (path: string, body: object) => {
    const response = await fetch(server.url + path, { method: "POST", body: JSON.stringify(body) });
    const text = await response.text();
    if (!response.ok) throw new Error(`${path}: ${text}`);
  };
  for (const [model, members] of Object.entries(copies)) {
    await post("/api/create", { model, from: BOX, stream: false, ...members });
  }
  for (const [destination, source] of Object.entries(aliases)) {
    await post("/api/copy", { source, destination });
  }
  await makeWhisper(server, folder, post);
  return server;
}

async function makeWhisper(
  { url }: Server,
  folder: string,
  post: (path: string, body: object) => Promise<void>,
): Promise<void> {
  const path = `${folder}/whisper.gguf`;
  await writeTinyWhisper(path);
  const bytes = await Deno.readFile(path);
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
  const response = await fetch(`${url}/api/blobs/sha256:${hash}`, { method: "POST", body: bytes });
  if (!response.ok) throw new Error(`/api/blobs: ${await response.text()}`);
  const files = { "whisper.gguf": `sha256:${hash}` };
  await post("/api/create", { model: WHISPER, files, stream: false });
}
