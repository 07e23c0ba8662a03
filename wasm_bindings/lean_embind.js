// SPDX-License-Identifier: MIT
// Registrations that Embind makes for every program and this one has no use for: wide strings, 64-bit integers, views of
// memory, JavaScript values. Without them what they need is not linked either. A binding that uses such a type fails when the
// module starts, with Embind's "unbound type".
addToLibrary({
  _embind_register_std_wstring: (rawType, charSize, name) => {},
  _embind_register_bigint: (primitiveType, name, size, minRange, maxRange) => {},
  _embind_register_memory_view: (rawType, dataTypeIndex, name) => {},
  _embind_register_emval: (rawType) => {},
});
