// SPDX-License-Identifier: MIT
// Jest runs compiled tests (tsc -p tests/tsconfig.json -> build/tests-js) on the built package (dist/), with the real
// wasm module. `#web/` names a file of the package.
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

export default {
  rootDir: root,
  roots: ['<rootDir>/build/tests-js/jest'],
  testMatch: ['**/*.test.js'],
  testEnvironment: 'node',
  transform: {},
  moduleNameMapper: {
    '^#web/(.*)$': '<rootDir>/dist/$1',
    '^layerstream$': '<rootDir>/dist/index.js',
  },
  testTimeout: 60_000,
};
