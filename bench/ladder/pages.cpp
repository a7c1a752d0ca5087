// SPDX-License-Identifier: Apache-2.0
// The ladder's tables and plots, from the figures of a report alone.
#include <algorithm>
#include <cstdio>
#include <map>

#include "core/format.h"
#include "core/output_file.h"
#include "bench/ladder/ladder.h"
#include "plot/chart.h"
#include "bench/measure/table.h"
#include "plot/text.h"
#include <lepus/error.h>

namespace lepus::ladder {
namespace {

using measure::Figure;

std::vector<const Figure*> group_of(const measure::Report& report, const std::string& group) {
  std::vector<const Figure*> found;
  for (const Figure& figure : report.figures)
    if (figure.group == group) found.push_back(&figure);
  return found;
}
const Figure* figure_named(const std::vector<const Figure*>& figures, const std::string& name) {
  const auto found = std::find_if(figures.begin(), figures.end(), [&](const Figure* f) { return f->name == name; });
  return found == figures.end() ? nullptr : *found;
}

// Sizes that the report has groups of this kind for: "kernel " of "kernel 512^3".
std::vector<std::string> sizes_of(const measure::Report& report, const std::string& kind) {
  std::vector<std::string> sizes;
  for (const Figure& figure : report.figures)
    if (figure.group.starts_with(kind + " ")) {
      const std::string size = figure.group.substr(kind.size() + 1);
      if (std::find(sizes.begin(), sizes.end(), size) == sizes.end()) sizes.push_back(size);
    }
  return sizes;
}
std::string without_cube(const std::string& size) { return size.substr(0, size.find('^')); }
std::string cubed(const std::string& size) { return without_cube(size) + "³"; }

std::string wrong_mark(const Figure& figure) { return figure.correct() ? "" : " **wrong**"; }
std::string wrong_text(const Figure& figure) { return figure.correct() ? "" : " wrong"; }  // in a plot

std::string rate_of(const Figure& figure) { return plot::rate_text(figure.rate(), figure.unit); }
std::string error_text(const Figure& figure) { return format("{:.1e}", figure.error) + wrong_mark(figure); }
std::string heading(const std::string& title) { return format("\n## {}\n\n", title); }
// Notes are sentences: their column, the last, is set left.
std::string with_notes(const measure::MarkdownTable& table) {
  std::string text = table.text();
  const std::string right = "---:|\n";
  if (const auto at = text.find(right); at != std::string::npos) text.replace(at, right.size(), "---|\n");
  return text;
}

// The machine and the line that measures it again, as far as the report has them.
std::string machine_line(const measure::Report& report) {
  const auto& m = report.machine;
  std::string text;
  for (const std::string& part :
       {m.gpu, m.driver, m.cpu, report.version.empty() ? "" : "lepus " + report.version, report.date})
    if (!part.empty()) text += (text.empty() ? "" : ", ") + part;
  if (!report.command.empty()) text += format("{}`{}`", text.empty() ? "" : ": ", report.command);
  return text.empty() ? "" : text + "\n";
}

std::string steps_table(const measure::Report& report, const std::string& size) {
  const auto kernels = group_of(report, "kernel " + size), hosts = group_of(report, "host to host " + size);
  measure::MarkdownTable table({"step", "published", "host to host", "kernel", "rate", "error", "what bounds it"});
  for (const Rung& rung : cuda_rungs()) {
    const Figure *kernel = figure_named(kernels, rung.name), *host = figure_named(hosts, rung.name);
    if (kernel == nullptr && host == nullptr) continue;
    const Figure& either = kernel != nullptr ? *kernel : *host;
    table.row(
        {rung.name, host != nullptr && host->published_seconds > 0 ? plot::time_text(host->published_seconds) : "",
         host != nullptr ? plot::time_text(host->seconds) + wrong_mark(*host) : "",
         kernel != nullptr ? plot::time_text(kernel->seconds) : "", rate_of(either), error_text(either), either.note});
  }
  return heading(cubed(size)) + with_notes(table) +
         "\nRates are the kernel's where it was timed by itself. The last column gives the share of the kernel's time "
         "that the volume's\ntraffic and the fetches would need at the rates measured on the same card.\n";
}

std::string plain_table(const measure::Report& report, const std::string& group, const std::string& title) {
  measure::MarkdownTable table({"", "time", "rate", "error", "note"});
  for (const Figure* f : group_of(report, group))
    table.row({f->name, plot::time_text(f->seconds), rate_of(*f), error_text(*f), f->note});
  return heading(title) + with_notes(table);
}

// Kernel B as it was swept, read from the names.
struct Swept {
  int views = 0, voxels = 0, x = 0, y = 0;
  const Figure* figure = nullptr;
};
std::vector<Swept> swept_at(const measure::Report& report, const std::string& size) {
  std::vector<Swept> all;
  for (const Figure* f : group_of(report, "sweep of B " + size)) {
    Swept s;
    s.figure = f;
    if (std::sscanf(f->name.c_str(), "I = %d, K = %d, block %d x %d", &s.views, &s.voxels, &s.x, &s.y) == 4)
      all.push_back(s);
  }
  return all;
}
// The first shape is the usual one: views per launch and voxels per thread are swept in its blocks.
bool usual_block(const std::vector<Swept>& all, const Swept& one) {
  return one.x == all.front().x && one.y == all.front().y;
}
std::string rate_cell(const Figure& figure) { return plot::three_digits(figure.rate()) + wrong_mark(figure); }

// GUPS: I down, K across; below, the other shapes of the block.
std::string sweep_tables(const measure::Report& report, const std::string& size) {
  const std::vector<Swept> all = swept_at(report, size);
  std::map<int, std::map<int, std::string>> cells;
  std::vector<std::string> head{"I \\ K"};
  measure::MarkdownTable shapes({"block", "I", "K", "GUPS"});
  for (const Swept& s : all) {
    if (usual_block(all, s))
      cells[s.views][s.voxels] = rate_cell(*s.figure);
    else
      shapes.row({format("{} x {}", s.x, s.y), format("{}", s.views), format("{}", s.voxels), rate_cell(*s.figure)});
  }
  if (cells.empty()) return {};
  for (const auto& column : cells.begin()->second) head.push_back(format("{}", column.first));
  measure::MarkdownTable table(head);
  for (const auto& line : cells) {
    std::vector<std::string> row{format("{}", line.first)};
    for (const auto& cell : line.second) row.push_back(cell.second);
    row.resize(head.size());
    table.row(row);
  }
  return heading(format("Sweep of kernel B, {}", cubed(size))) +
         format("GUPS over views per launch I and voxels per thread K, blocks of {} x {} threads:\n\n", all.front().x,
                all.front().y) +
         table.text() + "\nOther shapes of the block:\n\n" + shapes.text();
}

// Seconds, with the published ones as ticks.
plot::BarChart host_chart(const measure::Report& report, const std::string& size) {
  plot::BarChart chart;
  chart.title = format("The ladder at {}, host to host", cubed(size));
  chart.unit = "s";
  chart.marker_name = "published";
  chart.logarithmic = true;
  const auto figures = group_of(report, "host to host " + size);
  for (const Figure* f : figures)  // below the best, whose bar would else have no length
    chart.reaches = chart.reaches > 0 ? std::min(chart.reaches, 0.3 * f->seconds) : 0.3 * f->seconds;
  for (const Figure* f : figures)
    chart.bars.push_back({f->name, f->seconds, plot::time_text(f->seconds) + wrong_text(*f), f->published_seconds});
  return chart;
}

// GUPS, with the limits as ticks.
plot::BarChart kernel_chart(const measure::Report& report, const std::string& size) {
  plot::BarChart chart;
  chart.title = format("The kernels at {}, and the limit that the volume's traffic or the fetches set", cubed(size));
  chart.unit = "GUPS";
  chart.marker_name = "limit";
  for (const Figure* f : group_of(report, "kernel " + size))
    chart.bars.push_back({f->name, f->rate(), plot::three_digits(f->rate()) + wrong_text(*f), f->limit_rate});
  return chart;
}

plot::BarChart apart_chart(const measure::Report& report, const std::string& size) {
  plot::BarChart chart;
  chart.title = format("Taken apart, {}", cubed(size));
  chart.unit = "ms";
  for (const Figure* f : group_of(report, "ablation " + size))
    chart.bars.push_back({f->name, 1e3 * f->seconds, plot::time_text(f->seconds) + wrong_text(*f), 0});
  return chart;
}

plot::BarChart cpu_chart(const measure::Report& report, const std::string& size) {
  plot::BarChart chart;
  chart.title = format("The ladder on a CPU, {}", cubed(size));
  chart.unit = "GUPS";
  for (const Figure* f : group_of(report, "cpu " + size))
    chart.bars.push_back({f->name, f->rate(), plot::three_digits(f->rate()) + wrong_text(*f), 0});
  return chart;
}

// GUPS over views per launch, a line for each K; blocks of the usual shape.
plot::LineChart sweep_chart(const measure::Report& report, const std::string& size) {
  const std::vector<Swept> all = swept_at(report, size);
  std::map<int, plot::Line> lines;
  for (const Swept& s : all) {
    if (!usual_block(all, s)) continue;
    plot::Line& line = lines[s.voxels];
    line.label = format("K = {}", s.voxels);
    line.x.push_back(s.views);
    line.y.push_back(s.figure->rate());
  }
  plot::LineChart chart;
  chart.title = format("Kernel B at {}: views per launch I, voxels per thread K", cubed(size));
  chart.x_unit = "views per launch";
  chart.y_unit = "GUPS";
  chart.logarithmic_x = true;
  for (auto& entry : lines) chart.lines.push_back(std::move(entry.second));
  return chart;
}

struct Section {
  std::string text;
  std::vector<Plot> plots;
};
std::vector<Section> sections_of(const measure::Report& report) {
  std::vector<Section> sections;
  const auto plot = [](const char* kind, const std::string& size, const auto& drawn) {
    return Plot{format("ladder-{}-{}.svg", kind, without_cube(size)), drawn.title, plot::svg(drawn)};
  };
  const auto hosts = sizes_of(report, "host to host"), kernels = sizes_of(report, "kernel");
  const auto has = [](const auto& sizes, const std::string& size) {
    return std::find(sizes.begin(), sizes.end(), size) != sizes.end();
  };
  std::vector<std::string> steps = kernels;
  for (const std::string& size : hosts)
    if (!has(kernels, size)) steps.push_back(size);
  for (const std::string& size : steps) {
    sections.push_back({steps_table(report, size), {}});
    if (has(hosts, size)) sections.back().plots.push_back(plot("host", size, host_chart(report, size)));
    if (has(kernels, size)) sections.back().plots.push_back(plot("kernel", size, kernel_chart(report, size)));
  }
  for (const std::string& size : sizes_of(report, "ablation"))
    sections.push_back({plain_table(report, "ablation " + size, format("Taken apart, {}", cubed(size))),
                        {plot("ablation", size, apart_chart(report, size))}});
  for (const std::string& size : sizes_of(report, "sweep of B"))
    sections.push_back({sweep_tables(report, size), {plot("sweep", size, sweep_chart(report, size))}});
  for (const std::string& size : sizes_of(report, "cpu"))
    sections.push_back({plain_table(report, "cpu " + size, format("CPU, {}", cubed(size))),
                        {plot("cpu", size, cpu_chart(report, size))}});
  return sections;
}

}  // namespace

std::string ladder_markdown(const measure::Report& report) {
  std::string text = machine_line(report);
  for (const Section& section : sections_of(report)) {
    text += section.text;
    for (const Plot& plot : section.plots) text += format("\n![{}]({})\n", plot.title, plot.file);
  }
  return text;
}

std::vector<Plot> ladder_plots(const measure::Report& report) {
  std::vector<Plot> plots;
  for (const Section& section : sections_of(report))
    plots.insert(plots.end(), section.plots.begin(), section.plots.end());
  return plots;
}

void write_ladder(const measure::Report& report, const std::filesystem::path& folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed)
    throw Error(ErrorKind::disk,
                {.what = "the folder cannot be made", .where = folder.string(), .why = failed.message(), .hint = {}});
  const auto write = [&](const std::string& name, const std::string& text) { write_file(folder / name, text, true); };
  for (const Plot& plot : ladder_plots(report)) write(plot.file, plot.svg);
  write("ladder.md", ladder_markdown(report));
}

}  // namespace lepus::ladder
