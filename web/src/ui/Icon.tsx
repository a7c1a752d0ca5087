// SPDX-License-Identifier: Apache-2.0
// Icons of 16 × 16, drawn as lines in the colour of the text.
const PATHS: Record<string, string> = {
  cross: 'M8 1v5M8 10v5M1 8h5M10 8h5',
  pan: 'M8 1v14M1 8h14M8 1L6 3M8 1l2 2M8 15l-2-2M8 15l2-2M1 8l2-2M1 8l2 2M15 8l-2-2M15 8l-2 2',
  window: 'M8 2a6 6 0 100 12A6 6 0 008 2zM8 2v12M9.5 5h3M9.5 8h4M9.5 11h3',
  distance: 'M2 14L14 2M2 10v4h4M10 2h4v4',
  angle: 'M2 13h12M2 13L11 3M8 13a6 6 0 00-2-4.4',
  area: 'M3 4l6-2 5 5-3 7-8-2z',
  profile: 'M1 13c3 0 3-9 5.500-9S9 11 11 11s2-4 4-4',
  box: 'M2.500 2.500h11v11h-11z',
  ellipsoid: 'M8 3c4 0 6.500 2.200 6.500 5S12 13 8 13 1.500 10.800 1.500 8 4 3 8 3z',
  undo: 'M3 6h7a3.500 3.500 0 010 7H6M3 6l3-3M3 6l3 3',
  redo: 'M13 6H6a3.500 3.500 0 000 7h4M13 6l-3-3M13 6l-3 3',
  grow: 'M9.500 2H14v4.500M6.500 14H2V9.500M14 2L9 7M2 14l5-5',
  shrink: 'M14 6.500H9.500V2M2 9.500h4.500V14M9.500 6.500L14 2M6.500 9.500L2 14',
  grid: 'M2 2h5v5H2zM9 2h5v5H9zM2 9h5v5H2zM9 9h5v5H9z',
  row: 'M1.500 3h4v10h-4zM6.500 3h4v10h-4zM11.500 3h3v10h-3z',
  light: 'M8 5a3 3 0 100 6 3 3 0 000-6zM8 1v2M8 13v2M1 8h2M13 8h2M3 3l1.500 1.500M11.500 11.500L13 13M3 13l1.500-1.500M11.500 4.500L13 3',
  dark: 'M13.500 9.500A6 6 0 016.500 2.500a6 6 0 107 7z',
  large: 'M1.500 13L5 4l3.500 9M2.800 10h4.400M9.500 13l2.500-6 2.500 6M10.300 11h3.400',
  help: 'M5.500 6a2.500 2.500 0 114 2c-1 .7-1.500 1-1.500 2.200M8 13v.5',
  fit: 'M2 6V2h4M10 2h4v4M14 10v4h-4M6 14H2v-4',
  panel: 'M2 2.500h12v11H2zM10 2.500v11',
  close: 'M3 3l10 10M13 3L3 13',
  up: 'M8 13V3M4 7l4-4 4 4',
  down: 'M8 3v10M4 9l4 4 4-4',
  share: 'M7 9a3 3 0 004.200 0l2.300-2.300a3 3 0 00-4.200-4.200L8 3.800M9 7a3 3 0 00-4.200 0L2.500 9.300a3 3 0 004.200 4.200L8 12.200',
};

export function Icon({ name }: { name: string }) {
  return (
    <svg class="glyph" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" fill="none" stroke="currentColor" stroke-width="1.4" stroke-linecap="round" stroke-linejoin="round">
      <path d={PATHS[name]} />
    </svg>
  );
}
