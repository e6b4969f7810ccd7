import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../core/json.ts'
import { build } from '../../../testing/fixtures/builders.ts'
import { findingText } from '../../read-fields.ts'
import { GitRepository } from '../kinds.ts'
import { fluxRevision, readGitRepository, sourceOf } from './compile-git-repository.ts'

const repository = (spec: JsonObject, annotations: Record<string, string> = {}) =>
  build(
    GitRepository,
    'flux-system/fleet',
    { spec: { interval: '5m', url: 'https://git/x', ...spec } },
    { annotations },
  )

const source = (spec: JsonObject, annotations?: Record<string, string>) => {
  const object = repository(spec, annotations)
  return sourceOf(object, readGitRepository(object).spec).object
}

const problems = (spec: JsonObject) => readGitRepository(repository(spec)).findings.map(findingText)

test('of several references one counts, and the default branch is master', () => {
  const ref = (said?: JsonObject) => (source(said ? { ref: said } : {}).spec as { git: { ref: unknown } }).git.ref
  assert.deepEqual(ref(), { branch: 'master' })
  assert.deepEqual(ref({ branch: 'main' }), { branch: 'main' })
  assert.deepEqual(ref({ branch: 'main', semver: '>=1.0.0' }), { semver: '>=1.0.0' })
  assert.deepEqual(ref({ semver: '>=1.0.0', tag: 'v1' }), { tag: 'v1' })
  const commit = 'a'.repeat(40)
  assert.deepEqual(ref({ tag: 'v1', commit }), { commit })
  assert.deepEqual(ref({ commit, name: 'refs/tags/v1^{}' }), { name: 'refs/tags/v1' })
})

test('a revision has the form that Flux gives it', () => {
  assert.equal(fluxRevision({ branch: 'main' }, 'main@sha1:abc'), 'main@sha1:abc')
  assert.equal(fluxRevision({ commit: 'abc' }, 'sha1:abc'), 'sha1:abc')
  assert.equal(fluxRevision({ commit: 'abc', branch: 'main' }, 'sha1:abc'), 'main@sha1:abc')
  assert.equal(fluxRevision({ name: 'refs/pull/1/head' }, 'refs/pull/1/head@sha1:abc'), 'refs/pull/1/head@sha1:abc')
})

test('the Source has the paths, the Secret and the times of the GitRepository', () => {
  const made = source(
    { sparseCheckout: ['./a/', 'b/c'], secretRef: { name: 'git' }, interval: '1s', timeout: '20s', suspend: true },
    { 'reconcile.fluxcd.io/requestedAt': 'now', 'flotilla.dev/secrets': 'Allow', other: 'x' },
  )
  const { git: _git, ...rest } = made.spec as JsonObject
  assert.deepEqual(rest, { paths: ['a', 'b/c'], credentials: 'git', interval: '5s', timeout: '20s', suspend: true })
  const { 'flotilla.dev/compiled': _digest, ...annotations } = made.metadata.annotations!
  assert.deepEqual(annotations, { 'flotilla.dev/poll': 'now', 'flotilla.dev/secrets': 'Allow' })
  assert.equal(made.metadata.name, 'gitrepository-fleet')
  assert.equal((source({ sparseCheckout: ['.', 'a'] }).spec as JsonObject)['paths'], undefined)
})

test('what is not served is refused, and an unknown field is named', () => {
  assert.deepEqual(problems({}), [])
  assert.deepEqual(problems({ provider: 'generic' }), [])
  assert.match(problems({ provider: 'github' })[0]!, /^spec\.provider is "github", which is not served/)
  assert.match(problems({ recurseSubmodules: true })[0]!, /^spec\.recurseSubmodules is refused/)
  assert.deepEqual(problems({ recurseSubmodules: false }), [])
  assert.match(problems({ verify: { mode: 'HEAD' } })[0]!, /^spec\.verify is refused/)
  assert.match(problems({ interval: 'soon' })[0]!, /^spec\.interval is "soon"; write a duration/)
  assert.match(problems({ sparsecheckouts: [] })[0]!, /did you mean "sparseCheckout"/)
})
