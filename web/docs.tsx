// The API explorer at /docs.

import { render } from "preact";

render(<p>Docs</p>, document.querySelector("#app")!);
