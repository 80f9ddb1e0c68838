// The thread in which large images are decoded and scaled, one at a time. That takes seconds,
// during which the model's thread goes on with other answers. preparer.ts is the other side.

import { threadScope } from "../../../host/mod.ts";
import { CancelFlag } from "../../cancellation.ts";
import { type PrepareAnswer, prepareImage, type PrepareRequest } from "./preparer.ts";
import { ImageError } from "../image/mod.ts";

const scope = threadScope();

scope.onmessage = async ({ data }: MessageEvent<PrepareRequest>) => {
  const { bytes, config, cancelled } = data;
  try {
    const prepared = await prepareImage(bytes, config, [new CancelFlag(cancelled)]);
    const buffers = new Set(prepared.images.map(({ pixels }) => pixels.buffer as ArrayBuffer));
    answer({ prepared }, [...buffers]);
  } catch (error) {
    if (error instanceof ImageError) answer({ fault: error.state });
    else answer({ failure: String(error) });
  }
};

function answer(message: PrepareAnswer, transfer: ArrayBuffer[] = []): void {
  scope.postMessage(message, transfer);
}
