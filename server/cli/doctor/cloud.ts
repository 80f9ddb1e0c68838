// The section about models that run elsewhere: the server that QUERN_CLOUD_HOST names.

import type { Settings } from "../../settings/settings.ts";
import type { Finding, Section } from "./types.ts";

const ANSWER_MILLISECONDS = 5000;

/** Asks the configured server whether it is there; the key is not sent. */
export async function examineCloud(
  fetch: typeof globalThis.fetch,
  settings: Settings,
): Promise<Section> {
  const { cloudHost, cloudKey, cloudApi } = settings;
  const facts = { host: cloudHost ?? null, hasKey: cloudKey !== undefined, api: cloudApi ?? null };
  const finding = cloudHost === undefined
    ? WITHOUT_HOST
    : await hostFinding(fetch, cloudHost, facts);
  return { title: "Models elsewhere", findings: [finding], facts };
}

const WITHOUT_HOST: Finding = {
  mark: "ok",
  subject: "server",
  text: "none: names that end in :cloud need QUERN_CLOUD_HOST",
};

async function hostFinding(
  fetch: typeof globalThis.fetch,
  host: string,
  { hasKey, api }: { hasKey: boolean; api: string | null },
): Promise<Finding> {
  const means = `${hasKey ? "with" : "without"} a key, ${api ? `${api}'s API` : "API as it says"}`;
  try {
    const answer = await fetch(host, { signal: AbortSignal.timeout(ANSWER_MILLISECONDS) });
    await answer.body?.cancel();
    return { mark: "ok", subject: "server", text: `${host} answers; ${means}` };
  } catch {
    return {
      mark: "warning",
      subject: "server",
      text: `${host} does not answer; ${means}`,
      todo: { text: "Check the address in QUERN_CLOUD_HOST, the network, and that server." },
    };
  }
}
