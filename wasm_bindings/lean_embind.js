// SPDX-License-Identifier: MIT
// Registrations that Embind makes for every program and this one has no use for: wide strings and views of
// memory. Without them what they need is not linked either.
addToLibrary({
  _embind_register_std_wstring: (rawType, charSize, name) => {},
  _embind_register_memory_view: (rawType, dataTypeIndex, name) => {},
});
