#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <queue>
#include <utility>
#include <vector>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace hnswlib {

// Each vector that a search compares lies elsewhere: with pages of 2 MB it takes a seventh less.
static void useHugePages(void* memory, size_t bytes) {
#ifdef __linux__
  const size_t pageBytes = 4096;
  const size_t start = (reinterpret_cast<size_t>(memory) + pageBytes - 1) & ~(pageBytes - 1);
  const size_t end = reinterpret_cast<size_t>(memory) + bytes;
  // Without them, it is only slower.
  if (start < end) madvise(reinterpret_cast<void*>(start), end - start, MADV_HUGEPAGE);
#endif
}

}  // namespace hnswlib

#include "hnswlib/hnswlib.h"

// Vectors whose numbers have 16 bits, as two planes of bytes: the high bytes of all numbers, then the low ones. A search
// mostly waits for memory, so it follows the graph by the high bytes alone, a quarter of the original numbers, and
// orders what it finds by both. A vector is a float, what 1 of a number stands for, and the two planes.
namespace hnswlib {

// The bytes of a vector. Its shorts are its numbers times the highest power of two that leaves none above LARGEST_SHORT:
// beyond that, a high byte would not fit, because low bytes have a sign too.
static std::vector<char> shortened(const std::vector<float>& numbers) {
  const size_t count = numbers.size();
  float largest = 0;
  for (float number : numbers) largest = std::max(largest, std::min(1.0f, std::fabs(number)));
  float scale = 16384;
  while (largest > 0 && 2 * scale * largest <= LARGEST_SHORT) scale *= 2;
  const float unit = 1 / scale;
  std::vector<char> bytes(sizeof(unit) + 2 * count);
  std::memcpy(bytes.data(), &unit, sizeof(unit));
  int8_t* high = reinterpret_cast<int8_t*>(bytes.data() + sizeof(unit));
  for (size_t i = 0; i < count; i++) {
    const int number = static_cast<int>(std::lround(std::clamp(numbers[i], -1.0f, 1.0f) * scale));
    high[i] = static_cast<int8_t>((number + 128) >> 8);
    high[count + i] = static_cast<int8_t>(number - high[i] * 256);
  }
  return bytes;
}

static float unitOf(const void* vector) {
  float unit;
  std::memcpy(&unit, vector, sizeof(unit));
  return unit;
}

static const int8_t* highBytesOf(const void* vector) {
  return static_cast<const int8_t*>(vector) + sizeof(float);
}

// Plain loops, which compilers turn into vector instructions.
template <typename Number>
static int productOf(const Number* left, const int8_t* right, size_t count) {
  int sum = 0;
  for (size_t i = 0; i < count; i++) sum += static_cast<int16_t>(left[i]) * static_cast<int16_t>(right[i]);
  return sum;
}

// Between vectors of the graph, by their high bytes: enough to link them.
static float shortDistance(const void* left, const void* right, const void* dimensions) {
  const size_t count = *static_cast<const size_t*>(dimensions);
  const int product = productOf(highBytesOf(left), highBytesOf(right), count);
  return 1.0f - static_cast<float>(product) * 65536.0f * unitOf(left) * unitOf(right);
}

class ShortSpace : public SpaceInterface<float> {
  size_t dimensions_;

 public:
  explicit ShortSpace(size_t dimensions) : dimensions_(dimensions) {}
  size_t get_data_size() override { return sizeof(float) + 2 * dimensions_; }
  DISTFUNC<float> get_dist_func() override { return shortDistance; }
  void* get_dist_func_param() override { return &dimensions_; }
};

// By both bytes.
static float exactDistance(const void* left, const void* right, size_t count) {
  const int8_t* a = highBytesOf(left);
  const int8_t* b = highBytesOf(right);
  int64_t sum = 0;
  for (size_t i = 0; i < count; i++) sum += (a[i] * 256 + a[count + i]) * (b[i] * 256 + b[count + i]);
  return 1.0f - static_cast<float>(sum) * unitOf(left) * unitOf(right);
}

// The numbers of a query without the lowest four bits: so sums of products fit 32 bits for up to 8,000 dimensions.
static std::vector<int16_t> numbersOf(const void* query, size_t count) {
  const int8_t* high = highBytesOf(query);
  std::vector<int16_t> numbers(count);
  for (size_t i = 0; i < count; i++) numbers[i] = static_cast<int16_t>((high[i] * 256 + high[count + i]) >> 4);
  return numbers;
}

static void prefetch(const void* from, size_t bytes) {
  for (size_t at = 0; at < bytes; at += 64) __builtin_prefetch(static_cast<const char*>(from) + at);
}

// Instead of hnswlib's own search, of the same graph by the same rule. It asks for all vectors that a vector is linked
// to before it compares the first one, so that it waits for them once: hnswlib's takes more than twice as long.
template <typename Graph>
std::priority_queue<std::pair<float, labeltype>> searchShorts(const Graph& graph, const void* query, size_t count) {
  struct Candidate {
    float distance;
    tableint id;
  };
  const size_t dimensions = *static_cast<const size_t*>(graph.dist_func_param_);
  const size_t comparedBytes = sizeof(float) + dimensions;
  const size_t effort = std::max(graph.ef_, count);
  const std::vector<int16_t> numbers = numbersOf(query, dimensions);
  const float unit = unitOf(query) * 16 * 256;
  const auto distanceTo = [&](tableint id) {
    const char* vector = graph.getDataByInternalId(id);
    const int product = productOf(numbers.data(), highBytesOf(vector), dimensions);
    return 1.0f - static_cast<float>(product) * unit * unitOf(vector);
  };

  tableint entry = graph.enterpoint_node_;
  float entryDistance = distanceTo(entry);
  for (int level = graph.maxlevel_; level > 0;) {
    const tableint from = entry;
    const linklistsizeint* links = graph.get_linklist(from, level);
    for (size_t i = 1; i <= graph.getListCount(const_cast<linklistsizeint*>(links)); i++) {
      const float distance = distanceTo(links[i]);
      if (distance < entryDistance) {
        entryDistance = distance;
        entry = links[i];
      }
    }
    if (entry == from) level--;
  }

  std::vector<bool> isSeen(graph.max_elements_);
  std::vector<tableint> unseen(graph.maxM0_);
  // Heaps.
  std::vector<Candidate> candidates{{entryDistance, entry}}, best{{entryDistance, entry}};
  const auto nearestFirst = [](const Candidate& a, const Candidate& b) { return a.distance > b.distance; };
  const auto farthestFirst = [](const Candidate& a, const Candidate& b) { return a.distance < b.distance; };
  isSeen[entry] = true;
  while (!candidates.empty()) {
    const auto [nearest, id] = candidates.front();
    if (best.size() == effort && nearest > best.front().distance) break;
    std::pop_heap(candidates.begin(), candidates.end(), nearestFirst);
    candidates.pop_back();
    linklistsizeint* links = graph.get_linklist0(id);
    const size_t linksCount = graph.getListCount(links);
    size_t unseenCount = 0;
    for (size_t i = 1; i <= linksCount; i++) {
      const tableint other = links[i];
      if (isSeen[other]) continue;
      isSeen[other] = true;
      unseen[unseenCount++] = other;
      prefetch(graph.getDataByInternalId(other), comparedBytes);
    }
    if (!candidates.empty())
      prefetch(graph.get_linklist0(candidates.front().id), graph.size_links_level0_);
    for (size_t i = 0; i < unseenCount; i++) {
      const Candidate other{distanceTo(unseen[i]), unseen[i]};
      if (best.size() == effort && other.distance >= best.front().distance) continue;
      candidates.push_back(other);
      std::push_heap(candidates.begin(), candidates.end(), nearestFirst);
      best.push_back(other);
      std::push_heap(best.begin(), best.end(), farthestFirst);
      if (best.size() <= effort) continue;
      std::pop_heap(best.begin(), best.end(), farthestFirst);
      best.pop_back();
    }
  }

  std::sort_heap(best.begin(), best.end(), farthestFirst);
  // Beyond twice as many, none is among the nearest when both bytes are compared.
  if (best.size() > 2 * count) best.resize(2 * count);
  for (auto& [distance, id] : best) distance = exactDistance(query, graph.getDataByInternalId(id), dimensions);
  std::sort(best.begin(), best.end(), farthestFirst);
  if (best.size() > count) best.resize(count);
  std::priority_queue<std::pair<float, labeltype>> found;
  for (const auto& [distance, id] : best) found.emplace(distance, graph.getExternalLabel(id));
  return found;
}

}  // namespace hnswlib
