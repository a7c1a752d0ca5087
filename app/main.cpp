// SPDX-License-Identifier: Apache-2.0
// The program lepus: its commands are in commands.cpp, one file each.
#include "app/program.h"

int main(int count, char** words) { return lepus::app::run_program({words + (count > 0 ? 1 : 0), words + count}); }
