// SPDX-License-Identifier: Apache-2.0
// The program lepus-bench: the commands that measure, kept out of lepus, which starts it.
#include "bench/program/options.h"
#include "app/program.h"

int main(int count, char** words) {
  return lepus::app::run_program(count, words, [](lepus::app::Commands& commands) {
    commands.push_back(lepus::app::rabbitct_command());
    commands.push_back(lepus::app::bench_command());
  });
}
