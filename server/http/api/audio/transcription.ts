// A transcription by a model that is kept loaded meanwhile.

import type { ModelManager, TranscribeEvent, TranscribeRequest } from "../../../../engine/mod.ts";
import type { LeaseResources } from "../../generation/lease.ts";

/** The events of a transcription. Errors: those of the manager and of the model. */
export async function* runTranscription(
  { manager, queue }: LeaseResources,
  model: string,
  acquire: Parameters<ModelManager["acquire"]>[1],
  request: TranscribeRequest,
): AsyncGenerator<TranscribeEvent, void> {
  using _place = queue.enter();
  const lease = await manager.acquire(model, acquire);
  try {
    yield* lease.model.transcribe(request);
    // A model whose caller has left ends its events without an error.
    request.signal?.throwIfAborted();
  } catch (error) {
    lease.release(error);
    throw error;
  } finally {
    lease.release();
  }
}
