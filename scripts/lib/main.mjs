// SPDX-License-Identifier: MIT
// How each of our programs begins and ends: node is new enough, a Failure is printed as a message and ends with
// status 1, and Ctrl-C or SIGTERM also stops the programs we started.
import { Failure } from './failure.mjs';
import { stopChildren } from './run.mjs';

export function main(work) {
  for (const [signal, code] of [
    ['SIGHUP', 129],
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ]) {
    process.on(signal, () => {
      stopChildren();
      process.exit(code);
    });
  }
  const [major, minor] = process.versions.node.split('.').map(Number);
  const oldNode = major < 20 || (major === 20 && minor < 19);
  Promise.resolve()
    .then(() => {
      if (oldNode)
        throw new Failure(`Node ${process.versions.node} is too old; install Node 20.19 or later.`);
      return work();
    })
    .catch((error) => {
      console.error(error instanceof Failure ? `\nerror: ${error.message}` : error);
      process.exitCode = 1;
    });
}
