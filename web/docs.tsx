// The API explorer at /docs: where the browser begins.

import { render } from "preact";
import { Explorer } from "./docs/explorer.tsx";
import "./shell/theme.ts";

render(<Explorer />, document.querySelector("#app")!);
