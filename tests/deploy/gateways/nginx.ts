// nginx with deploy/gateways/nginx.conf before two Querns. `deno task test:gateways` runs it where there is
// an nginx (QUERN_NGINX, or in PATH).

import { findProgram } from "../programs.ts";
import { gatewayPython } from "./python.ts";
import { testProxy } from "./proxy.ts";

const program = findProgram("nginx", "QUERN_NGINX");
if (program) {
  testProxy({
    name: "nginx",
    file: "nginx.conf",
    command: (file) => ({ program, args: ["-c", file, "-g", "daemon off;"] }),
  }, await gatewayPython());
} else Deno.test({ name: "nginx: there is no nginx here", ignore: true, fn() {} });
