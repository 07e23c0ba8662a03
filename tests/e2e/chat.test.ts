// SPDX-License-Identifier: MIT
// The main path in a real browser: download, answer, come back, stream within the smallest budget, stop.

import { expect, test } from '@jest/globals';
import { expectedAnswer, recordedSystemChats } from './support/chat-page.js';
import { useFixture } from './support/fixture.js';
import { MODEL_ROUTE } from './support/repository.js';

const on = useFixture();

const CAPITAL = 'What is the capital of Norway?';
const STORY = 'Tell me a story about a brave fox.';

test('a first visit downloads the model once and a suggested message gets the recorded answer', async () => {
  await on.openReady();
  expect(await on.visit.page.evaluate(() => crossOriginIsolated)).toBe(true);
  await on.visit.page.click(`.suggestion:has-text("${CAPITAL}")`);
  await on.chat.nextFrame();
  expect(await on.chat.answer()).toBe(expectedAnswer(CAPITAL));
  expect(on.server.hits(MODEL_ROUTE).filter(({ method }) => method === 'GET')).toHaveLength(1);
});

test('every suggested message gets the recorded answer', async () => {
  await on.openReady();
  const prompts = await on.visit.page.locator('.suggestion-prompt').allInnerTexts();
  expect(prompts.length).toBeGreaterThanOrEqual(6);
  for (const prompt of prompts) {
    await on.chat.newChat();
    expect([prompt, await on.chat.ask(prompt)]).toEqual([prompt, expectedAnswer(prompt)]);
  }
});

test('a second visit loads from this device while the model route is closed', async () => {
  await on.openReady();
  on.server.modelsClosed = true;
  // It may ask whether there is a newer file, and must do without an answer.
  on.allowComplaints(/Failed to load resource.*|ERR_EMPTY_RESPONSE/);
  await on.visitAgain();
  await on.openReady();
  expect(await on.chat.ask(CAPITAL)).toBe(expectedAnswer(CAPITAL));
  expect(await on.visit.page.textContent('.model-row[aria-pressed="true"]')).toContain('kept on this device');
});

test('with the smallest budget the answer is the same and only the slots are in memory', async () => {
  await on.openReady();
  await on.chat.ask(STORY);
  await on.chat.memoryAbove('memory-peak', 0);
  const total = Number(await on.visit.page.getAttribute('#memory-peak', 'data-total'));
  expect(await on.chat.bytes('memory-resident')).toBeGreaterThan(total * 0.9);
  await on.chat.newChat();
  await on.chat.setBudget('min');
  await on.chat.ready();
  expect(await on.chat.ask(STORY)).toBe(expectedAnswer(STORY));

  await on.chat.memoryAbove('memory-peak', 0);
  const readBefore = await on.chat.bytes('memory-read');
  const peak = await on.chat.bytes('memory-peak');
  expect(peak).toBeGreaterThan(0);
  expect(peak).toBeLessThanOrEqual(await on.chat.bytes('memory-allowed'));
  expect(peak).toBeLessThan(total / 2);

  // Streaming for real: another answer reads the weights again.
  await on.chat.newChat();
  expect(await on.chat.ask(CAPITAL)).toBe(expectedAnswer(CAPITAL));
  await on.chat.memoryAbove('memory-read', readBefore + total);
});

test('a budget that is too small is refused with a way out, and the way out works', async () => {
  await on.openReady();
  await on.chat.setBudget('bytes');
  await on.chat.ready();
  await on.visit.page.fill('#budget-amount', '0.2');
  await on.visit.page.press('#budget-amount', 'Enter');
  const problem = await on.chat.problem();
  expect(problem.code).toBe('budget_too_small');
  expect(problem.words).toContain('memory budget is too small');
  await on.visit.page.click('#banner button:has-text("Use the smallest budget")');
  await on.chat.nextFrame();
  await on.chat.ready();
  expect(await on.chat.ask(CAPITAL)).toBe(expectedAnswer(CAPITAL));
});

test('an answer that is stopped ends there, and the next ones are right', async () => {
  await on.openReady();
  await on.chat.setBudget('min');
  await on.chat.ready();
  await on.chat.send(STORY);
  await on.chat.stopAfter(20);
  const stopped = await on.chat.answer();
  expect(expectedAnswer(STORY).startsWith(stopped)).toBe(true);
  expect(stopped.length).toBeGreaterThanOrEqual(20);
  expect(stopped.length).toBeLessThan(expectedAnswer(STORY).length);
  expect(await on.visit.page.textContent('#log > li:last-child .facts')).toContain('stopped');

  // In the same chat the half story is part of the prompt, so only the fact is sure.
  expect(await on.chat.ask(CAPITAL)).toContain('Oslo');
  await on.chat.newChat();
  expect(await on.chat.ask(STORY)).toBe(expectedAnswer(STORY));
});

test('a new chat during an answer drops it, and the next message is answered', async () => {
  await on.openReady();
  await on.chat.send(STORY);
  await on.chat.newChat();
  expect(await on.chat.ask(CAPITAL)).toBe(expectedAnswer(CAPITAL));
  expect(await on.visit.page.locator('#log > li').count()).toBe(2);
});

test('the conversation so far is part of the prompt, and so is the system prompt', async () => {
  await on.openReady();
  await on.chat.ask('My name is Mia.');
  expect(await on.chat.ask('What is my name?')).toContain('Mia');
  await on.chat.openSettings();
  for (const { system, prompt, answer } of recordedSystemChats()) {
    await on.chat.newChat();
    await on.visit.page.fill('#system-prompt', system);
    expect(await on.chat.ask(prompt)).toBe(answer);
  }
});

test('nothing is requested while chatting', async () => {
  await on.openReady();
  await on.chat.offlineReady();
  const served = on.server.requests.length;
  const seen = on.visit.requests.length;
  await on.chat.ask(CAPITAL);
  await on.chat.setBudget('min');
  await on.chat.ready();
  await on.chat.newChat();
  await on.chat.ask(STORY);
  const network = on.visit.requests
    .slice(seen)
    .filter((url) => !url.startsWith(on.server.url) && !url.startsWith('blob:'));
  expect(network).toEqual([]);
  // A model that is opened again may start its workers again; what is asked of the server is then only the page's own code.
  const asked = on.server.requests.slice(served).map(({ url }) => new URL(url, on.server.url).pathname);
  expect(asked.filter((path) => !/\.(js|mjs|wasm)$/.test(path))).toEqual([]);
});

test('asking alone makes no request at all', async () => {
  await on.openReady();
  await on.chat.offlineReady();
  await on.chat.ask(CAPITAL);
  // The download runs in a worker: the record below would see a worker's request.
  expect(on.visit.requests.some((url) => url.endsWith(MODEL_ROUTE))).toBe(true);
  const served = on.server.requests.length;
  const seen = on.visit.requests.length;
  await on.chat.newChat();
  expect(await on.chat.ask(STORY)).toBe(expectedAnswer(STORY));
  expect(on.server.requests.slice(served)).toEqual([]);
  expect(on.visit.requests.slice(seen)).toEqual([]);
});
