// The process of one isolated model. It passes the messages from its standard input to a worker,
// which runs the model, and the answers to its standard output. Because the worker does the work,
// the process always hears its parent, ends when the parent does, and can be killed at any time.

import { operatingSystem, processes } from "../../host/mod.ts";
import { DeviceFailedError, type ModelLostError } from "../errors.ts";
import { openModelInWorker } from "./open_model.ts";
import { MessageSender, readMessages } from "./message_pipe.ts";
import type { ToWorker } from "./protocol.ts";
import { type LoadModel, ModelService } from "./service.ts";

/** Serves a model over this process's pipes, until the parent closes them; then the process ends. */
export async function serveModelProcess(): Promise<never> {
  // An interrupt from the terminal or a service manager goes to the whole process group. The parent
  // gets it too, and may want to finish requests first, so it is ignored here.
  const { addSignalListener, exit, stdin } = processes();
  addSignalListener("SIGINT", () => {});
  if (operatingSystem() !== "windows") addSignalListener("SIGTERM", () => {});
  const answers = new MessageSender(processes().stdout.writable);
  // Without its worker the process is of no use: its parent sees that it has ended. Of a device that
  // failed it hears by a message.
  const onCrash = (error: ModelLostError) => {
    if (!(error instanceof DeviceFailedError)) exit(1);
  };
  const load: LoadModel = (path, options) => openModelInWorker(path, { ...options, onCrash });
  const service = new ModelService(load, (message) => answers.send(message));
  for await (const message of readMessages(stdin.readable)) {
    void service.receive(message as ToWorker);
  }
  return exit();
}

if (import.meta.main) await serveModelProcess();
