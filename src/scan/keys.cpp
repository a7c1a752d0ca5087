// SPDX-License-Identifier: Apache-2.0
#include "scan/keys.h"

#include "scan/kinds/kinds.h"

#include <algorithm>
#include <array>

#include "core/format.h"

namespace lepus {
namespace {

constexpr ScanKeyRange any{};
constexpr ScanKeyRange positive{.minimum = 0, .open = true};
constexpr ScanKeyRange from_zero{.minimum = 0};
constexpr ScanKeyRange from_one{.minimum = 1};
// Larger detectors do not exist, and the product of all three stays below 2^63 bytes.
constexpr ScanKeyRange side{.minimum = 1, .maximum = 1e6};
constexpr ScanKeyRange fraction{.minimum = 0, .maximum = 1};
constexpr ScanKeyRange positive_fraction{.minimum = 0, .maximum = 1, .open = true};
constexpr ScanKeyRange scale{.minimum = 1e-9, .maximum = 1e9};
constexpr ScanKeyRange count_of_iterations{.minimum = 1, .maximum = 1e6};
constexpr ScanKeyRange right_angle{.minimum = -89, .maximum = 89};

constexpr std::string_view axes_orders =
    "view-row-column row-view-column view-column-row row-column-view column-row-view column-view-row";

constexpr auto sections = std::to_array<ScanSection>({
    {"frames", "The recorded frames, which part of them to use, and what their values are."},
    {"frames.raw",
     "How files without a header (`.raw`, `.bin`, `.dat`) are laid out; not needed beside a `.raw.json` of lepus."},
    {"frames.sinogram",
     "Files of laboratory systems: one image each, by default a detector row over all views, as numbers between a "
     "header "
     "and a tail of `name value` lines. docs/formats.md has an example."},
    {"intensity", "Where the unattenuated intensity I0 comes from; needed for counts where there are no flats."},
    {"geometry",
     "Where source, axis and detector were: parameters of a circular scan, or matrices, or another tool's file."},
    {"volume", "The voxels to reconstruct."},
    {"filter", "The ramp filter."},
    {"backprojection", "The backprojection."},
    {"method",
     "How the volume is made from the line integrals: filtered backprojection (FDK), or an iterative method. "
     "docs/iterative.md says which to take when."},
    {"correct", "A correction of the frames. Write `[[correct]]` once for each; they run in the order of the file."},
    {"post", "A step on the finished volume. Write `[[post]]` once for each; docs/post.md explains them."},
    {"output", "The volume file."},
});

using enum ScanKeyType;
constexpr auto all_keys = std::to_array<ScanKey>({
    {"frames", "files", names, "", "", "required",
     "Frames: a pattern such as `\"frames/*.tif\"`, a folder, a file (stack, HDF5, raw), or a list of these.", ""},
    {"frames", "dataset", text, "", "\"/exchange/data\"", "",
     "Dataset of the frames in an HDF5 file; the array in a MATLAB, .npz or FITS file of several; in a Zeiss file "
     "`ImageData` or `ReferenceData`.",
     ""},
    {"frames", "order", choice, "", "\"frames\"", "",
     "Whether each image is one view (`frames`) or one detector row over all views (`sinograms`).", "frames sinograms"},
    {"frames", "axes", choice, "", "", "as order says",
     "The same for every order of a stack's axes, the slowest first: `row-column-view` are sinograms stored "
     "transposed.",
     axes_orders},
    {"frames", "images", text, "", "", "all",
     "Which images of the files are frames, counted from 0 and with both ends: `\"20..199\"`, "
     "`\"0..99, 110..209\"`. Views are counted among these.",
     ""},
    {"frames", "image_key", text, "", "", "none",
     "Dataset that says what each image of an HDF5 file is (NXtomo): 0 a frame, 1 a flat, 2 a dark, 3 invalid.", ""},
    {"frames", "views", integer, "", "", "as many as there are",
     "How many frames there must be before any are selected: without it nobody notices that the last one was lost.", "",
     side},
    {"frames", "content", choice, "", "\"counts\"", "",
     "What the pixels hold: detector counts, or line integrals that need no flats and no logarithm.",
     "counts line-integrals"},
    {"frames", "flats", names, "", "", "none", "Frames with the beam on and no object, in the same forms as `files`.",
     ""},
    {"frames",
     "flats_at_view",
     numbers,
     "",
     "",
     "all at one time",
     "When flats were taken: one number for each name in `flats`, counted in recorded frames (0: before the first). I0 "
     "is "
     "interpolated between them.",
     "",
     {.minimum = 0}},
    {"frames", "flats_dataset", text, "", "\"/exchange/data_white\"", "",
     "Dataset of the flats in an HDF5 file; the array in a MATLAB, .npz or FITS file of several; in a Zeiss file "
     "`ImageData` or `ReferenceData`.",
     ""},
    {"frames", "flats_images", text, "", "", "all", "Which images of those files are flats, as `images`.", ""},
    {"frames", "flats_axes", choice, "", "", "view-row-column, or as axes in the same dataset",
     "Order of the axes of the flats, as `axes`; `view` counts the images.", axes_orders},
    {"frames", "darks", names, "", "", "none", "Frames with the beam off, in the same forms as `files`.", ""},
    {"frames", "darks_dataset", text, "", "\"/exchange/data_dark\"", "",
     "Dataset of the darks in an HDF5 file; the array in a MATLAB, .npz or FITS file of several; in a Zeiss file "
     "`ImageData` or `ReferenceData`.",
     ""},
    {"frames", "frames_scale", number, "", "1.0", "",
     "What the frames' counts are multiplied with, where they were taken with another exposure than the flats.", "",
     scale},
    {"frames", "flats_scale", number, "", "1.0", "", "The same of the flats.", "", scale},
    {"frames", "darks_scale", number, "", "1.0", "", "The same of the darks.", "", scale},
    {"frames", "darks_images", text, "", "", "all", "Which images of those files are darks, as `images`.", ""},
    {"frames", "darks_axes", choice, "", "", "view-row-column, or as axes in the same dataset",
     "Order of the axes of the darks, as `axes`; `view` counts the images.", axes_orders},
    {"frames", "first_view", integer, "", "0", "", "First frame to use, counted from 0.", "", from_zero},
    {"frames", "last_view", integer, "", "", "the last frame", "Last frame to use, itself included.", "", from_zero},
    {"frames", "view_step", integer, "", "1", "", "Use every n-th frame.", "", from_one},
    {"frames", "first_row", integer, "", "0", "", "First detector row to use, counted from 0.", "", from_zero},
    {"frames", "last_row", integer, "", "", "the last row", "Last detector row to use, itself included.", "",
     from_zero},
    {"frames", "row_step", integer, "", "1", "", "Use every n-th detector row.", "", from_one},
    {"frames", "maximum_bad_fraction", number, "", "0.01", "",
     "Share of NaN or saturated pixels above which a frame is refused.", "", fraction},
    {"frames", "saturation_level", number, "", "0.0", "",
     "Count from which a pixel is saturated; 0 stands for the largest value of the pixel type.", "", from_zero},

    {"frames.raw", "columns", integer, "px", "", "required for raw files", "Pixels in a row of an image.", "", side},
    {"frames.raw", "rows", integer, "px", "", "required for raw files", "Rows in an image.", "", side},
    {"frames.raw",
     "frames_per_file",
     integer,
     "",
     "0",
     "",
     "Images in each file of the scan; 0 stands for as many as it holds, as in flats and darks always.",
     "",
     {.minimum = 0, .maximum = 1e6}},
    {"frames.raw", "type", choice, "", "\"uint16\"", "", "Type of a pixel.",
     "uint8 int8 uint16 int16 uint32 int32 float32 float64"},
    {"frames.raw",
     "header_bytes",
     integer,
     "bytes",
     "0",
     "",
     "Bytes to skip at the start of each file.",
     "",
     {.minimum = 0, .maximum = 1e15}},
    {"frames.raw", "byte_order", choice, "", "\"little\"", "", "Order of the bytes in a pixel.", "little big"},

    {"frames.sinogram", "header", names, "", "", "required for such files",
     "The lines there may be before the pixels, each with its type (`integer`, `number`, `text`) and, where it must be "
     "there, `required`: `[\"columns integer required\", \"sample text\"]`.",
     ""},
    {"frames.sinogram", "tail", names, "", "", "none", "The same of the lines after the pixels.", ""},
    {"frames.sinogram", "header_end", text, "", "", "none: the header ends at the first line that is not listed",
     "The line between the header and the pixels.", ""},
    {"frames.sinogram", "pixels", choice, "", "\"text\"", "",
     "Whether the pixels are numbers in text, separated by blanks and new lines, or binary.", "text binary"},
    {"frames.sinogram", "type", choice, "", "\"float32\"", "", "Type of a pixel; a number of a text must fit into it.",
     "uint8 int8 uint16 int16 uint32 int32 float32 float64"},
    {"frames.sinogram", "byte_order", choice, "", "\"little\"", "", "Order of the bytes in a binary pixel.",
     "little big"},
    {"frames.sinogram", "columns_from", text, "", "\"columns\"", "",
     "Name of the header's line that says how many pixels a line of the image has.", ""},
    {"frames.sinogram", "lines_from", text, "", "\"views\"", "",
     "Name of the header's line that says how many lines the image has: of a sinogram, the views.", ""},
    {"frames.sinogram", "number_from", text, "", "", "none",
     "Name of the header's line that counts the images; it must go up by one from file to file.", ""},

    {"intensity", "from", choice, "", "", "flats where there are any",
     "Take I0 from the flats, from `value`, from the mean of `air_region_px` over the views, or as the largest count "
     "the "
     "detector can give (`saturation_level`). The mean dark is subtracted from the last two.",
     "flats value air-region detector-maximum"},
    {"intensity", "value", number, "counts", "", "required with from = \"value\"", "I0 with darks already subtracted.",
     "", positive},
    {"intensity", "air_region_px", integers, "px", "", "required with from = \"air-region\"",
     "Part of the frame that sees no object, `[column0, column1, row0, row1]`, the ends not included.", "", from_zero,
     4},

    {"geometry", "beam", choice, "", "\"cone\"", "", "Shape of the beam.", "cone fan parallel"},
    {"geometry", "detector", choice, "", "\"flat\"", "", "A flat detector, or one bent around the source.", "flat arc"},
    {"geometry", "source_axis_mm", number, "mm", "", "required for cone and fan beam",
     "Distance from the source to the rotation axis.", "", positive},
    {"geometry", "source_detector_mm", number, "mm", "", "required for cone and fan beam",
     "Distance from the source to the detector.", "", positive},
    {"geometry", "columns", integer, "px", "", "from the frames",
     "Pixels in a detector row; checked against the frames.", "", side},
    {"geometry", "rows", integer, "px", "", "from the frames", "Detector rows; checked against the frames.", "", side},
    {"geometry", "pixel_width_mm", number, "mm", "", "required", "Distance between two columns on the detector.", "",
     positive},
    {"geometry", "pixel_height_mm", number, "mm", "", "as pixel_width_mm", "Distance between two rows on the detector.",
     "", positive},
    {"geometry", "detector_shift_u_mm", number, "mm", "0.0", "",
     "How far the detector's middle lies from the central ray, to the right as the source sees it.", ""},
    {"geometry", "detector_shift_v_mm", number, "mm", "0.0", "",
     "How far the detector's middle lies from the central ray, downwards.", ""},
    {"geometry", "center", choice, "", "\"given\"", "",
     "Where the rotation axis is seen: as the keys of this section say, or found in the frames (`lepus center`; the "
     "detector's shift and in-plane angle are then set anew).",
     "given auto"},
    {"geometry", "axis_offset_mm", number, "mm", "0.0", "",
     "How far the rotation axis lies from the central ray, to the right as the source sees it.", ""},
    {"geometry", "in_plane_deg", number, "deg", "0.0", "", "Rotation of the detector about its normal.", "", any},
    {"geometry", "pitch_deg", number, "deg", "0.0", "", "Tilt of the detector about its row direction.", "",
     right_angle},
    {"geometry", "yaw_deg", number, "deg", "0.0", "", "Tilt of the detector about its column direction.", "",
     right_angle},
    {"geometry", "mirror_columns", boolean, "", "false", "", "Column 0 is on the right as the source sees it.", ""},
    {"geometry", "mirror_rows", boolean, "", "false", "", "Row 0 is at the bottom.", ""},
    {"geometry", "first_angle_deg", number, "deg", "0.0", "", "Angle of frame 0, in the direction of `direction`.", ""},
    {"geometry", "arc_deg", number, "deg", "360.0", "",
     "Angle the scan covers: N frames stand at first_angle_deg + i*arc_deg/N, so the end is not repeated.", "",
     positive},
    {"geometry", "angle_step_deg", number, "deg", "", "arc_deg divided by the frames",
     "Angle from one frame to the next, instead of `arc_deg`.", "", positive},
    {"geometry", "angles_deg", numbers, "deg", "", "none", "The angle of every frame, instead of the three keys above.",
     ""},
    {"geometry", "angles_file", text, "", "", "none",
     "Text file with the angle of every frame, separated by blanks, commas or lines; `#` starts a comment.", ""},
    {"geometry", "angles_dataset", text, "", "", "none",
     "Dataset with the angles in the frames' HDF5, MATLAB, .npz or FITS file, for example `\"/exchange/theta\"`.", ""},
    {"geometry", "angles_unit", choice, "", "", "what the dataset's attribute `units` says, or degrees",
     "What `angles_file` or `angles_dataset` holds.", "degrees radians"},
    {"geometry", "first_angle_index", integer, "", "", "0, with no entries to spare",
     "Where the frames' entries begin in a file or dataset that also lists the angles of flats and darks.", "",
     from_zero},
    {"geometry", "direction", choice, "", "\"counter-clockwise\"", "",
     "The way source and detector turn around the object, seen from above; a turntable that turns clockwise makes them "
     "turn counter-clockwise.",
     "counter-clockwise clockwise"},
    {"geometry", "pitch_mm", number, "mm", "0.0", "",
     "How far source and detector move up along the axis in a counter-clockwise turn (a helix); the middle of the scan "
     "is at "
     "z = 0. Iterative methods reconstruct such scans.",
     ""},
    {"geometry", "view_shifts_u_mm", numbers, "mm", "", "none",
     "How much further to the right the detector's middle lay in each frame than `detector_shift_u_mm` says.", ""},
    {"geometry", "view_shifts_v_mm", numbers, "mm", "", "none", "The same downwards.", ""},
    {"geometry", "perturbations_file", text, "", "", "none",
     "Text file with 10 numbers per frame: source u, v, depth (mm); detector u, v, depth (mm); in-plane, pitch, yaw "
     "(deg); angle (deg).",
     ""},
    {"geometry", "view_perturbations", numbers, "", "", "none",
     "The same ten numbers for each frame as a list in the scan file, instead of `perturbations_file`.", ""},
    {"geometry", "matrices_file", text, "", "", "none",
     "Text file with 12 numbers per frame, the 3x4 projection matrix row by row in any scaling, instead of the "
     "parameters above (`beam`, `columns`, `rows` and `source_detector_mm` may stay).",
     ""},
    {"geometry", "matrices_unit", choice, "", "\"mm\"", "",
     "What the matrices map from: world millimetres, or voxel indices of the volume that [volume] gives.", "mm voxels"},
    {"geometry", "import_file", text, "", "", "none",
     "Geometry file of another program, instead of the parameters above (`columns`, `rows`, RTK's pixel size and "
     "ASTRA's "
     "`beam` may stay).",
     ""},
    {"geometry", "import_format", choice, "", "", "rtk for .xml, xrad for .header, otherwise required",
     "Whose file it is: RTK's XML, ASTRA's vectors, TIGRE's parameters, or an X-RAD's header.", "rtk astra tigre xrad"},
    {"geometry", "import_first_row", choice, "", "", "what the file says, or bottom",
     "Where row 0 of the frames is; RTK and TIGRE count rows upwards.", "top bottom"},
    {"geometry", "import_first_pixel_mm", numbers, "mm", "", "so that the frame is centred",
     "RTK: detector coordinates `[x, y]` of pixel (0, 0).", "", any, 2},
    {"geometry", "import_unit_mm", number, "mm", "", "what the file says, or 1",
     "ASTRA: length of its unit, the voxel of its volume.", "", positive},

    {"volume",
     "size",
     choice_or_integers,
     "voxels",
     "\"auto\"",
     "",
     "Voxels along x, y and z, or `\"auto\"`: the largest volume that every view sees.",
     "auto",
     {.minimum = 1, .maximum = 1e7},
     3},
    {"volume", "voxel_mm", number_or_numbers, "mm", "", "pixel size at the axis",
     "Distance between voxels: one number, or one each for x, y and z.", "", positive, 3},
    {"volume", "centre_mm", numbers, "mm", "", "the middle of what every view sees (auto), or [0, 0, 0]",
     "Where the volume's middle lies from the rotation centre.", "", any, 3},
    {"volume", "mirror", booleans, "", "[false, false, false]", "",
     "Count the voxels along x, y or z the other way round.", "", any, 3},
    {"volume", "first_slice", integer, "", "0", "", "First slice to reconstruct, counted from 0.", "", from_zero},
    {"volume", "last_slice", integer, "", "", "the last slice", "Last slice to reconstruct, itself included.", "",
     from_zero},
    {"volume", "slice_step", integer, "", "1", "", "Reconstruct every n-th slice.", "", from_one},
    {"volume", "region_px", integers, "px", "", "the whole slice",
     "Part of each slice, `[x0, x1, y0, y1]` in voxels, the ends not included.", "", from_zero, 4},
    {"volume", "mask", boolean, "", "true", "",
     "Set voxels outside the field of view, of which nothing is known, to zero.", ""},

    {"filter", "window", choice, "", "\"ram-lak\"", "", "Apodisation of the ramp, from sharp to smooth.",
     "ram-lak shepp-logan cosine hamming hann"},
    {"filter", "cutoff", number, "", "1.0", "", "Where the ramp ends, as a fraction of the Nyquist frequency.", "",
     positive_fraction},
    {"filter",
     "spatial_hamming_samples",
     integer,
     "",
     "0",
     "",
     "Smooth rows with a Hamming kernel of this many samples first (odd; 0 is off).",
     "",
     {.minimum = 0, .maximum = 999}},
    {"filter",
     "extrapolate",
     number,
     "",
     "0.0",
     "",
     "Continue truncated rows smoothly to zero over this fraction of their width.",
     "",
     {.minimum = 0, .maximum = 2}},

    {"backprojection", "interpolation", choice, "", "\"linear\"", "", "How detector pixels are interpolated.",
     "nearest linear cubic"},

    {"method", "name", choice, "", "\"fdk\"", "",
     "The method; needed beside other keys of the section, unless `--method` names one.",
     "fdk sirt sart os-sart cgls lsqr ramp-cgls mlem osem iterative-fdk fista-tv chambolle-pock os-momentum"},
    {"method", "iterations", integer, "", "50", "", "Iterations at most; in each, every line integral is used once.",
     "", count_of_iterations},
    {"method", "subsets", integer, "", "", "10, or as many as there are views",
     "Of the views, for `os-sart`, `osem` and `os-momentum`: each iteration goes through them one after the other.", "",
     side},
    {"method", "order", choice, "", "\"distant\"", "",
     "In which order: each subset as far as can be in angle from those before it, as they come, or by chance.",
     "distant sequential random"},
    {"method", "seed", integer, "", "1", "", "Of the random order: the same seed, the same volume.", "", from_zero},
    {"method",
     "relaxation",
     number,
     "",
     "1.0",
     "",
     "Length of the steps of `sirt`, `sart`, `os-sart` and `iterative-fdk`, below 2.",
     "",
     {.minimum = 0, .maximum = 2, .open = true}},
    {"method", "strength", number, "", "0.0", "",
     "Of the regularisation, without unit: total variation (`fista-tv`, `chambolle-pock`, `os-momentum`) or damping "
     "(`cgls`, `lsqr`, `ramp-cgls`). At 1 what was measured has no say; try 0.0001 to 0.01.",
     "", from_zero},
    {"method", "choose_strength", boolean, "", "false", "",
     "Choose the strength by the discrepancy principle: so strong that what is left of the line integrals is as large "
     "as their noise.",
     ""},
    {"method", "huber", number, "1/mm", "0.0", "",
     "Differences between neighbours below it count squared, not as they are (`chambolle-pock`).", "", from_zero},
    {"method",
     "total_variation_steps",
     integer,
     "",
     "20",
     "",
     "Inner steps of `fista-tv`; `os-momentum` shares them among its subsets.",
     "",
     {.minimum = 1, .maximum = 1000}},
    {"method", "low", number, "1/mm", "", "none", "No voxel below it.", ""},
    {"method", "high", number, "1/mm", "", "none", "No voxel above it.", ""},
    {"method", "start", text, "", "\"zero\"", "",
     "What the first iteration begins with: `\"zero\"`, `\"fdk\"`, or a volume file of the same grid.", ""},
    {"method", "weights", choice, "", "\"none\"", "",
     "Whether line integrals count all alike, or as many photons as they were measured with.", "none counts"},
    {"method", "mask", text, "", "", "none",
     "Volume file of the same grid: where it is 0 the volume is known to be empty. It says nothing of what `extend` "
     "adds.",
     ""},
    {"method", "prior", text, "", "", "none",
     "Volume file of the same grid that the volume resembles, for `chambolle-pock` (PICCS).", ""},
    {"method", "prior_share", number, "", "0.5", "",
     "Of the regularisation that is taken from the difference to the prior volume.", "", fraction},
    {"method",
     "extend",
     numbers,
     "",
     "[0.0, 0.0, 0.0]",
     "",
     "Volume beyond both ends of x, y and z that is iterated too and cut off afterwards, in shares of its size: for "
     "objects that reach past the field of view.",
     "",
     {.minimum = 0, .maximum = 4},
     3},
    {"method", "model", choice, "", "\"joseph\"", "",
     "How a ray meets voxels: interpolated between them, by its exact length in each, by the area of the pixel, or "
     "interpolated with a fast transpose that is not the exact one.",
     "joseph siddon footprint voxel"},
    {"method", "stop_residual", number, "", "0.0", "",
     "Stop where what is left of the line integrals is so small a share of them; 0: never.", "", fraction},
    {"method", "stop_change", number, "", "0.0", "",
     "Stop where an iteration changes so small a share of the volume; 0: never.", "", fraction},
    {"method", "stop_at_noise", boolean, "", "false", "",
     "Stop where what is left of the line integrals is as small as their noise.", ""},
    {"method", "noise", number, "", "", "measured",
     "Of the line integrals, root mean square; with weights, of the weighted ones.", "", positive},
    {"method", "save_every", integer, "", "0", "",
     "Save the state beside the output after so many iterations, so that a run that was ended goes on from there; 0: "
     "by time.",
     "", from_zero},
    {"method", "save_minutes", number, "min", "0.0", "",
     "Save the state so many minutes after the last time; 0: as often as saving takes a hundredth of the time, once a "
     "minute at most, or only by `save_every`.",
     "", from_zero},

    {"correct", "kind", text, "", "", "required", "Which correction; see below.", ""},
    {"post", "kind", text, "", "", "required", "Which step; see below.", ""},

    {"output", "file", text, "", "", "given with -o",
     "Name of the volume; its ending chooses the format (.mha, .mhd, .nrrd, .tif, .h5, .raw, .zarr).", ""},
});

std::string default_cell(const ScanKey& key) {
  if (!key.default_toml.empty()) return format("`{}`", key.default_toml);
  return std::string(key.default_words);
}

void append_table(std::string& page, const std::vector<ScanKey>& rows) {
  page += "| key | value | unit | default | meaning |\n|---|---|---|---|---|\n";
  for (const auto& key : rows)
    page +=
        format("| `{}` | {} | {} | {} | {} |\n", key.name, type_words(key), key.unit, default_cell(key), key.meaning);
}

}  // namespace

std::span<const ScanSection> scan_sections() { return sections; }
std::span<const ScanKey> scan_keys() { return all_keys; }

const ScanKey* find_scan_key(std::string_view section, std::string_view name) {
  const auto found =
      std::ranges::find_if(all_keys, [&](const ScanKey& key) { return key.section == section && key.name == name; });
  return found == all_keys.end() ? nullptr : &*found;
}

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const auto end = std::min(text.find(' '), text.size());
    if (end > 0) words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

std::string type_words(const ScanKey& key) {
  std::string choices;
  for (const auto& word : split_words(key.choices)) choices += format("{}`\"{}\"`", choices.empty() ? "" : ", ", word);
  switch (key.type) {
    case boolean:
      return "true or false";
    case integer:
      return "integer";
    case number:
      return "number";
    case text:
      return "text";
    case choice:
      return choices;
    case names:
      return "text or list of texts";
    case integers:
      return format("list of {} integers", key.count);
    case numbers:
      return key.count == 0 ? "list of numbers" : format("list of {} numbers", key.count);
    case booleans:
      return format("list of {} true or false", key.count);
    case number_or_numbers:
      return format("number or list of {} numbers", key.count);
    case choice_or_integers:
      return format("{} or list of {} integers", choices, key.count);
  }
  return {};
}

std::string scan_keys_markdown() {
  std::string page;
  for (const auto& section : sections) {
    const bool chain = section.name == "correct" || section.name == "post";
    page += chain ? format("### [[{}]]\n\n", section.name) : format("### [{}]\n\n", section.name);
    page += format("{}\n\n", section.meaning);
    std::vector<ScanKey> rows;
    std::ranges::copy_if(all_keys, std::back_inserter(rows),
                         [&](const ScanKey& key) { return key.section == section.name; });
    append_table(page, rows);
    page += "\n";
    const auto post = post_kinds();
    if (chain)
      for (const auto& kind : section.name == "post" ? std::span<const CorrectionKind>(post) : correction_kinds()) {
        page += format("`kind = \"{}\"`: {}\n\n", kind.name, kind.meaning);
        if (kind.parameters.empty()) continue;
        append_table(page, kind.parameters);
        page += "\n";
      }
  }
  page.pop_back();
  return page;
}

}  // namespace lepus
