import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ArgoSource } from '../../application.ts'
import type { Application, Operation } from '../../kinds.ts'
import { SYNCED_WITH } from '../../annotations.ts'
import { activeOverrides, effectiveSpec, noteOverrides, operationProblem, overridesOf } from './sync-overrides.ts'

const COMMIT = 'a'.repeat(40)
const SOURCE: ArgoSource = { repoURL: 'https://git/a', path: 'web', targetRevision: 'main' }
const OLD: ArgoSource = { ...SOURCE, path: 'old' }

const app = (spec: Partial<Application['spec']> = {}, status: Application['status'] = {}): Application => ({
  apiVersion: 'argoproj.io/v1alpha1',
  kind: 'Application',
  metadata: { name: 'web' },
  spec: { project: 'default', source: SOURCE, ...spec },
  status,
})

test('a sync of the spec as it is changes nothing', () => {
  for (const sync of [{}, { revision: 'main' }, { revision: 'abc' }, { source: SOURCE }, { sources: [SOURCE] }])
    assert.equal(overridesOf({ sync }, app().spec, { revision: 'abc' }), undefined, JSON.stringify(sync))
})

test('another revision, source or option is pinned', () => {
  const of = (operation: Operation) => overridesOf(operation, app().spec, { revision: 'abc' })
  assert.deepEqual(of({ sync: { revision: COMMIT } }), { sources: [{ ...SOURCE, targetRevision: COMMIT }] })
  assert.deepEqual(of({ sync: { source: OLD, revision: 'abc' } }), { sources: [{ ...OLD, targetRevision: 'abc' }] })
  assert.deepEqual(
    of({ sync: { revision: `1.2@sha256:${'b'.repeat(64)}` } })?.sources?.[0]?.targetRevision,
    `sha256:${'b'.repeat(64)}`,
  )
  assert.deepEqual(of({ sync: { prune: true, syncStrategy: { apply: { force: true } } }, retry: { limit: 2 } }), {
    syncOptions: ['Force=true'],
    prune: true,
    skipHooks: true,
    retries: 2,
  })
  assert.equal(of({ sync: { syncStrategy: { hook: {} } } }), undefined)
})

test('several sources are pinned by their position', () => {
  const sources = [SOURCE, { repoURL: 'https://git/b', ref: 'v', targetRevision: 'main' }]
  const { source: _source, ...spec } = app().spec
  const found = overridesOf({ sync: { revisions: ['', COMMIT] } }, { ...spec, sources }, { revisions: ['x', 'y'] })
  assert.deepEqual(
    found?.sources?.map((one) => one.targetRevision),
    ['main', COMMIT],
  )
})

const noted = (overrides: object, spec: Partial<Application['spec']>, phase: 'Running' | 'Succeeded'): Application => {
  const one = app(spec, { operationState: { operation: {}, phase, startedAt: '' } })
  const annotations = { [SYNCED_WITH]: JSON.stringify(overrides) }
  return { ...one, metadata: { ...one.metadata, annotations } }
}

test('the effective spec, for automated Applications while the operation is in progress', () => {
  const overrides = { sources: [{ ...SOURCE, targetRevision: COMMIT }], retries: 1 }
  const manual = effectiveSpec(noted(overrides, {}, 'Succeeded'))
  assert.deepEqual([manual.source?.targetRevision, manual.syncPolicy], [COMMIT, { retry: { limit: 1 } }])
  const automated = { syncPolicy: { automated: {} } }
  assert.equal(effectiveSpec(noted(overrides, automated, 'Succeeded')).source?.targetRevision, 'main')
  assert.equal(effectiveSpec(noted(overrides, automated, 'Running')).syncPolicy?.retry?.limit, 1)
})

test('an annotation that a user wrote cannot bring another source, or anything that is no override', () => {
  for (const overrides of [
    { sources: [{ repoURL: 'https://git/evil', path: 'web' }] },
    { sources: 'x' },
    { sources: [1] },
    { syncOptions: [1] },
    { prune: 'yes' },
    { retries: 1.5 },
    [],
  ])
    assert.equal(activeOverrides(noted(overrides, {}, 'Succeeded')), undefined, JSON.stringify(overrides))
})

test('what a sync changes is noted before it begins, and goes with the next sync', () => {
  const asking = (operation: Operation, one = app()): Application => ({ ...one, operation })
  const pinned = asking({ sync: { revision: COMMIT } })
  assert.equal(noteOverrides(pinned), true)
  assert.deepEqual(activeOverrides(pinned)?.sources?.[0]?.targetRevision, COMMIT)
  assert.equal(noteOverrides(pinned), false)
  const refused = asking({ sync: { dryRun: true } }, pinned)
  assert.equal(noteOverrides(refused), false, 'a refused sync leaves it')
  const plain = asking({ sync: {} }, pinned)
  assert.equal(noteOverrides(plain), true)
  assert.equal(activeOverrides(plain), undefined)
})

test('a sync that is not possible says why', () => {
  const problem = (sync: Operation['sync'], one = app()) =>
    operationProblem(sync ? { sync } : {}, { revision: 'abc' }, one) ?? ''
  assert.equal(problem({}), '')
  assert.equal(problem({ revision: COMMIT }), '')
  assert.match(problem(undefined), /operation\.sync is missing/)
  assert.match(problem({ dryRun: true }), /flotilla argo diff/)
  assert.match(problem({ resources: [{}] }), /resources is not supported/)
  assert.match(problem({ manifests: ['a'] }), /manifests is not supported/)
  assert.match(problem({ revisions: ['a', 'b'] }), /has 2 revisions, and the Application has 1 sources/)
  assert.match(problem({ source: OLD }), /neither the source of the Application nor one of its history/)
  const history = [{ id: 0, deployedAt: '', source: OLD }]
  assert.equal(problem({ source: OLD, revision: 'abc' }, app({}, { history })), '')
  const automated = app({ syncPolicy: { automated: {} } }, { history })
  assert.equal(problem({ revision: COMMIT }, automated), `Cannot sync to ${COMMIT}: auto-sync currently set to main`)
  assert.equal(problem({ revision: 'main' }, automated), '')
})
