// `quern pull MODEL` and `quern push MODEL`: models from and to a registry, with progress.

import { type Api, ApiError, connect } from "../client/mod.ts";
import { similarModel } from "../repl/mod.ts";
import { showProgress } from "../terminal/mod.ts";
import type { CliDependencies } from "../dependencies.ts";
import { interruptible } from "../terminal/interrupt.ts";

/** Options of the command line. */
export interface TransferOptions {
  /** Allows plain HTTP, or a certificate that is not trusted. */
  insecure?: boolean;
}

/** Downloads a model. After an interrupt the next pull continues where this one stopped. */
export async function pull(
  dependencies: CliDependencies,
  model: string,
  options: TransferOptions,
): Promise<number> {
  return await transfer(dependencies, "/api/pull", model, options);
}

/** Uploads a model. */
export async function push(
  dependencies: CliDependencies,
  model: string,
  options: TransferOptions,
): Promise<number> {
  return await transfer(dependencies, "/api/push", model, options);
}

function transfer(
  dependencies: CliDependencies,
  path: "/api/pull" | "/api/push",
  model: string,
  { insecure = false }: TransferOptions,
): Promise<number> {
  const { terminal, environment } = dependencies;
  return interruptible(terminal, async (signal) => {
    await using api = await connect(dependencies);
    using progress = showProgress(terminal, environment);
    const request = { model, insecure, stream: true };
    try {
      for await (const record of api.stream(path, request, signal)) {
        progress.update(record);
      }
    } catch (error) {
      if (error instanceof ApiError) throw await withSuggestion(error, api, model, signal);
      throw error;
    }
    return 0;
  });
}

/** The error, with a suggestion of the model that may have been meant. */
async function withSuggestion(
  error: ApiError,
  api: Api,
  model: string,
  signal: AbortSignal,
): Promise<ApiError> {
  const near = await similarModel(api, model, signal);
  if (near === undefined) return error;
  return new ApiError(error.status, `${error.message}. Did you mean "${near}"?`);
}
