// SPDX-License-Identifier: Apache-2.0
// The picture in 3-D, drawn by vtk.js: texels as a volume or a maximum, or a surface of one value, and the box around them.
// What draws each part, registered by being imported; vtk.js's own profiles bring many more.
import '@kitware/vtk.js/Rendering/OpenGL/Actor';
import '@kitware/vtk.js/Rendering/OpenGL/Camera';
import '@kitware/vtk.js/Rendering/OpenGL/PolyDataMapper';
import '@kitware/vtk.js/Rendering/OpenGL/Renderer';
import '@kitware/vtk.js/Rendering/OpenGL/Volume';
import '@kitware/vtk.js/Rendering/OpenGL/VolumeMapper';
import vtkActor from '@kitware/vtk.js/Rendering/Core/Actor';
import vtkColorTransferFunction from '@kitware/vtk.js/Rendering/Core/ColorTransferFunction';
import vtkDataArray from '@kitware/vtk.js/Common/Core/DataArray';
import vtkImageData from '@kitware/vtk.js/Common/DataModel/ImageData';
import vtkImageMarchingCubes from '@kitware/vtk.js/Filters/General/ImageMarchingCubes';
import vtkMapper from '@kitware/vtk.js/Rendering/Core/Mapper';
import vtkOpenGLRenderWindow from '@kitware/vtk.js/Rendering/OpenGL/RenderWindow';
import vtkOutlineFilter from '@kitware/vtk.js/Filters/General/OutlineFilter';
import vtkPiecewiseFunction from '@kitware/vtk.js/Common/DataModel/PiecewiseFunction';
import vtkPlane from '@kitware/vtk.js/Common/DataModel/Plane';
import vtkRenderer from '@kitware/vtk.js/Rendering/Core/Renderer';
import vtkRenderWindow from '@kitware/vtk.js/Rendering/Core/RenderWindow';
import vtkRenderWindowInteractor from '@kitware/vtk.js/Rendering/Core/RenderWindowInteractor';
import vtkVolume from '@kitware/vtk.js/Rendering/Core/Volume';
import vtkVolumeMapper from '@kitware/vtk.js/Rendering/Core/VolumeMapper';
import { colours } from '../core/colour';
import type { Triple } from '../core/protocol';

export interface Texels {
  size: Triple;
  texels: Uint8Array;
  /** Millimetres between texels, and of the centre of the first. */
  spacing: Triple;
  origin: Triple;
}

export interface Look {
  render: 'volume' | 'mip' | 'surface';
  transfer: [number, number][];
  density: number;
  map: string;
  lit: boolean;
  ambient: number;
  sharp: boolean;
}

export interface Plane {
  origin: Triple;
  /** Points into what is kept. */
  normal: Triple;
}

/** vtk.js clips by at most so many planes. */
const MOST_PLANES = 6;
const FEWEST_STEPS = 256;
const QUICK_MS = 60;
const CAREFUL_MS = 700;

function imageOf({ size, texels, spacing, origin }: Texels) {
  const image = vtkImageData.newInstance({ spacing, origin });
  image.setDimensions(size);
  image.getPointData().setScalars(vtkDataArray.newInstance({ name: 'texels', numberOfComponents: 1, values: texels }));
  return image;
}

export class Scene {
  private readonly window = vtkRenderWindow.newInstance();
  private readonly renderer = vtkRenderer.newInstance();
  private readonly view = vtkOpenGLRenderWindow.newInstance();
  private readonly volume = vtkVolume.newInstance();
  private readonly mapper = vtkVolumeMapper.newInstance();
  private readonly surface = vtkActor.newInstance();
  private readonly surfaceMapper = vtkMapper.newInstance({ scalarVisibility: false });
  private readonly cubes = vtkImageMarchingCubes.newInstance({ contourValue: 127.5, computeNormals: true, mergePoints: true });
  private readonly outline = vtkOutlineFilter.newInstance();
  private readonly outlineActor = vtkActor.newInstance();
  private colour = vtkColorTransferFunction.newInstance();
  private opacity = vtkPiecewiseFunction.newInstance();
  private spacing = 1;
  private size: [number, number] = [0, 0];
  /** Milliseconds per pixel of the last quick and the last careful picture; 0: not known yet. */
  private warm = false;
  private sharp = false;
  private readonly cost = { quick: 0, careful: 0 };

  constructor(private readonly host: HTMLElement) {
    this.window.addRenderer(this.renderer);
    this.window.addView(this.view);
    this.view.setContainer(host);
    // The mapper asks it whether something moves; mouse and keys are ours (camera.ts).
    vtkRenderWindowInteractor.newInstance().setView(this.view);
    this.volume.setMapper(this.mapper);
    this.volume.setVisibility(false);
    this.mapper.setMaximumSamplesPerRay(4000);
    this.mapper.setAutoAdjustSampleDistances(false);
    this.surfaceMapper.setInputConnection(this.cubes.getOutputPort());
    this.surface.setMapper(this.surfaceMapper);
    this.surface.setVisibility(false);
    const outlineMapper = vtkMapper.newInstance();
    outlineMapper.setInputConnection(this.outline.getOutputPort());
    this.outlineActor.setMapper(outlineMapper);
    this.outlineActor.getProperty().set({ lighting: false, opacity: 0.6 });
    this.outlineActor.setVisibility(false);
    for (const actor of [this.surface, this.outlineActor]) this.renderer.addActor(actor);
    this.renderer.addVolume(this.volume);
  }

  get camera() {
    return this.renderer.getActiveCamera();
  }

  get canvas(): HTMLCanvasElement {
    return this.view.getCanvas()!;
  }

  background(rgb: Triple, line: Triple): void {
    this.renderer.setBackground(...rgb);
    this.outlineActor.getProperty().setColor(...line);
  }

  private resize(share: number): void {
    const ratio = Math.min(window.devicePixelRatio || 1, 2) * share;
    const size: [number, number] = [Math.max(1, Math.round(this.host.clientWidth * ratio)), Math.max(1, Math.round(this.host.clientHeight * ratio))];
    if (size[0] === this.size[0] && size[1] === this.size[1]) return;
    this.size = size;
    this.view.setSize(...size);
  }

  /** The share of the screen's resolution that stays within the time; a guess at first, low for who has no GPU. */
  private share(kind: 'quick' | 'careful'): number {
    const cost = this.cost[kind] || this.cost.quick * 2;
    const pixels = this.host.clientWidth * this.host.clientHeight * Math.min(window.devicePixelRatio || 1, 2) ** 2;
    if (kind === 'careful' && this.sharp && this.warm) return 1;
    if (!cost || !pixels) return 0.35;
    return Math.min(1, Math.max(0.15, Math.sqrt((kind === 'quick' ? QUICK_MS : CAREFUL_MS) / (cost * pixels))));
  }

  show(texels: Texels): void {
    const image = imageOf(texels);
    this.mapper.setInputData(image);
    this.spacing = Math.min(...texels.spacing);
    this.volume.setVisibility(true);
  }

  /** The surface between what is below and above the middle of the texels' range. */
  showSurface(texels: Texels): void {
    this.cubes.setInputData(imageOf(texels));
  }

  /** Something is there to be drawn. */
  get ready(): boolean {
    return this.volume.getVisibility() || this.surface.getVisibility();
  }

  get triangles(): number {
    return this.surface.getVisibility() ? this.cubes.getOutputData().getPolys().getNumberOfCells() : 0;
  }

  frame(low: Triple, high: Triple): void {
    const box = vtkImageData.newInstance({ origin: low, spacing: high.map((value, i) => value - low[i]) as Triple });
    box.setDimensions([2, 2, 2]);
    this.outline.setInputData(box);
    this.outlineActor.setVisibility(true);
  }

  /** Looks at the box from the front, a little from above. */
  lookAt(low: Triple, high: Triple): void {
    const middle = low.map((value, i) => (value + high[i]) / 2) as Triple;
    this.camera.setFocalPoint(...middle);
    this.camera.setPosition(middle[0] - 0.5, middle[1] - 1, middle[2] + 0.45);
    this.camera.setViewUp(0, 0, 1);
    this.renderer.resetCamera([low[0], high[0], low[1], high[1], low[2], high[2]]);
    this.camera.zoom(1.05 * Math.min(1, this.host.clientWidth / Math.max(1, this.host.clientHeight)));
  }

  style(look: Look, size_mm: number): void {
    const surface = look.render === 'surface';
    this.sharp = look.sharp;
    this.volume.setVisibility(!surface && !!this.mapper.getInputData());
    this.surface.setVisibility(surface && !!this.cubes.getInputData());
    this.colour = vtkColorTransferFunction.newInstance();
    this.opacity = vtkPiecewiseFunction.newInstance();
    // From the map's third on: what is nearly black cannot be lit.
    const table = colours(look.map);
    const from = look.render === 'volume' && look.lit ? 90 : 0;
    for (let i = 0; i <= 255; i += 15) this.colour.addRGBPoint(i, ...(table[from + Math.round((i * (255 - from)) / 255)].map((part) => part / 255) as Triple));
    for (const [place, opacity] of look.transfer) this.opacity.addPoint(255 * place, look.render === 'mip' ? (place > 0 ? 1 : 0) : opacity);
    const property = this.volume.getProperty();
    property.setRGBTransferFunction(0, this.colour);
    property.setScalarOpacity(0, this.opacity);
    property.setScalarOpacityUnitDistance(0, size_mm / (60 * look.density));
    property.setInterpolationTypeToLinear();
    property.setShade(look.lit && look.render === 'volume');
    property.setAmbient(look.lit ? look.ambient : 1);
    property.setDiffuse(0.9);
    property.setSpecular(0.25);
    property.setSpecularPower(12);
    if (look.render === 'mip') this.mapper.setBlendModeToMaximumIntensity();
    else this.mapper.setBlendModeToComposite();
    const [r, g, b] = colours(look.map)[210];
    this.surface.getProperty().set({ lighting: look.lit, ambient: look.ambient, diffuse: 0.9, specular: 0.3, specularPower: 20 });
    this.surface.getProperty().setColor(r / 255, g / 255, b / 255);
  }

  clip(planes: Plane[]): void {
    for (const mapper of [this.mapper, this.surfaceMapper]) {
      mapper.removeAllClippingPlanes();
      for (const { origin, normal } of planes.slice(0, MOST_PLANES)) mapper.addClippingPlane(vtkPlane.newInstance({ origin, normal }));
    }
  }

  /** `quick`: coarser steps along the rays and fewer pixels, for while the camera moves. `share` of the resolution: as time allows. */
  draw(quick = false, share = this.share(quick ? 'quick' : 'careful')): void {
    const kind = quick ? 'quick' : 'careful';
    this.resize(share);
    // The number of steps is part of the shader, which takes seconds to compile where there is no GPU: few numbers, used again.
    const length = Math.hypot(...[0, 2, 4].map((i) => this.volume.getBounds()[i + 1] - this.volume.getBounds()[i]));
    const steps = quick ? FEWEST_STEPS : Math.max(FEWEST_STEPS, 2 ** Math.round(Math.log2(length / (0.8 * this.spacing))));
    if (this.volume.getVisibility()) this.mapper.setSampleDistance((1.0001 * length) / steps);
    this.renderer.resetCameraClippingRange();
    const start = performance.now();
    this.view.traverseAllPasses(); // not window.render(): that waits for an interactor that listens
    const context = this.canvas.getContext('webgl2')!;
    context.readPixels(0, 0, 1, 1, context.RGBA, context.UNSIGNED_BYTE, new Uint8Array(4)); // waits until it is drawn
    // The first picture pays for compiling the shaders.
    if (this.warm) this.cost[kind] = (performance.now() - start) / (this.size[0] * this.size[1]);
    this.warm = true;
  }

  /** Whether a careful picture may be sharper than what is on the screen. */
  get unfinished(): boolean {
    return this.share('careful') > 1.15 * (this.size[0] / Math.max(1, this.host.clientWidth * Math.min(window.devicePixelRatio || 1, 2)));
  }

  async picture(): Promise<Blob> {
    const url = this.view.captureNextImage('image/png');
    this.draw(false, 1);
    const text = atob(((await url) as string).split(',')[1]); // not by fetch: the page may ask its own server alone
    return new Blob([Uint8Array.from(text, (letter) => letter.charCodeAt(0))], { type: 'image/png' });
  }

  end(): void {
    this.view.setContainer(null as unknown as HTMLElement);
    for (const part of [this.view, this.window, this.renderer, this.volume, this.mapper]) part.delete();
  }
}
