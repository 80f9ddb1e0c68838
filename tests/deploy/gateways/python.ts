// The virtual environment of Python with LiteLLM's proxy, Envoy and the packages of clients, which is
// installed once and kept. QUERN_GATEWAYS_PYTHON is a Python that has them already.

import { PROJECT_ROOT } from "../../source_files.ts";
import { run } from "../programs.ts";

const REQUIREMENTS = new URL("tests/deploy/gateways/requirements.txt", PROJECT_ROOT).pathname;

/** The path of the Python. */
export async function gatewayPython(): Promise<string> {
  const given = Deno.env.get("QUERN_GATEWAYS_PYTHON");
  if (given) return given;
  const caches = Deno.env.get("XDG_CACHE_HOME") ?? `${Deno.env.get("HOME")}/.cache`;
  const folder = `${caches}/quern-gateways`;
  const [mark, python] = [`${folder}/installed.txt`, `${folder}/bin/python`];
  const wanted = await Deno.readTextFile(REQUIREMENTS);
  if (await Deno.readTextFile(mark).catch(() => "") === wanted) return python;
  await run("python3", ["-m", "venv", folder]);
  await run(python, ["-m", "pip", "install", "-q", "-r", REQUIREMENTS]);
  await Deno.writeTextFile(mark, wanted);
  return python;
}
