// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lepus/analyze.h>
#include <lepus/calibrate.h>
#include <lepus/center.h>
#include <lepus/compare.h>
#include <lepus/compare_methods.h>
#include <lepus/compute.h>
#include <lepus/correct.h>
#include <lepus/error.h>
#include <lepus/geometry.h>
#include <lepus/import.h>
#include <lepus/live.h>
#include <lepus/math.h>
#include <lepus/method.h>
#include <lepus/operator.h>
#include <lepus/options.h>
#include <lepus/post.h>
#include <lepus/preview.h>
#include <lepus/progress.h>
#include <lepus/project.h>
#include <lepus/reconstruct.h>
#include <lepus/scan_keys.h>
#include <lepus/simulate.h>
#include <lepus/slice.h>
#include <lepus/version.h>
#include <lepus/view.h>
