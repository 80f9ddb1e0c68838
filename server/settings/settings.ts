// The settings of a server: the values of the table in environment.ts, and the folders that depend on the
// system. An invalid value gives the default here, because commands that act on settings refuse it
// beforehand.

import { join } from "node:path";
import { VERSION } from "../version.ts";
import { type Environment, readValues, readVariable, type SettingValues } from "./environment.ts";

/** Settings of a server. Durations in milliseconds; where one is missing, the engine decides. */
export interface Settings extends Omit<SettingValues, "models" | "ollamaModels"> {
  /** Folder of the models. */
  models: string;
}

export function readSettings(environment: Environment): Settings {
  const { ollamaModels, models, ...values } = readValues(environment);
  const home = readVariable(environment, "HOME") || readVariable(environment, "USERPROFILE");
  const cache = values.cache ?? cacheFolder(environment, home);
  return {
    ...values,
    models: models ?? ollamaModels ?? join(home, ".ollama", "models"),
    ...(cache !== undefined && { cache }),
  };
}

/** How GPUs are proved; undefined if they are not, as where nothing can be kept of it. */
export function proofOptions(
  settings: Pick<Settings, "cache" | "noProof">,
): { folder: string; version: string } | undefined {
  const folder = settings.noProof ? undefined : tuningFolder(settings);
  return folder === undefined ? undefined : { folder, version: VERSION };
}

/** The folder with what was found out about GPUs; undefined if it is not kept. */
export function tuningFolder({ cache }: Pick<Settings, "cache">): string | undefined {
  return cache === undefined ? undefined : join(cache, "tuning");
}

/** The folder in which programs of this system keep their caches; undefined where it names none. */
function cacheFolder(environment: Environment, home: string): string | undefined {
  const shared = readVariable(environment, "XDG_CACHE_HOME") ||
    readVariable(environment, "LOCALAPPDATA") || (home && join(home, ".cache"));
  return shared ? join(shared, "quern") : undefined;
}
