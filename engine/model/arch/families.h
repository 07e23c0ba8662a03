#pragma once
// SPDX-License-Identifier: MIT
// The rows of the table in registry.cpp; each is defined in the file of its name.

#include "model/family.h"

namespace layerstream::model::arch {

extern const Family kLlama;
extern const Family kQwen2;
extern const Family kQwen3;
extern const Family kGemma2;
extern const Family kGemma3;
extern const Family kPhi3;
extern const Family kPhi2;
extern const Family kGpt2;

}  // namespace layerstream::model::arch
