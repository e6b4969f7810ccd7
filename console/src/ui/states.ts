/** Sign, colour and order of every state and phase. A state is always sign and word; colour is a third mark. */

export type Tone = 'good' | 'busy' | 'wait' | 'quiet' | 'odd' | 'bad'

interface Look {
  readonly sign: string
  readonly tone: Tone
}

/** The worst first, as people look for it. */
export const STATE_ORDER: readonly string[] = [
  'Failed',
  'Drifted',
  'Offline',
  'Progressing',
  'Pending',
  'Ready',
  'NotSelected',
  'NotReported',
  'Left',
  'Rejected',
  'Revoked',
]

const LOOKS: Readonly<Record<string, Look>> = {
  Ready: { sign: '✔', tone: 'good' },
  Completed: { sign: '✔', tone: 'good' },
  Compliant: { sign: '✔', tone: 'good' },
  NonCompliant: { sign: '✗', tone: 'bad' },
  Passed: { sign: '✔', tone: 'good' },
  Progressing: { sign: '↻', tone: 'busy' },
  Pending: { sign: '…', tone: 'wait' },
  Waiting: { sign: '…', tone: 'wait' },
  Paused: { sign: '‖', tone: 'wait' },
  Offline: { sign: '◌', tone: 'quiet' },
  Drifted: { sign: '≠', tone: 'odd' },
  Failed: { sign: '✗', tone: 'bad' },
  Refused: { sign: '✗', tone: 'bad' },
  Warning: { sign: '!', tone: 'odd' },
  Unknown: { sign: '?', tone: 'odd' },
  NotSelected: { sign: '–', tone: 'quiet' },
  NotReported: { sign: '?', tone: 'quiet' },
  Superseded: { sign: '–', tone: 'quiet' },
  Aborted: { sign: '⊘', tone: 'quiet' },
  HeldBack: { sign: '↩', tone: 'odd' },
  Left: { sign: '⊘', tone: 'quiet' },
  Rejected: { sign: '⊘', tone: 'quiet' },
  Revoked: { sign: '⊘', tone: 'quiet' },
  Held: { sign: '‖', tone: 'wait' },
  Cordoned: { sign: '⊘', tone: 'wait' },
  Frozen: { sign: '❄', tone: 'busy' },
  Leaving: { sign: '→', tone: 'wait' },
}

/** How a state looks. */
export function lookOf(state: string): Look {
  return LOOKS[state] ?? { sign: '?', tone: 'quiet' }
}

/** A state as people read it: `NotSelected` is "Not selected". */
export function wordsOf(state: string): string {
  return state.replace(/(?<=[a-z])([A-Z])/g, (letter) => ` ${letter.toLowerCase()}`)
}
