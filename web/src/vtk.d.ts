// SPDX-License-Identifier: Apache-2.0
// Parts of vtk.js that come without types, as far as they are used here.
declare module '@kitware/vtk.js/Filters/General/ImageMarchingCubes' {
  const vtkImageMarchingCubes: { newInstance(values: { contourValue: number; computeNormals: boolean; mergePoints: boolean }): any };
  export default vtkImageMarchingCubes;
}
declare module '@kitware/vtk.js/Filters/General/OutlineFilter' {
  const vtkOutlineFilter: { newInstance(): any };
  export default vtkOutlineFilter;
}
declare module '*.css';
