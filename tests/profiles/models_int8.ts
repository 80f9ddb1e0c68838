// Whole models with int8 activations, computed on all GPUs that are pretended.

import { testModels } from "./cases/models.ts";

testModels("int8");
