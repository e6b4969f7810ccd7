/** What a key does in `flotilla top`: a pure step from state to state. */
import { actText } from './top-facts.ts'
import type { TopAct } from './top-facts.ts'
import type { TopLine, TopView } from './top-views.ts'

/** A view with the chosen line and the first shown line. */
interface Place {
  readonly view: TopView
  readonly cursor: string | undefined
  readonly filter: string
}

/** A question to the person at the last line of the screen. */
export type TopQuestion =
  | { readonly kind: 'filter'; readonly text: string }
  | { readonly kind: 'reason'; readonly act: TopAct; readonly text: string }

export interface TopState {
  /** The last is shown. */
  readonly places: readonly Place[]
  readonly question: TopQuestion | undefined
  /** The result of the last act. */
  readonly message: string
}

export const START: TopState = {
  places: [{ view: { kind: 'overview' }, cursor: undefined, filter: '' }],
  question: undefined,
  message: '',
}

/** What the program has to do besides. */
export type TopEffect =
  | { readonly kind: 'quit' }
  | { readonly kind: 'act'; readonly act: TopAct; readonly reason: string }

export interface TopStep {
  readonly state: TopState
  readonly effect?: TopEffect
}

const HELP = `Enter          open what is chosen
Esc, left      go back
up, down, j, k choose
PgUp, PgDn     choose ten lines further
Tab            next section of the overview
/              filter clusters or objects
p              pause or resume the rollout
a              approve the ring, or accept the cluster
x              reject the ring
t              trace the object to its commit
q, Ctrl-C      quit

Every change asks for a reason, which is recorded in the audit log. The same
can be done with flotilla rollout pause, resume and approve, flotilla cluster
accept, and flotilla trace.`

const MAX_TEXT = 900

/** The place that is shown. */
export function placeOf({ places }: TopState): Place {
  return places.at(-1)!
}

/** The chosen line: the cursor's, or the first that can be chosen. */
export function chosenLine(state: TopState, lines: readonly TopLine[]): TopLine | undefined {
  const { cursor } = placeOf(state)
  return lines.find(({ key }) => key !== undefined && key === cursor) ?? lines.find(({ key }) => key !== undefined)
}

/** One key. `lines` are those of the shown view. */
export function pressKey(state: TopState, key: string, lines: readonly TopLine[]): TopStep {
  if (key === 'ctrl-c') return { state, effect: { kind: 'quit' } }
  if (state.question) return answer(state, state.question, key)
  const line = chosenLine(state, lines)
  const { view, filter } = placeOf(state)
  switch (key) {
    case 'q':
    case 'escape':
    case 'left':
      if (filter !== '' && key === 'escape') return { state: inPlace(state, { filter: '' }) }
      if (state.places.length > 1) return { state: { ...state, places: state.places.slice(0, -1), message: '' } }
      return key === 'q' ? { state, effect: { kind: 'quit' } } : { state }
    case 'down':
    case 'j':
      return { state: move(state, lines, 1) }
    case 'up':
    case 'k':
      return { state: move(state, lines, -1) }
    case 'pagedown':
      return { state: move(state, lines, 10) }
    case 'pageup':
      return { state: move(state, lines, -10) }
    case 'tab':
      return { state: nextSection(state, lines) }
    case 'enter':
    case 'right':
      if (line?.opens) return { state: open(state, line.opens) }
      return key === 'enter' ? wish(state, line, ['trace']) : { state }
    case '/':
      return view.kind === 'group' || view.kind === 'cluster'
        ? { state: { ...state, question: { kind: 'filter', text: filter } } }
        : { state }
    case '?':
      return { state: open(state, { kind: 'text', title: 'Keys', text: HELP }) }
    case 'p':
      return wish(state, line, ['pause', 'resume'])
    case 'a':
      return wish(state, line, ['approve', 'accept'])
    case 'x':
      return wish(state, line, ['reject'])
    case 't':
      return wish(state, line, ['trace'])
    default:
      return { state }
  }
}

/** Opens a view. */
export function open(state: TopState, view: TopView): TopState {
  return { ...state, message: '', places: [...state.places, { view, cursor: undefined, filter: '' }] }
}

function inPlace(state: TopState, change: Partial<Place>): TopState {
  return { ...state, places: [...state.places.slice(0, -1), { ...placeOf(state), ...change }] }
}

function move(state: TopState, lines: readonly TopLine[], by: number): TopState {
  const keys = lines.flatMap(({ key }) => key ?? [])
  const chosen = chosenLine(state, lines)?.key
  const at = Math.max(0, Math.min(keys.length - 1, keys.indexOf(chosen ?? '') + by))
  return inPlace({ ...state, message: '' }, { cursor: keys[at] })
}

/** Chooses the first line after the next title; after the last, the first of all. */
function nextSection(state: TopState, lines: readonly TopLine[]): TopState {
  const chosen = chosenLine(state, lines)
  const after = lines.slice(chosen ? lines.indexOf(chosen) : 0)
  const gap = after.findIndex(({ key }) => key === undefined)
  const next = gap === -1 ? undefined : after.slice(gap).find(({ key }) => key !== undefined)
  return inPlace({ ...state, message: '' }, { cursor: (next ?? lines.find(({ key }) => key !== undefined))?.key })
}

/** Begins the first of these acts that the line offers. A question changes nothing, so it is asked at once. */
function wish(state: TopState, line: TopLine | undefined, verbs: readonly TopAct['verb'][]): TopStep {
  const act = line?.acts?.find(({ verb }) => verbs.includes(verb))
  if (!act) return { state: { ...state, message: `Nothing to ${verbs.join(' or ')} here.` } }
  if (act.verb === 'trace')
    return { state: { ...state, message: `${actText(act)}…` }, effect: { kind: 'act', act, reason: '' } }
  return { state: { ...state, message: '', question: { kind: 'reason', act, text: '' } } }
}

function answer(state: TopState, question: TopQuestion, key: string): TopStep {
  const put = (text: string): TopState =>
    question.kind === 'filter'
      ? inPlace({ ...state, question: { ...question, text } }, { filter: text, cursor: undefined })
      : { ...state, question: { ...question, text } }
  if (key === 'escape') return { state: { ...(question.kind === 'filter' ? put('') : state), question: undefined } }
  if (key === 'backspace') return { state: put([...question.text].slice(0, -1).join('')) }
  if (key === 'enter') {
    const done = { ...state, question: undefined }
    if (question.kind === 'filter') return { state: done }
    return {
      state: { ...done, message: `${actText(question.act)}…` },
      effect: { kind: 'act', act: question.act, reason: question.text.trim() },
    }
  }
  return [...key].length === 1 && question.text.length < MAX_TEXT ? { state: put(question.text + key) } : { state }
}
