import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { formatTime, parseTime } from '../../core/time/time.ts'
import { bundleHold } from './bundle-hold.ts'
import { decideWindows, opensAt, spanAt } from './window.ts'
import { compileWindow, windowObjectProblem, windowRulesFor } from './window-rules.ts'
import type { WindowEntry, WindowObject } from './window-rules.ts'

const HOUR = 3_600_000
const at = (text: string) => parseTime(text)!
const NIGHTS = [{ schedule: '0 2 * * *', duration: '4h' }]
const window = (spec: Partial<WindowObject['spec']> = {}, namespace?: string): WindowObject => ({
  metadata: { name: 'w', ...(namespace === undefined ? {} : { namespace }) },
  spec: { mode: 'Open', times: NIGHTS, reason: 'because', ...spec },
})
const store = { name: 'store-1', labels: { tier: 'store' }, timeZone: 'Europe/Berlin' }
const entry: WindowEntry = { bundle: 'retail/pos', generation: 3, release: 'pos-g3' }
const rulesOf = (object: WindowObject, entries: readonly WindowEntry[] = [entry], cluster = store) =>
  windowRulesFor(cluster, [compileWindow(object)], entries)

describe('which windows concern a cluster', () => {
  const cases: [string, WindowObject, boolean][] = [
    ['all clusters', window(), true],
    ['its labels', window({ clusterSelector: { matchLabels: { tier: 'store' } } }), true],
    ['other labels', window({ clusterSelector: { matchLabels: { tier: 'lab' } } }), false],
    ['its name', window({ clusters: ['store-1'] }), true],
    ['another name', window({ clusters: ['store-2'] }), false],
    [
      'its name and other labels',
      window({ clusters: ['store-1'], clusterSelector: { matchLabels: { tier: 'lab' } } }),
      false,
    ],
    ['a bundle it has', window({ bundles: ['retail/p*'] }), true],
    ['a bundle it has not', window({ bundles: ['infra/*'] }), false],
    ['the namespace of a bundle it has', window({}, 'retail'), true],
    ['another namespace', window({}, 'infra'), false],
    ['a namespace, with a pattern that would reach beyond it', window({ bundles: ['*/pos'] }, 'infra'), false],
  ]
  for (const [name, object, expected] of cases) {
    it(`${name}: ${expected ? 'in its document' : 'not'}`, () => assert.equal(rulesOf(object).length === 1, expected))
  }

  it("in the site's own time, its own zone, or UTC", () => {
    assert.equal(rulesOf(window())[0]?.zone, 'Europe/Berlin')
    assert.equal(rulesOf(window({ zone: 'Asia/Kolkata' }))[0]?.zone, 'Asia/Kolkata')
    assert.equal(windowRulesFor({ name: 'x', labels: {} }, [compileWindow(window())], [entry])[0]?.zone, 'UTC')
  })

  it('half a time is named, and closes', () => {
    const half = window({ times: [{ schedule: '0 2 * * *' }] })
    assert.match(windowObjectProblem(half) ?? '', /needs either schedule and duration/)
    assert.equal(decideWindows(rulesOf(half), entry, 0).kind, 'Closed')
  })
})

describe('exceptions', () => {
  const commander = { kind: 'Role', name: 'incident-commander' } as const
  const used = { ...entry, exceptions: [commander] }
  type Exception = NonNullable<WindowObject['spec']['exceptions']>[number]
  const cases: [string, Exception, WindowEntry, boolean][] = [
    ['a bundle by name', { name: 'x', bundles: ['retail/pos'] }, entry, true],
    ['another bundle', { name: 'x', bundles: ['retail/web'] }, entry, false],
    ['a release', { name: 'x', releases: ['pos-g3'] }, entry, true],
    ['another release', { name: 'x', releases: ['pos-g4'] }, entry, false],
    ['an unknown release', { name: 'x', releases: ['*'] }, { bundle: 'retail/pos', generation: 3 }, false],
    ['a role without a holder', { name: 'x', subjects: [commander] }, entry, false],
    ['a role that was used', { name: 'x', subjects: [commander] }, used, true],
    ['another kind of subject of that name', { name: 'x', subjects: [{ ...commander, kind: 'Group' }] }, used, false],
    ['a role, for another bundle', { name: 'x', subjects: [commander], bundles: ['retail/web'] }, used, false],
    ['an exception that names nothing lets nothing pass', { name: 'x' }, used, false],
  ]
  const noon = at('2026-11-16T12:00:00Z')
  for (const [name, exception, subject, passes] of cases) {
    it(`${name}: ${passes ? 'passes' : 'is held'}`, () => {
      const rules = rulesOf(window({ exceptions: [exception] }), [subject])
      const decision = decideWindows(rules, subject, noon)
      assert.equal(decision.kind, passes ? 'Open' : 'Closed')
      if (passes) assert.deepEqual(decision.kind === 'Open' && decision.excepted, ['w'])
      assert.equal(
        decideWindows(rules, { ...subject, generation: 4 }, noon).kind,
        'Closed',
        'what comes after it is held',
      )
    })
  }
})

const zones = fc.constantFrom('UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kolkata')
const times = fc.oneof(
  fc.record({
    schedule: fc.constantFrom('0 2 * * *', '30 1 * * sun', '0 0 1 * *', '0 */6 * * 1-5', '15 3 29 3,10 *'),
    duration: fc.constantFrom('30m', '1h', '4h', '26h'),
  }),
  fc
    .record({ from: fc.integer({ min: 0, max: 8000 }), hours: fc.integer({ min: 1, max: 300 }) })
    .map(({ from, hours }) => {
      const start = at('2026-03-01T00:00:00Z') + from * HOUR
      return { from: formatTime(start), until: formatTime(start + hours * HOUR) }
    }),
)
const objects = fc.record({
  mode: fc.constantFrom('Open' as const, 'Freeze' as const),
  times: fc.array(times, { minLength: 1, maxLength: 3 }),
  zone: fc.option(zones, { nil: undefined }),
})
// Around the changes of clocks, where a minute matters.
const moments = fc
  .tuple(
    fc.constantFrom('2026-03-29T01:00:00Z', '2026-10-25T01:00:00Z', '2026-11-01T06:00:00Z', '2026-04-04T15:00:00Z'),
    fc.integer({ min: -3000, max: 3000 }),
  )
  .map(([around, minutes]) => at(around) + minutes * 60_000)

describe('both ends', () => {
  it('decide alike: whom the hub admits, the agent lets begin, whatever the windows, zones and moments', () => {
    fc.assert(
      fc.property(fc.array(objects, { maxLength: 4 }), zones, moments, (specs, timeZone, now) => {
        const windows = specs.map((spec, i) =>
          compileWindow({ metadata: { name: `w${i}` }, spec: { ...spec, reason: 'r' } }),
        )
        const cluster = { metadata: { name: 'store-1', labels: {} }, spec: { timeZone } }
        const hub = bundleHold(cluster, windows, entry, { now, look: spanAt })
        const rules = windowRulesFor({ name: 'store-1', labels: {}, timeZone }, windows, [entry])
        // What the agent has went over the wire.
        const agent = decideWindows(JSON.parse(JSON.stringify(rules)) as typeof rules, entry, now)
        assert.equal(hub === undefined, agent.kind === 'Open')
        if (agent.kind === 'Closed' && agent.againMs !== undefined) assert.ok(agent.againMs > now, 'looks again later')
        const opens = opensAt(rules, entry, now)
        if (opens === undefined) return
        assert.equal(decideWindows(rules, entry, opens).kind, 'Open')
        if (opens > now) assert.equal(decideWindows(rules, entry, now).kind, 'Closed')
      }),
      { numRuns: 150 },
    )
  })

  it('say why, since when, and what would release it', () => {
    const freeze = window({
      mode: 'Freeze',
      times: [{ from: '2026-11-20T00:00:00+01:00', until: '2026-12-01T06:00:00+01:00' }],
      reason: 'Black Friday',
    })
    const cluster = { metadata: { name: 'store-1', labels: {} }, spec: {} }
    const hold = bundleHold(cluster, [compileWindow(freeze)], entry, { now: at('2026-11-25T00:00:00Z'), look: spanAt })
    assert.deepEqual(hold, {
      for: 'freeze',
      badge: 'Frozen',
      message:
        'Freeze "w" lasts until 2026-12-01T05:00:00Z: Black Friday. To start earlier, add an exception with `flotilla rollout except`.',
      since: at('2026-11-19T23:00:00Z'),
      until: at('2026-12-01T05:00:00Z'),
    })
    const held = { ...cluster, spec: { hold: { reason: 'fire', since: '2026-11-16T08:00:00Z', by: 'ana' } } }
    assert.equal(
      bundleHold(held, [], entry, { now: 0, look: spanAt })?.message,
      'The cluster is on hold since 2026-11-16T08:00:00Z by ana: fire. End this with `flotilla cluster release store-1`.',
    )
  })
})
