// SPDX-License-Identifier: Apache-2.0
#include "project/wavelet.h"

#include <cstddef>

namespace lepus::rings {
namespace {

// Spectral factorisation of Daubechies' polynomial with the roots inside the unit circle, 60 digits.
constexpr double taps_of_all[] = {
    0.707106781186547524,     0.707106781186547524,                                                       // 1
    0.482962913144534143,     0.836516303737807906,     0.224143868042013381,     -0.129409522551260381,  // 2
    0.332670552950082616,     0.806891509311092576,     0.45987750211849157,      -0.135011020010254589,
    -0.0854412738820266617,   0.0352262918857095366,  // 3
    0.230377813308896501,     0.714846570552915647,     0.630880767929858908,     -0.0279837694168598542,
    -0.187034811719093084,    0.0308413818355607636,    0.0328830116668851997,    -0.0105974017850690321,  // 4
    0.160102397974192914,     0.603829269797189671,     0.724308528437772928,     0.138428145901320732,
    -0.242294887066382032,    -0.0322448695846383746,   0.0775714938400457135,    -0.00624149021279827427,
    -0.0125807519990819995,   0.00333572528547377128,  // 5
    0.111540743350109464,     0.494623890398453086,     0.751133908021095351,     0.315250351709197629,
    -0.22626469396543982,     -0.129766867567261936,    0.0975016055873230491,    0.0275228655303057286,
    -0.0315820393174860296,   0.000553842201161496139,  0.00477725751094551064,   -0.00107730108530847956,  // 6
    0.077852054085009179,     0.396539319481917307,     0.72913209084623512,      0.469782287405193122,
    -0.143906003928564975,    -0.224036184993874983,    0.0713092192668302648,    0.0806126091510830719,
    -0.0380299369350144136,   -0.0165745416306668807,   0.0125509985560998406,    0.000429577972921366521,
    -0.00180164070404749092,  0.000353713799974520248,  // 7
    0.05441584224310401,      0.312871590914299971,     0.675630736297289807,     0.585354683654206713,
    -0.0158291052563493057,   -0.284015542961546927,    0.00047248457391328277,   0.128747426620478459,
    -0.0173693010018075462,   -0.0440882539307947515,   0.0139810279173982816,    0.00874609404740577672,
    -0.00487035299345157431,  -0.000391740373376947046, 0.000675449406450569366,  -0.000117476784124769534,  // 8
    0.0380779473638783466,    0.243834674612590354,     0.604823123690111112,     0.657288078051300538,
    0.133197385825007576,     -0.293273783279174909,    -0.0968407832229764605,   0.14854074933810638,
    0.0307256814793333792,    -0.0676328290613299737,   0.000250947114831451958,  0.0223616621236790972,
    -0.00472320475775139728,  -0.00428150368246342983,  0.00184764688305622648,   0.000230385763523195967,
    -0.000251963188942710137, 0.0000393473203162715995,  // 9
    0.0266700579005555536,    0.188176800077691489,     0.527201188931725586,     0.688459039453603566,
    0.281172343660577461,     -0.249846424327315379,    -0.195946274377377044,    0.12736934033579326,
    0.0930573646035723512,    -0.0713941471663970871,   -0.0294575368218758129,   0.0332126740593410017,
    0.00360655356695616966,   -0.010733175483330575,    0.00139535174705290117,   0.00199240529518505612,
    -0.000685856694959711627, -0.000116466855129285451, 0.0000935886703200695913, -0.0000132642028945212448,  // 10
};

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

}  // namespace

std::span<const double> daubechies(int moments) {
  const std::size_t before = at(moments) * (at(moments) - 1);  // 2 + 4 + ... taps
  return std::span<const double>(taps_of_all).subspan(before, 2 * at(moments));
}

std::vector<double> high_pass(std::span<const double> low) {
  std::vector<double> high(low.rbegin(), low.rend());
  for (std::size_t k = 1; k < high.size(); k += 2) high[k] = -high[k];
  return high;
}

std::vector<double> analyse(const std::vector<double>& line, std::span<const double> filter) {
  const auto n = static_cast<std::int64_t>(line.size()), taps = static_cast<std::int64_t>(filter.size());
  std::vector<double> coefficients(at(coefficients_of(n, taps)), 0.0);
  for (std::int64_t i = 0; i < coefficients_of(n, taps); ++i)
    for (std::int64_t j = 0; j < taps; ++j)
      coefficients[at(i)] += filter[at(j)] * line[at(mirrored_index(2 * i + 1 - j, n))];
  return coefficients;
}

std::vector<double> analyse_transposed(const std::vector<double>& coefficients, std::span<const double> filter,
                                       std::int64_t n) {
  const auto taps = static_cast<std::int64_t>(filter.size());
  std::vector<double> line(at(n), 0.0);
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(coefficients.size()); ++i)
    for (std::int64_t j = 0; j < taps; ++j)
      line[at(mirrored_index(2 * i + 1 - j, n))] += filter[at(j)] * coefficients[at(i)];
  return line;
}

std::vector<double> synthesise(const std::vector<double>& coefficients, std::span<const double> filter,
                               std::int64_t n) {
  const auto taps = static_cast<std::int64_t>(filter.size());
  std::vector<double> line(at(n), 0.0);
  for (std::int64_t k = 0; k < static_cast<std::int64_t>(coefficients.size()); ++k)
    for (std::int64_t j = 0; j < taps; ++j)
      if (const std::int64_t i = 2 * k + 1 - j; i >= 0 && i < n) line[at(i)] += filter[at(j)] * coefficients[at(k)];
  return line;
}

}  // namespace lepus::rings
