// SPDX-License-Identifier: MIT
// Browser tests: compiled from tests/e2e/*.ts into build/tests-js/e2e, run one file after the other (--runInBand),
// each with its own server and its own browser profile.

import { fileURLToPath } from 'node:url';

export default {
  rootDir: fileURLToPath(new URL('../../build/tests-js/e2e', import.meta.url)),
  testEnvironment: 'node',
  testMatch: ['<rootDir>/**/*.test.js'],
  transform: {},
  testTimeout: 120_000,
};
