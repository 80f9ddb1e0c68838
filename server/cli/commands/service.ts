// `quern service`: the server as a service of the user who asks, by systemd on Linux and launchd on
// macOS. It needs no root rights. The file of the service contains the variables of Quern that are set.
// Only its owner may read it, because a key may be among them.

import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { CliDependencies } from "../dependencies.ts";
import { VARIABLES } from "../../settings/environment.ts";
import { v8Flags } from "../setup/v8_flags.ts";

export const SERVICE_ACTIONS = ["install", "uninstall"] as const;

/** Options of the command line. */
export interface ServiceOptions {
  print?: boolean;
}

/** A system without such services, or one that refused. */
export class ServiceError extends Error {
  override name = "ServiceError";
}

/** A service of one kind of system. */
interface Service {
  path: string;
  text: string;
  /** Commands after its file was written. */
  start: string[][];
  /** Commands before its file is removed. */
  stop: string[][];
  /** Further facts for the user. */
  advice: string;
}

const LABEL = "quern";
const AGENT = "org.quern.serve";

/**
 * Installs the service and starts it, or stops and removes it.
 *
 * @param system default the one this runs on
 * @throws {ServiceError} if this system has no services, or they could not be told of it
 */
export async function service(
  dependencies: CliDependencies,
  action: typeof SERVICE_ACTIONS[number],
  { print = false }: ServiceOptions,
  system: string = Deno.build.os,
): Promise<number> {
  const { terminal, environment } = dependencies;
  const service = serviceOf(system, environment);
  if (print) {
    terminal.write(`# ${service.path}\n${service.text}`);
    return 0;
  }
  if (action === "install") {
    await Deno.mkdir(dirname(service.path), { recursive: true });
    await writePrivately(service.path, service.text);
    terminal.write(`wrote ${service.path}\n`);
    for (const command of service.start) await run(dependencies, command, service.path);
    terminal.write(`${service.advice}\n`);
    return 0;
  }
  for (const command of service.stop) await run(dependencies, command, service.path);
  await Deno.remove(service.path).catch((error) => {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  });
  terminal.write(`removed ${service.path}\n`);
  return 0;
}

/** Writes a file that only its owner can read, whatever its mode was before. */
async function writePrivately(path: string, text: string): Promise<void> {
  const next = `${path}.new`;
  await Deno.remove(next).catch(() => {});
  await Deno.writeTextFile(next, text, { createNew: true, mode: 0o600 });
  await Deno.rename(next, path);
}

async function run({ spawn }: CliDependencies, command: string[], path: string): Promise<void> {
  const [program, ...args] = command as [string, ...string[]];
  const failed = (reason: string) =>
    new ServiceError(`Cannot tell the system of ${path}: \`${command.join(" ")}\` ${reason}`);
  if (!spawn) throw failed("cannot be run here");
  let code: number;
  try {
    code = await spawn(program, args, {});
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    throw failed(`needs ${program}, which this system does not have`);
  }
  if (code !== 0) throw failed(`ended with ${code}`);
}

function serviceOf(system: string, environment: CliDependencies["environment"]): Service {
  const home = environment.HOME;
  if (!["linux", "darwin"].includes(system)) {
    throw new ServiceError(
      `Cannot make a service: ${system} has neither systemd nor launchd; ` +
        `have its own scheduler run \`quern serve\` when you log in`,
    );
  }
  if (!home) throw new ServiceError("Cannot make a service: the variable HOME is not set");
  const variables = VARIABLES.map(({ name }) => [name, environment[name]] as const)
    .filter((entry): entry is [string, string] => entry[1] !== undefined);
  return system === "linux"
    ? systemdService(environment.XDG_CONFIG_HOME || join(home, ".config"), variables)
    : launchdService(home, variables);
}

/** The command that serves: the compiled program, or Deno with this source and its flags of V8. */
function serveCommand(): string[] {
  if (Deno.build.standalone) return [Deno.execPath(), "serve"];
  return [
    Deno.execPath(),
    "run",
    `--v8-flags=${v8Flags(Deno.build.arch)}`,
    "-A",
    fileURLToPath(new URL("../../../mod.ts", import.meta.url)),
    "serve",
  ];
}

/** A unit of systemd: systemd.service(5), with words quoted as in systemd.syntax(7). */
function systemdService(folder: string, variables: [string, string][]): Service {
  const word = (text: string) =>
    `"${text.replace(/["\\]/g, (sign) => `\\${sign}`).replaceAll("%", "%%")}"`;
  const command = serveCommand().map((text) => word(text).replaceAll("$", "$$$$"));
  const environment = variables.map(([name, value]) => `Environment=${word(`${name}=${value}`)}\n`);
  const unit = `${LABEL}.service`;
  return {
    path: join(folder, "systemd", "user", unit),
    text: `[Unit]
Description=Quern, a local model server

[Service]
ExecStart=${command.join(" ")}
${environment.join("")}Restart=on-failure
RestartSec=3
TimeoutStopSec=20

[Install]
WantedBy=default.target
`,
    start: [
      ["systemctl", "--user", "daemon-reload"],
      ["systemctl", "--user", "enable", unit],
      ["systemctl", "--user", "restart", unit],
    ],
    stop: [["systemctl", "--user", "disable", "--now", unit]],
    advice: `it runs while you are logged in, and always after \`loginctl enable-linger\`; ` +
      `its log: journalctl --user -u ${unit}`,
  };
}

/** An agent of launchd: launchd.plist(5). */
function launchdService(home: string, variables: [string, string][]): Service {
  const text = (value: string) =>
    `<string>${
      value.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")
    }</string>`;
  const log = join(home, "Library", "Logs", "quern.log");
  const path = join(home, "Library", "LaunchAgents", `${AGENT}.plist`);
  return {
    path,
    text: `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>${text(AGENT)}
  <key>ProgramArguments</key>
  <array>
${serveCommand().map((word) => `    ${text(word)}\n`).join("")}  </array>
  <key>EnvironmentVariables</key>
  <dict>
${variables.map(([name, value]) => `    <key>${name}</key>${text(value)}\n`).join("")}  </dict>
  <key>RunAtLoad</key><true/>
  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>
  <key>StandardErrorPath</key>${text(log)}
</dict>
</plist>
`,
    start: [["launchctl", "load", "-w", path]],
    stop: [["launchctl", "unload", "-w", path]],
    advice: `it runs while you are logged in; its log: ${log}`,
  };
}
