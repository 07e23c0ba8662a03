// SPDX-License-Identifier: MIT
// A Failure is something the reader can act on: its message says what is missing or broken and which command
// fixes it. `main` prints it without a stack trace; any other error is a bug and keeps its trace.
export class Failure extends Error {
  name = 'Failure';
}
