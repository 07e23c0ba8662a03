// SPDX-License-Identifier: MIT
/** Runs the program with `args` in a worker; its standard output. */
const run = (args) =>
  new Promise((resolve, reject) => {
    const worker = new Worker('worker.js');
    worker.onmessage = ({ data }) => {
      worker.terminate();
      resolve(data);
    };
    worker.onerror = (event) => reject(new Error(event.message));
    worker.postMessage(args);
  });

window.bench = { run };
