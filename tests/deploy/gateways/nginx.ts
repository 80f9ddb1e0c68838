// nginx with deploy/gateways/nginx.conf before two Querns. `deno task test:gateways` runs it where there is
// an nginx (QUERN_NGINX, or in PATH).

import { findProgram } from "../programs.ts";
import { gatewayPython } from "./python.ts";
import { testProxy } from "./proxy.ts";

const executable = findProgram("nginx", "QUERN_NGINX");

testProxy({
  name: "nginx",
  file: "nginx.conf",
  executable,
  args: (file) => ["-c", file, "-g", "daemon off;"],
}, executable === undefined ? "" : await gatewayPython());
