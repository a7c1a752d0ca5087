// SPDX-License-Identifier: Apache-2.0
import { render } from 'preact';
import 'uplot/dist/uPlot.min.css';
import './app.css';
import './core/clock';
import { App } from './ui/App';
import { decode, watchAddress } from './core/url';
import { openSession, report, watchServer } from './core/session';
import { state } from './core/state';
import { watchHistory } from './core/history';
import { watchKeys } from './ui/keys';

window.addEventListener('error', (event) => report(event.error ?? event.message));
window.addEventListener('unhandledrejection', (event) => report(event.reason));

state.set(decode(location.hash));
render(<App />, Object.assign(document.getElementById('app')!, { textContent: '' }));
void openSession().then(() => {
  watchAddress();
  watchHistory();
  watchServer();
});
watchKeys();
