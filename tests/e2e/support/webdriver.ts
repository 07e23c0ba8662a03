// SPDX-License-Identifier: MIT
// WebKitGTK by plain WebDriver calls (https://www.w3.org/TR/webdriver2/), in a virtual display. Private by nature: an
// automated MiniBrowser keeps nothing from one session to the next.

import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';

const startMs = 30_000;
const scriptMs = 110_000;

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no free port');
  return address.port;
}

export class WebDriver {
  readonly #process: ChildProcess;
  readonly #url: string;
  #session = '';

  private constructor(child: ChildProcess, url: string) {
    this.#process = child;
    this.#url = url;
  }

  static async start(driver: string, browser: string): Promise<WebDriver> {
    const port = await freePort();
    // A process group of its own, so that the display and the browser end with it.
    const child = spawn('xvfb-run', ['-a', driver, `--port=${port}`], { detached: true, stdio: 'ignore' });
    const self = new WebDriver(child, `http://127.0.0.1:${port}`);
    try {
      await self.#listening();
      const options = { binary: browser, args: ['--automation'] };
      const capabilities = { alwaysMatch: { 'webkitgtk:browserOptions': options } };
      const { sessionId } = (await self.#call('POST', '/session', { capabilities })) as { sessionId: string };
      self.#session = `/session/${sessionId}`;
      await self.#call('POST', `${self.#session}/timeouts`, { script: scriptMs });
      return self;
    } catch (error) {
      self.#kill();
      throw error;
    }
  }

  async goto(url: string): Promise<void> {
    await this.#call('POST', `${this.#session}/url`, { url });
  }

  /** The value of an expression, or what its promise resolves to. */
  evaluate(expression: string): Promise<unknown> {
    const script = `Promise.resolve(${expression}).then(arguments[0])`;
    return this.#call('POST', `${this.#session}/execute/async`, { script, args: [] });
  }

  async close(): Promise<void> {
    await this.#call('DELETE', this.#session).catch(() => undefined);
    this.#kill();
  }

  async #listening(): Promise<void> {
    for (const begin = Date.now(); Date.now() - begin < startMs;) {
      if (
        await fetch(`${this.#url}/status`).then(
          () => true,
          () => false,
        )
      )
        return;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    throw new Error(`WebKitWebDriver did not start within ${startMs / 1000} s`);
  }

  async #call(method: string, path: string, body?: unknown): Promise<unknown> {
    const headers = { 'Content-Type': 'application/json' };
    const response = await fetch(this.#url + path, {
      method,
      headers,
      body: body ? JSON.stringify(body) : null,
    });
    const { value } = (await response.json()) as { value: unknown };
    if (!response.ok) throw new Error(`WebDriver ${method} ${path}: ${JSON.stringify(value)}`);
    return value;
  }

  #kill(): void {
    if (this.#process.pid === undefined) return;
    try {
      process.kill(-this.#process.pid, 'SIGTERM');
    } catch {
      // It has ended by itself.
    }
  }
}
