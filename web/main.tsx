// The page at /: where the browser begins.

import { render } from "preact";
import { refreshModels } from "./api/models.ts";
import { restore } from "./chat/store.ts";
import { App } from "./shell/app.tsx";
import { listenToKeys } from "./shell/keyboard.ts";

render(<App />, document.querySelector("#app")!);
listenToKeys();
void refreshModels();
void restore();
