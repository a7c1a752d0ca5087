// SPDX-License-Identifier: Apache-2.0
// Corrections that replace pixels; src/correct/pixels does the work, docs/corrections/pixels.md explains it.
#include "scan/kinds/kinds.h"

namespace lepus {
namespace {

ScanKey pixel_key(std::string_view name, ScanKeyType type, std::string_view unit, std::string_view default_toml,
                  std::string_view meaning, ScanKeyRange range = {}, std::string_view choices = "") {
  return {"correct", name, type, unit, default_toml, "", meaning, choices, range};
}

}  // namespace

ScanKey maximum_share_key() {
  return pixel_key(
      "maximum_share", ScanKeyType::number, "", "0.1",
      "Where more than this share would be replaced, it is an error: no detector has that many bad pixels. "
      "1 allows any number.",
      {.minimum = 0, .maximum = 1});
}

std::vector<CorrectionKind> pixel_kinds() {
  const auto positive = ScanKeyRange{.minimum = 0, .open = true};
  return {
      {"dead-pixels",
       "bridges pixels whose flat is not above the dark, or far below the other pixels, between their good neighbours "
       "in the row.",
       {pixel_key("threshold", ScanKeyType::number, "", "0.05", "Share of the median flat below which a pixel is dead.",
                  {.minimum = 0, .maximum = 1, .open = true}),
        maximum_share_key()},
       "either"},
      {"defect-map",
       "bridges the pixels that a file names between their good neighbours in the row; a row that is bad from end to "
       "end, between the rows around it.",
       {{"correct", "file", ScanKeyType::text, "", "", "required",
         "A picture (PNG, TIFF) as large as the recorded frames in which all that is not zero is bad, or a text file: "
         "\"column row\" or \"column0 row0 column1 row1\" (a rectangle, corners included) on each line, counted from "
         "0. Relative to the scan file's folder.",
         ""},
        maximum_share_key()},
       "either"},
      {"hot-pixels",
       "finds pixels that differ from their neighbours in the row over all views, and replaces them in every view; "
       "runs "
       "of up to `gap_px` of them, too.",
       {pixel_key("method", ScanKeyType::choice, "", "\"shifted-window\"",
                  "`shifted-window` compares a pixel with two windows of its row and survives runs of hot pixels; "
                  "`classic` compares it with the whole row and is for single ones.",
                  {}, "shifted-window classic"),
        pixel_key("tolerance", ScanKeyType::number, "", "4",
                  "How many standard deviations a pixel's deviation must lie above the others'.", positive),
        {"correct",
         "window_px",
         ScanKeyType::integer,
         "px",
         "",
         "6, or fewer in a row of less than 512 columns, at least 3",
         "Pixels of each window (numDev). 2: the original weights; more: weights that cancel a linear trend.",
         "",
         {.minimum = 2, .maximum = 32}},
        {"correct",
         "gap_px",
         ScanKeyType::integer,
         "px",
         "",
         "5, or fewer in a row of less than 512 columns, at least 2",
         "Distance of a window's nearest pixel (numPix); the longest run that is found.",
         "",
         {.minimum = 1, .maximum = 64}},
        pixel_key("deviations", ScanKeyType::integer, "", "3",
                  "3: the windows are judged by one-sided deviations, which a run in between does not touch; 1: by the "
                  "two-sided one.",
                  {.minimum = 1, .maximum = 3}),
        pixel_key("normalise", ScanKeyType::boolean, "", "true",
                  "Deviations are divided by their gain. `false`, with `window_px = 2`, is the original form."),
        pixel_key("below", ScanKeyType::boolean, "", "false",
                  "Pixels that deviate far less than the others are replaced, too."),
        pixel_key(
            "share_of_views", ScanKeyType::number, "", "0.3",
            "In at least this share of the views a pixel must stand out from both its windows, not only over the "
            "whole scan: outlines of the object do not. 0: not asked; `classic` and `normalise = false` never do.",
            {.minimum = 0, .maximum = 1}),
        pixel_key("replace_by", ScanKeyType::choice, "", "\"auto\"",
                  "`bridge`: the line between the nearest good pixels, which follows an object's shape; `windows`: the "
                  "mean of both windows (`classic`: of both neighbours), which has less noise; `auto`: `windows` for "
                  "`classic` and `normalise = false`, else `bridge`.",
                  {}, "auto bridge windows"),
        pixel_key("iterations", ScanKeyType::integer, "", "3",
                  "How often to look again at what is left; later rounds look only where something was replaced.",
                  {.minimum = 1, .maximum = 100}),
        maximum_share_key()},
       "grey-levels line-integrals",
       {{"window_px", "method", "shifted-window"},
        {"gap_px", "method", "shifted-window"},
        {"deviations", "method", "shifted-window"},
        {"normalise", "method", "shifted-window"},
        {"share_of_views", "method", "shifted-window"}}},
      {"zingers",
       "replaces values in single frames that stand far above the same pixel in the neighbouring views by their "
       "median; what moves on along the row in these views stays.",
       {pixel_key("tolerance", ScanKeyType::number, "", "8",
                  "How many standard deviations of the pixel's noise a value must lie above the median.", positive),
        pixel_key("radius_views", ScanKeyType::integer, "", "2", "Views on each side that the median is taken over.",
                  {.minimum = 1, .maximum = 3}),
        pixel_key("neighbours", ScanKeyType::choice, "", "\"both\"",
                  "What a value is compared with: the same pixel in the neighbouring `views`, five pixels of the same "
                  "`row`, or `both`.",
                  {}, "both views row"),
        pixel_key("along_px", ScanKeyType::integer, "px", "3",
                  "With `both`: a detail of the object moves by at most so many columns from view to view. What "
                  "stands out in two of the four views around, too, is one, and stays. 0: not asked.",
                  {.minimum = 0, .maximum = 16}),
        maximum_share_key()},
       "grey-levels line-integrals",
       {{"radius_views", "neighbours", "both views"}, {"along_px", "neighbours", "both"}}},
  };
}

}  // namespace lepus
