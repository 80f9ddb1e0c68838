// The tests of this folder, see import_tests.ts.

import { importTests } from "./import_tests.ts";

await importTests(import.meta.url);
