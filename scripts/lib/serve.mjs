// SPDX-License-Identifier: MIT
// Serves the built demo, and the models of demo/models/ under /models/.
import path from 'node:path';
import { buildDir, inRoot } from './paths.mjs';
import { Failure } from './failure.mjs';
import { createStaticServer } from './static-server.mjs';

export async function serveDemo() {
  const port = Number(process.env.PORT || 8080);
  if (!Number.isInteger(port) || port < 0 || port > 65535) {
    throw new Failure(`PORT is '${process.env.PORT}'; it must be a number from 0 to 65535`);
  }
  const server = createStaticServer({
    root: path.join(buildDir, 'demo'),
    extraRoots: { '/models/': inRoot('demo/models') },
  });
  try {
    const { url } = await server.listen(port);
    console.log(`ready: ${url}`);
  } catch (error) {
    if (error.code === 'EADDRINUSE') {
      throw new Failure(
        `port ${port} is in use by another program; choose one, for example: PORT=${port + 1} npm start`,
      );
    }
    if (error.code === 'EACCES')
      throw new Failure(`port ${port} needs more rights; choose one above 1023 by PORT`);
    throw error;
  }
  return server;
}
