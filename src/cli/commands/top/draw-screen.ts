/** The screen of `flotilla top`: exactly as many lines as the terminal has, none wider than it. */
import { localTime } from '../../print/print-time.ts'
import { humanAge } from '../../../core/time/time.ts'
import { cutLine } from './screen-text.ts'
import type { Paint, Spans } from './screen-text.ts'
import { actText } from './top-facts.ts'
import type { TopFacts } from './top-facts.ts'
import { chosenLine, placeOf } from './top-state.ts'
import type { TopState } from './top-state.ts'
import { countsSpans } from './top-views.ts'
import type { TopLine, TopView } from './top-views.ts'

export interface ScreenOptions {
  readonly columns: number
  readonly rows: number
  readonly isUtf8: boolean
  readonly paint: Paint
  readonly nowMs: number
  /** Why the facts are old, if they are. */
  readonly trouble: string | undefined
}

/** Lines above and below the view. */
const FRAME = 4

/** The lines of the screen. */
export function drawScreen(
  state: TopState,
  facts: TopFacts,
  lines: readonly TopLine[],
  options: ScreenOptions,
): readonly string[] {
  const { columns, rows, isUtf8, paint } = options
  const chosen = chosenLine(state, lines)
  const room = Math.max(1, rows - FRAME)
  const at = chosen ? lines.indexOf(chosen) : 0
  // The chosen line stays in sight, with the title above the first.
  const from = Math.max(0, Math.min(at - Math.floor(room / 2), lines.length - room))
  const shown = lines.slice(from, from + room)
  const more = lines.length - from - shown.length
  const body = shown.map((line): Spans => {
    if (line.key === undefined) return line.spans
    return line === chosen ? [{ text: isUtf8 ? '▸ ' : '> ', color: 'bold' }, ...line.spans] : ['  ', ...line.spans]
  })
  const all: readonly Spans[] = [
    headSpans(state, facts, options),
    countsSpans(facts, { isUtf8 }),
    ...body,
    ...Array.from({ length: Math.max(0, room - body.length) }, (): Spans => []),
    lastSpans(state, more),
    keySpans(state, chosen),
  ]
  return all.slice(0, rows).map((spans) => cutLine(spans, columns, paint))
}

function headSpans(state: TopState, { server, atMs }: TopFacts, { nowMs, trouble }: ScreenOptions): Spans {
  const trail = state.places.slice(1).map(({ view }) => titleOf(view))
  return [
    { text: ['Flotilla', ...trail].join(' / '), color: 'bold' },
    '  ',
    trouble === undefined
      ? { text: `as of ${localTime(atMs, { seconds: true }).slice(11)}`, color: 'dim' }
      : { text: `old: ${humanAge(Math.max(0, nowMs - atMs))} without data, ${trouble}`, color: 'red' },
    `  ${server}`,
  ]
}

function titleOf(view: TopView): string {
  switch (view.kind) {
    case 'overview':
      return 'Fleet'
    case 'group':
      return view.group
    case 'cluster':
      return view.name
    case 'rollout':
      return `${view.namespace}/${view.name}`
    case 'item':
      return 'Needs a person'
    case 'text':
      return view.title
  }
}

function lastSpans(state: TopState, more: number): Spans {
  const { question, message } = state
  if (question?.kind === 'filter') return [{ text: 'Filter: ', color: 'bold' }, question.text, '_']
  if (question) {
    return [{ text: `${actText(question.act)}? `, color: 'bold' }, 'Reason (optional): ', question.text, '_']
  }
  const { filter } = placeOf(state)
  if (message !== '') return [message]
  const filtered = filter === '' ? [] : [`filter: ${filter}  `]
  return more > 0 ? [...filtered, { text: `and ${more} more lines below`, color: 'dim' }] : filtered
}

function keySpans({ question, places }: TopState, chosen: TopLine | undefined): Spans {
  if (question) return [question.kind === 'filter' ? 'Enter keep  Esc clear' : 'Enter do it  Esc cancel']
  const can = (...verbs: readonly string[]) => chosen?.acts?.some(({ verb }) => verbs.includes(verb)) ?? false
  const keys = [
    ...(chosen?.opens ? ['Enter open'] : []),
    ...(can('pause') ? ['p pause'] : can('resume') ? ['p resume'] : []),
    ...(can('approve') ? ['a approve', 'x reject'] : can('accept') ? ['a accept'] : []),
    ...(can('trace') ? ['t trace'] : []),
    ...(places.length > 1 ? ['Esc back'] : ['Tab section']),
    '? keys',
    places.length > 1 ? 'Ctrl-C quit' : 'q quit',
  ]
  return [{ text: keys.join('   '), color: 'dim' }]
}
