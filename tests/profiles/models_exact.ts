// Whole models with float activations, computed on all GPUs that are pretended.

import { testModels } from "./cases/models.ts";

testModels("exact");
