// SPDX-License-Identifier: MIT
// A classic worker, since the program is a classic script that reads a global `Module`.
self.onmessage = ({ data }) => {
  const lines = [];
  self.Module = {
    arguments: data,
    print: (line) => lines.push(line),
    printErr: () => {},
    locateFile: (name) => `/wasm/${name}`,
    onExit: () => self.postMessage(lines.join('\n')),
  };
  self.importScripts('/wasm/bench_kernels.cjs');
};
