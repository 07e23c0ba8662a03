// SPDX-License-Identifier: MIT
// A model can be asked while its weights are still on their way: the answer comes when they have.

import { beforeEach, describe, expect, test } from '@jest/globals';
import { expectedAnswer } from './support/chat-page.js';
import { useFixture } from './support/fixture.js';
import { MODEL_PATH, MODEL_ROUTE } from './support/repository.js';
import { slowRoute } from './support/slow-route.js';
import type { SlowRoute } from './support/slow-route.js';

const PROMPT = 'What is the capital of Norway?';

describe('while the weights arrive', () => {
  const on = useFixture();
  let slow: SlowRoute;

  beforeEach(async () => {
    slow = slowRoute(MODEL_PATH, 3_000_000);
    on.server.routes.set(MODEL_ROUTE, slow.route);
    await on.chat.open(on.server.url);
    await on.visit.page.waitForSelector('#pass[data-phase="arriving"]');
  });

  test('the page says that one can ask, and shows which blocks are here', async () => {
    const { page } = on.visit;
    expect(await page.textContent('#composer-hint')).toContain('You can ask already');
    expect(await page.isEnabled('.suggestion >> nth=0')).toBe(true);
    expect(await page.textContent('#pass-figure')).toMatch(/^3\.\d of 5\.6 MB, 5\d %$/);
    const cells = await page.locator('#cells .cell').count();
    const absent = await page.locator('#cells .absent').count();
    expect(absent).toBeGreaterThan(0);
    expect(absent).toBeLessThan(cells);
    slow.hurry();
    await on.chat.ready();
    expect(await page.locator('#cells .absent').count()).toBe(0);
    expect(await page.isHidden('#download')).toBe(true);
  });

  test('a question waits for them, and is answered as ever', async () => {
    const { page } = on.visit;
    await on.chat.send(PROMPT);
    await page.waitForFunction(() =>
      /^Answering as it arrives, block \d/.test(document.getElementById('pass-label')?.textContent ?? ''),
    );
    expect(await page.isVisible('#download')).toBe(true);
    expect(await page.textContent('#log > li.assistant .body')).toBe('');
    slow.hurry();
    expect(await on.chat.answer()).toBe(expectedAnswer(PROMPT));
    await on.chat.ready();
  });

  test('pause stops the question too; going on fetches the rest only, and the question can be asked again', async () => {
    const { page } = on.visit;
    await on.chat.send(PROMPT);
    await page.click('#cancel-load');
    expect((await on.chat.problem()).code).toBe('load_cancelled');
    await on.chat.answer();
    expect(await page.textContent('#log > li:last-child .facts')).toContain('stopped');
    expect(await page.isDisabled('#send')).toBe(true);

    slow.hurry();
    await page.click('#banner button:has-text("Go on")');
    await on.chat.nextFrame();
    await on.chat.ready();
    const [, resumed] = on.server.hits(MODEL_ROUTE);
    expect(resumed?.range).toMatch(/^bytes=[1-9]/);
    await page.click('button[aria-label="Answer again"]');
    await on.chat.nextFrame();
    expect(await on.chat.answer()).toBe(expectedAnswer(PROMPT));
  });

  test('a server that stops handing it out is a sentence; trying again goes on', async () => {
    on.allowComplaints(/Failed to load resource|ERR_/);
    const { page } = on.visit;
    await on.chat.send(PROMPT);
    on.server.routes.set(MODEL_ROUTE, (_request, response) => response.writeHead(404).end());
    slow.cut();
    const problem = await on.chat.problem();
    expect(problem.code).toBe('http_status');
    expect(problem.words).toContain('The server did not hand out the model.');
    await page.waitForSelector('#log > li.assistant[data-status="failed"]');

    slow.hurry();
    on.server.routes.set(MODEL_ROUTE, slow.route);
    await page.click('#banner button:has-text("Try again")');
    await on.chat.nextFrame();
    await on.chat.ready();
    expect(on.server.hits(MODEL_ROUTE).at(-1)?.range).toMatch(/^bytes=[1-9]/);
    await page.click('#log button:has-text("Ask again")');
    await on.chat.nextFrame();
    expect(await on.chat.answer()).toBe(expectedAnswer(PROMPT));
  });

  test('another model can be chosen meanwhile; coming back goes on', async () => {
    const { page } = on.visit;
    await on.chat.openModels();
    await page.waitForSelector('.model-row:has-text("downloading")');
    on.server.routes.set('/other.gguf', slowRoute(MODEL_PATH, 1e9).route);
    await on.chat.chooseUrl('/other.gguf');
    await on.chat.opened('other');
    await on.chat.ready();
    slow.hurry();
    await on.chat.chooseDefault();
    await on.chat.opened('Tiny Chat');
    await on.chat.ready();
    expect(await on.chat.ask(PROMPT)).toBe(expectedAnswer(PROMPT));
  });
});

describe('before the header is here', () => {
  const on = useFixture();

  test('a message that is sent goes out once the model can be asked; one that is changed waits for its sender', async () => {
    const { page } = on.visit;
    const slow = slowRoute(MODEL_PATH, 0);
    on.server.routes.set(MODEL_ROUTE, slow.route);
    await on.chat.open(on.server.url);
    const hint = async (): Promise<string | null> => page.textContent('#composer-hint');
    const waits = 'Will be sent as soon as the model is there.';
    await page.fill('#message', 'What is the capital');
    expect(await hint()).toBe('The model is being opened.');
    await page.press('#message', 'Enter');
    expect(await hint()).toBe(waits);
    expect(await page.isDisabled('#send')).toBe(true);
    await page.fill('#message', PROMPT);
    expect(await hint()).toBe('The model is being opened.');
    await page.click('#send');
    expect(await hint()).toBe(waits);
    slow.hurry();
    expect(await on.chat.answer()).toBe(expectedAnswer(PROMPT));
    expect(await page.inputValue('#message')).toBe('');
    expect(await hint()).not.toBe(waits);
    expect(await page.locator('#log > li.user').count()).toBe(1);
  });
});
