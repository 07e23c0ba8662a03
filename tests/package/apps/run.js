// SPDX-License-Identifier: MIT
// What each fixture app does with the package: load the toy model, answer once, show what happened.

export async function run({ loadModel }) {
  const show = (name, value) => document.body.setAttribute(`data-${name}`, value);
  try {
    const model = await loadModel('/models/tinychat/tinychat-q8_0.gguf');
    show('build', model.info.engineBuild);
    show('threads', model.info.threads);
    show('answer', await model.chat([{ role: 'user', content: 'Who are you?' }]).text());
    await model.dispose();
  } catch (error) {
    show('error', `${error.code}: ${error.message}`);
  }
}
