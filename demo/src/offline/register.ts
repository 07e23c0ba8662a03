// SPDX-License-Identifier: MIT
// Makes the page work without a network, and offers to install it where the browser can. It begins when the first model
// is open: before that the network is needed for the first answer.

import { byId } from '../ui/dom.js';

interface InstallPrompt extends Event {
  prompt(): Promise<unknown>;
}

export async function registerServiceWorker(): Promise<void> {
  const workers: ServiceWorkerContainer | undefined = navigator.serviceWorker;
  // The development server has no list of files.
  if (!import.meta.env.PROD || !workers) return;
  try {
    await workers.register(new URL('sw.js', document.baseURI));
    await workers.ready;
    document.documentElement.dataset['offline'] = 'ready';
  } catch {
    // A private window, or storage that is full: the page goes on as one that needs its server.
  }
}

export function setUpInstall(): void {
  const button = byId('install', HTMLButtonElement);
  let prompt: InstallPrompt | null = null;
  window.addEventListener('beforeinstallprompt', (event) => {
    event.preventDefault();
    prompt = 'prompt' in event ? (event as InstallPrompt) : null;
    button.hidden = prompt === null;
  });
  button.addEventListener('click', () => {
    button.hidden = true;
    void prompt?.prompt();
  });
}
