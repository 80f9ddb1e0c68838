// The process of one model, for those that are isolated: it passes on what comes over its standard
// input to a model in a worker, and the answers over its standard output. So it hears its parent
// whatever the worker is at, can be killed without any harm to others, and ends when its parent does.

import { openModelInWorker } from "./open_model.ts";
import { MessageSender, readMessages } from "./message_pipe.ts";
import type { ToWorker } from "./protocol.ts";
import { ModelService } from "./service.ts";

/** Serves a model over this process's pipes, until the parent closes them; then the process ends. */
export async function serveModelProcess(): Promise<never> {
  // An interrupt of the terminal, or of a service manager, goes to the whole group: its parent, which
  // hears it too, may have requests to end first.
  const signals: Deno.Signal[] = Deno.build.os === "windows" ? ["SIGINT"] : ["SIGINT", "SIGTERM"];
  for (const signal of signals) Deno.addSignalListener(signal, () => {});
  const answers = new MessageSender(Deno.stdout.writable);
  const service = new ModelService(openModelInWorker, (message) => answers.send(message));
  for await (const message of readMessages(Deno.stdin.readable)) {
    void service.receive(message as ToWorker);
  }
  Deno.exit();
}

if (import.meta.main) await serveModelProcess();
