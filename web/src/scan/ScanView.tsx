// SPDX-License-Identifier: Apache-2.0
import type { Scan } from '../core/protocol';

export function ScanView({ scan }: { scan: Scan }) {
  return <main class="scan">{scan.file}</main>;
}
