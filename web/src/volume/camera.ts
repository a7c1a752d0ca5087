// SPDX-License-Identifier: Apache-2.0
// Turning, moving and zooming the camera by mouse, fingers and keys.
import type { Scene } from './scene';

const ORBIT_DEGREES = 180;

function orbit(scene: Scene, azimuth: number, elevation: number): void {
  scene.camera.azimuth(-azimuth);
  scene.camera.elevation(elevation);
  scene.camera.orthogonalizeViewUp();
}

function move(scene: Scene, dx: number, dy: number): void {
  const { camera } = scene;
  const [position, focal, up] = [camera.getPosition(), camera.getFocalPoint(), camera.getViewUp()];
  const ahead = camera.getDirectionOfProjection();
  const right = [ahead[1] * up[2] - ahead[2] * up[1], ahead[2] * up[0] - ahead[0] * up[2], ahead[0] * up[1] - ahead[1] * up[0]];
  const mm = 2 * camera.getDistance() * Math.tan((camera.getViewAngle() * Math.PI) / 360);
  const by = [0, 1, 2].map((i) => mm * (dy * up[i] - dx * right[i]));
  camera.setPosition(position[0] + by[0], position[1] + by[1], position[2] + by[2]);
  camera.setFocalPoint(focal[0] + by[0], focal[1] + by[1], focal[2] + by[2]);
}

/** `moved` is called after each step. */
export function steer(scene: Scene, target: HTMLElement, moved: () => void): () => void {
  const fingers = new Map<number, [number, number]>();
  let pinch = 0;
  const on = {
    pointerdown(event: PointerEvent) {
      target.focus({ preventScroll: true });
      target.setPointerCapture(event.pointerId);
      fingers.set(event.pointerId, [event.clientX, event.clientY]);
      pinch = 0;
    },
    pointermove(event: PointerEvent) {
      const before = fingers.get(event.pointerId);
      if (!before) return;
      fingers.set(event.pointerId, [event.clientX, event.clientY]);
      const [dx, dy] = [(event.clientX - before[0]) / target.clientWidth, (event.clientY - before[1]) / target.clientHeight];
      if (fingers.size === 2) {
        const [[x0, y0], [x1, y1]] = [...fingers.values()];
        const distance = Math.hypot(x1 - x0, y1 - y0);
        if (pinch) scene.camera.dolly(distance / pinch);
        pinch = distance;
        move(scene, dx / 2, dy / 2);
      } else if (event.shiftKey || event.buttons & 6) move(scene, (dx * target.clientWidth) / target.clientHeight, dy);
      else orbit(scene, dx * ORBIT_DEGREES, dy * ORBIT_DEGREES);
      moved();
    },
    pointerup: (event: PointerEvent) => void fingers.delete(event.pointerId),
    pointercancel: (event: PointerEvent) => void fingers.delete(event.pointerId),
    contextmenu: (event: Event) => event.preventDefault(),
    wheel(event: WheelEvent) {
      event.preventDefault();
      scene.camera.dolly(Math.exp(-Math.max(-200, Math.min(200, event.deltaY)) / 500));
      moved();
    },
    keydown(event: KeyboardEvent) {
      const turn: Record<string, [number, number]> = { ArrowLeft: [-10, 0], ArrowRight: [10, 0], ArrowUp: [0, -10], ArrowDown: [0, 10] };
      if (event.ctrlKey || event.altKey) return;
      if (event.key in turn) {
        const [u, v] = turn[event.key];
        if (event.shiftKey) move(scene, u / 100, v / 100);
        else orbit(scene, u, v);
      } else if (event.key === '+' || event.key === '=') scene.camera.dolly(1.15);
      else if (event.key === '-') scene.camera.dolly(1 / 1.15);
      else return;
      event.preventDefault();
      event.stopPropagation();
      moved();
    },
  };
  for (const [name, handler] of Object.entries(on)) target.addEventListener(name, handler as EventListener, { passive: false });
  return () => {
    for (const [name, handler] of Object.entries(on)) target.removeEventListener(name, handler as EventListener);
  };
}
