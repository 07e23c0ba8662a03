// SPDX-License-Identifier: MIT
// Tests of the packed tarball: compiled from tests/package/*.ts into build/tests-js/package; the apps they look at are
// built by scripts/lib/build-package-apps.mjs.
import { fileURLToPath } from 'node:url';

export default {
  rootDir: fileURLToPath(new URL('../../build/tests-js/package', import.meta.url)),
  testEnvironment: 'node',
  testMatch: ['<rootDir>/**/*.test.js'],
  transform: {},
  moduleNameMapper: { '^#web/(.*)$': fileURLToPath(new URL('../../dist/$1', import.meta.url)) },
  testTimeout: 120_000,
};
