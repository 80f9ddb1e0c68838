// Products with float activations of every kind of format, computed on all GPUs that are pretended.

import { testProducts } from "./cases/products.ts";

testProducts({ integer: false });
