/** Signs and colours of states. */
import type { ObjectStateName } from '../../kinds/fields/states.ts'
import type { Color } from './terminal.ts'

/** Sign, ASCII form and colour of each state. */
export const STATE_GLYPHS: Readonly<Record<ObjectStateName, readonly [utf8: string, ascii: string, color: Color]>> = {
  Ready: ['✔', '+', 'green'],
  Progressing: ['↻', '~', 'cyan'],
  Pending: ['…', '.', 'yellow'],
  Offline: ['◌', 'o', 'dim'],
  Drifted: ['≠', '#', 'yellow'],
  Failed: ['✗', 'x', 'red'],
  NotSelected: ['–', '-', 'dim'],
  NotReported: ['?', '?', 'dim'],
}

// Phases of rollouts and statuses of conditions.
const OTHER_COLORS: Readonly<Record<string, Color>> = {
  Completed: 'green',
  True: 'green',
  Paused: 'yellow',
  Superseded: 'dim',
  False: 'red',
}

/** The colour of a state, phase or condition status. Undefined for all other words. */
export function colorOf(word: string): Color | undefined {
  return Object.hasOwn(STATE_GLYPHS, word) ? STATE_GLYPHS[word as ObjectStateName][2] : OTHER_COLORS[word]
}
