/** The screen of flotilla top as a person sees it: 80 by 24, narrow, without colour, in ASCII. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Cluster } from '../../../kinds/native/cluster.ts'
import { Rollout } from '../../../kinds/native/rollout.ts'
import { build, buildCluster } from '../../../testing/fixtures/builders.ts'
import { drawScreen } from './draw-screen.ts'
import { columnsOf } from './screen-text.ts'
import type { TopFacts } from './top-facts.ts'
import { chosenLine, open, placeOf, pressKey, START } from './top-state.ts'
import type { TopState } from './top-state.ts'
import { linesOf } from './top-views.ts'

const AT = Date.parse('2026-11-19T12:00:00Z')

const cluster = (name: string, state: string, ring?: string, message = ''): Cluster => ({
  ...buildCluster(name, ring === undefined ? {} : { labels: { ring } }),
  status: { state, message } as Cluster['status'],
})

const rollout: Rollout = {
  ...build(Rollout, 'default/shop-g2', {
    spec: {
      release: 'shop-g2',
      paused: false,
      rings: [
        { name: 'canary', concurrency: 1 },
        { name: 'rest', concurrency: 5, approvals: { count: 1, noSelfApproval: false } },
      ],
    },
  }),
  status: {
    phase: 'Progressing',
    ring: 'canary',
    counts: { total: 4, ready: 2, progressing: 0, pending: 1, failed: 1, offline: 0 },
    rings: [{ name: 'canary', members: 1, ready: 1 }],
    conditions: [
      {
        type: 'Held',
        status: 'True',
        reason: 'ApprovalPending',
        message: 'Waits for approval of ring "rest".',
        lastTransitionTime: '2026-11-19T11:00:00Z',
      },
    ],
  },
}

const FACTS: TopFacts = {
  server: 'https://hub.example:6443',
  clusters: [
    cluster('c', 'Failed', 'rest', 'Deployment shop: \u001b[31mimage'),
    cluster('a', 'Ready', 'canary'),
    cluster('b', 'Ready', 'rest'),
    cluster('d', 'Offline'),
  ],
  rollouts: [rollout],
  attention: [
    {
      kind: 'FailingSource',
      namespace: 'default',
      name: 'git',
      reason: 'FetchFailed',
      message: 'no route',
      command: 'flotilla events',
    },
  ],
  refused: [],
  atMs: AT,
}

function screen(
  state: TopState,
  { facts = FACTS, columns = 80, rows = 24, isUtf8 = true, trouble = undefined as string | undefined } = {},
): readonly string[] {
  const { view, filter } = placeOf(state)
  const lines = linesOf(view, facts, undefined, { columns, isUtf8, filter })
  const paint = (_color: string, text: string): string => text
  return drawScreen(state, facts, lines, { columns, rows, isUtf8, paint, nowMs: AT + 5_000, trouble })
}

test('the overview says on one screen what is going on', () => {
  const shown = screen(START)
  assert.equal(shown.length, 24)
  assert.deepEqual(
    shown.slice(1, 12).map((line) => line.trimEnd()),
    [
      '4 clusters  ✔ 2 Ready  ◌ 1 Offline  ✗ 1 Failed',
      'Fleet by ring',
      '▸ canary           1  ✔',
      '  rest             2  ✔✗',
      '  all clusters     1  ◌',
      'Rollouts in progress 1',
      '  default/shop-g2  Progressing  ██████░░░░░░ 2/4  1 failed  needs approval  ring',
      'Needs a person 2',
      '  approve  ring rest of default/shop-g2  Waits for approval of ring "rest".',
      '  failed   default/git  FetchFailed  no route',
      '',
    ],
  )
  assert.match(shown[0]!, /^Flotilla {2}as of \d\d:\d\d:\d\d {2}https:\/\/hub\.example:6443$/)
  assert.equal(shown.at(-1), 'Enter open   Tab section   ? keys   q quit')
})

test('at any size no line is too wide or too many, and the chosen line is in sight', () => {
  const many = {
    ...FACTS,
    clusters: Array.from({ length: 300 }, (_, at) => cluster(`store-${String(at).padStart(3, '0')}`, 'Ready', 'rest')),
  }
  for (const [columns, rows] of [
    [80, 24],
    [20, 6],
    [200, 50],
    [39, 10],
  ] as const) {
    let state = open(START, { kind: 'group', group: 'rest' })
    for (let presses = 0; presses < 30; presses += 1) {
      const { view, filter } = placeOf(state)
      const lines = linesOf(view, many, undefined, { columns, isUtf8: true, filter })
      state = pressKey(state, 'j', lines).state
      const shown = screen(state, { facts: many, columns, rows })
      assert.equal(shown.length, rows)
      for (const line of shown) assert.ok(columnsOf(line) <= columns, line)
      const name = chosenLine(state, lines)?.key?.replace('cluster ', '') ?? ''
      assert.ok(
        shown.some((line) => line.startsWith(`▸ ${name.slice(0, columns - 2)}`)),
        `${name} at ${columns}x${rows}`,
      )
    }
  }
})

test('a fleet whose tiles do not fit is counted by state', () => {
  const clusters = Array.from({ length: 500 }, (_, at) => cluster(`s${at}`, at < 3 ? 'Failed' : 'Ready', 'rest'))
  assert.match(screen(START, { facts: { ...FACTS, clusters } })[3]!, /^▸ rest +500 {2}✗ 3 {2}✔ 497/)
})

test('without UTF-8 the screen is ASCII', () => {
  for (const line of screen(START, { isUtf8: false })) assert.match(line, /^[\x20-\x7e]*$/)
})

test('old data says how old it is and why', () => {
  assert.match(
    screen(START, { trouble: 'the hub does not answer' })[0]!,
    /old: 5s without data, the hub does not answer/,
  )
})

test('what a user may not list is said, never shown as nothing', () => {
  const facts = { ...FACTS, clusters: [], rollouts: [], attention: [], refused: ['clusters', 'rollouts'] }
  const text = screen(START, { facts, columns: 120 }).join('\n')
  assert.match(text, /You may not list clusters\./)
  assert.match(text, /You may not list rollouts\./)
  assert.match(text, /Nothing that you may see waits for a person; you may not list clusters, rollouts\./)
  assert.doesNotMatch(text, /0 clusters|No cluster has joined/)
})

test('the clusters of a ring, the worst first, and a message that cannot move the cursor', () => {
  const text = screen(open(START, { kind: 'group', group: 'rest' }))
  assert.match(text[3]!, /^▸ c +✗ Failed +Deployment shop: {2}\[31mimage/)
  assert.match(text[4]!, /^ {2}b +✔ Ready/)
})
