// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "align/beads.h"
#include <lepus/math.h>

namespace lepus {
namespace {

struct Open {
  BeadTrack track;
  std::int64_t missed = 0;
};

// Where a bead would be seen at an angle: a line or a parabola in the angle through its last sightings.
BeadSpot predict(const BeadTrack& track, const std::vector<double>& angles, std::int64_t view) {
  const std::size_t used = std::min<std::size_t>(track.size(), 3);
  const auto at = [&](std::size_t i) { return track[track.size() - 1 - i]; };
  const auto angle = [&](std::int64_t v) { return angles[static_cast<std::size_t>(v)]; };
  BeadSpot spot;
  for (std::size_t i = 0; i < used; ++i) {  // Lagrange
    double weight = 1;
    for (std::size_t j = 0; j < used; ++j)
      if (j != i) weight *= (angle(view) - angle(at(j).view)) / (angle(at(i).view) - angle(at(j).view));
    spot.column += weight * at(i).column;
    spot.row += weight * at(i).row;
  }
  return spot;
}

// One bead's column over the angle is nearly a sinusoid: mean, cosine, sine by least squares.
struct Sinusoid {
  double mean = 0, cosine = 0, sine = 0;
  double at(double angle) const { return mean + cosine * std::cos(angle) + sine * std::sin(angle); }
};

Sinusoid fit_sinusoid(const BeadTrack& track, const std::vector<double>& angles, bool rows) {
  Matrix3 m{{0, 0, 0, 0, 0, 0, 0, 0, 0}};
  Vec3 b;
  for (const BeadSighting& s : track) {
    const double a = angles[static_cast<std::size_t>(s.view)], value = rows ? s.row : s.column;
    const double f[3] = {1, std::cos(a), std::sin(a)};
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) m(i, j) += f[i] * f[j];
    b = b + value * Vec3{f[0], f[1], f[2]};
  }
  if (!(std::abs(determinant(m)) > 1e-9)) return {};
  const Vec3 x = inverse(m) * b;
  return {x.x, x.y, x.z};
}

// Pieces of one track, broken where the bead was hidden: their sinusoids agree.
void join_pieces(std::vector<BeadTrack>& tracks, const std::vector<double>& angles, double gate) {
  for (std::size_t i = 0; i < tracks.size(); ++i)
    for (std::size_t j = i + 1; j < tracks.size();) {
      const bool apart =
          tracks[i].back().view < tracks[j].front().view || tracks[j].back().view < tracks[i].front().view;
      bool same = apart && tracks[i].size() >= 6 && tracks[j].size() >= 6;
      if (same) {
        BeadTrack both = tracks[i];
        both.insert(both.end(), tracks[j].begin(), tracks[j].end());
        std::sort(both.begin(), both.end(), [](const auto& a, const auto& b) { return a.view < b.view; });
        for (const bool rows : {false, true}) {
          const Sinusoid s = fit_sinusoid(both, angles, rows);
          for (const BeadSighting& one : both)
            same = same && std::abs((rows ? one.row : one.column) - s.at(angles[static_cast<std::size_t>(one.view)])) <
                               (rows ? 0.5 : 2) * gate;
        }
        if (same) tracks[i] = both;
      }
      if (same)
        tracks.erase(tracks.begin() + static_cast<std::ptrdiff_t>(j));
      else
        ++j;
    }
}

}  // namespace

std::vector<BeadTrack> track_beads(const std::vector<BeadFrame>& frames, const std::vector<double>& angles_rad,
                                   double diameter_px) {
  std::vector<Open> open;
  std::vector<BeadTrack> closed;
  double left = std::numeric_limits<double>::infinity(), right = -left;
  for (const BeadFrame& frame : frames)
    for (const BeadSpot& spot : frame.spots) {
      left = std::min(left, spot.column);
      right = std::max(right, spot.column);
    }
  for (std::size_t view = 0; view < frames.size(); ++view) {
    const std::vector<BeadSpot>& spots = frames[view].spots;
    struct Candidate {
      double distance;
      std::size_t track, spot;
    };
    std::vector<Candidate> candidates;
    for (std::size_t t = 0; t < open.size(); ++t) {
      const BeadTrack& track = open[t].track;
      const BeadSpot expected = predict(track, angles_rad, static_cast<std::int64_t>(view));
      const double turn = std::abs(angles_rad[view] - angles_rad[static_cast<std::size_t>(track.back().view)]);
      // Half the width of the beads' dance is the largest radius; what the prediction leaves out is of the next order.
      const double radius = 0.5 * (right - left);
      const double order = track.size() == 1 ? turn : track.size() == 2 ? turn * turn : turn * turn * turn;
      const double gate = 0.35 * diameter_px + 1.3 * radius * order;
      for (std::size_t s = 0; s < spots.size(); ++s) {
        const double du = std::abs(spots[s].column - expected.column), dv = std::abs(spots[s].row - expected.row);
        // Rows change a few times more slowly than columns.
        if (du < gate && dv < 0.35 * diameter_px + 0.3 * (gate - 0.35 * diameter_px))
          candidates.push_back({std::hypot(du, 3 * dv), t, s});
      }
    }
    std::sort(candidates.begin(), candidates.end(),
              [](const auto& a, const auto& b) { return a.distance < b.distance; });
    std::vector<char> taken(spots.size()), found(open.size());
    for (const Candidate& c : candidates) {
      if (taken[c.spot] || found[c.track]) continue;
      taken[c.spot] = found[c.track] = 1;
      open[c.track].track.push_back({static_cast<std::int64_t>(view), spots[c.spot].column, spots[c.spot].row});
      open[c.track].missed = 0;
    }
    for (std::size_t t = open.size(); t-- > 0;)
      if (!found[t] && ++open[t].missed > 3) {
        closed.push_back(open[t].track);
        open.erase(open.begin() + static_cast<std::ptrdiff_t>(t));
      }
    for (std::size_t s = 0; s < spots.size(); ++s)
      if (!taken[s]) open.push_back({{{static_cast<std::int64_t>(view), spots[s].column, spots[s].row}}, 0});
  }
  for (const Open& o : open) closed.push_back(o.track);
  std::erase_if(closed, [](const BeadTrack& t) { return t.size() < 4; });
  std::sort(closed.begin(), closed.end(), [](const auto& a, const auto& b) { return a.size() > b.size(); });
  join_pieces(closed, angles_rad, diameter_px);
  std::erase_if(closed, [&](const BeadTrack& t) {
    const auto [low, high] =
        std::minmax_element(t.begin(), t.end(), [](const auto& a, const auto& b) { return a.column < b.column; });
    return 4 * t.size() < frames.size() || high->column - low->column < 2;
  });
  return closed;
}

}  // namespace lepus
