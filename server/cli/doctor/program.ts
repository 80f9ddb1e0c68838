// The section about the program itself and what it runs on.

import { type Host, readDistribution } from "../setup/host.ts";
import { VERSION } from "../../version.ts";
import type { Section } from "./types.ts";

const SYSTEMS: Partial<Record<typeof Deno.build.os, string>> = {
  darwin: "macOS",
  linux: "Linux",
  windows: "Windows",
};

/** Versions of Quern, of Deno and of the system. */
export async function examineProgram(host: Host): Promise<Section> {
  const distribution = await readDistribution(host);
  const facts = {
    version: VERSION,
    deno: Deno.version.deno,
    os: host.os,
    release: Deno.osRelease(),
    architecture: Deno.build.arch,
    ...(distribution && { distribution: `${distribution.id} ${distribution.codename}`.trim() }),
  };
  const name = `${SYSTEMS[host.os] ?? host.os} ${facts.release} on ${facts.architecture}`;
  return {
    title: "Program",
    findings: [
      { mark: "ok", subject: "Quern", text: VERSION },
      { mark: "ok", subject: "Deno", text: facts.deno },
      {
        mark: "ok",
        subject: "system",
        text: facts.distribution ? `${name}, ${facts.distribution}` : name,
      },
    ],
    facts,
  };
}
