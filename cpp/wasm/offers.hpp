// What a model offers new samples.
#pragma once

#include "model.hpp"

namespace pathforest::wasm {

// Per query and class; `none` and infinity if a class makes no offer.
struct Offers {
    std::vector<double> cost;      // the mean of its n_conquerors cheapest offers
    std::vector<Index> conqueror;  // who makes the cheapest
};
Offers class_offers(Model& model, Rows<double> queries, Index n_conquerors);

// The class with the smallest cost; on ties the one whose cheapest offer comes first in the order. One entry
// per query.
std::vector<Index> winners(const Model& model, const Offers& offers);

// Clusters: for each query the sample that offers it the path of the highest density, and that density.
void join_clusters(const Model& model, Rows<double> queries, Index* conquerors, double* values);

}  // namespace pathforest::wasm
