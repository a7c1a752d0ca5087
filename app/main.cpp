// SPDX-License-Identifier: Apache-2.0
// The program lepus: its commands are in commands.cpp, one file each.
#include "app/commands.h"
#include "app/program.h"

int main(int count, char** words) { return lepus::app::run_program(count, words, lepus::app::add_commands); }
