// SPDX-License-Identifier: MIT
#include "kernels/matmul_rows.h"

template bool layerstream::kernels::multiply_group<layerstream::quant::GridTypes>(const Job&, std::size_t, std::size_t);
