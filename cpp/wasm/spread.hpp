// How labels spread to unlabelled samples: method="balanced" of OPFSemiSupervisedClassifier.
#pragma once

#include "model.hpp"

namespace pathforest::wasm {

// Lets the samples with a code, the others have `none`, spread their labels along the neighbour lists.
// Arrays: class_factors, prototypes and those of the forest.
void spread(Model& model, std::span<const Index> codes);

}  // namespace pathforest::wasm
