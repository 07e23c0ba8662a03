// SPDX-License-Identifier: MIT
// Nothing that the package needs: only the dev server's headers, for the test that asks for an isolated page.
const isolation = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
};

export default { server: { headers: process.env.ISOLATED === '1' ? isolation : {} } };
